"""Descriptions and parameter texts out of docstrings of three styles."""

import pytest

from aaa.tools.docstrings import read_docstring

GOOGLE = """Find text in files.

    Looks below the root only.

    Args:
        pattern (str): what to look for,
            as a regular expression.
        paths (list[str], optional): where: files
        limit:
            How many at most.

            More are not shown.

    Returns:
        The lines.
    """

NUMPY = """
    Find text in files.

    Looks below the root only.

    Parameters
    ----------
    pattern : str
        what to look for,
        as a regular expression.
    paths: list of str, optional
        where: files
    limit
        How many at most.

        More are not shown.

    Returns
    -------
    list
        The lines.
    """

REST = """Find text in files.

    Looks below the root only.

    :param pattern: what to look for,
        as a regular expression.
    :type pattern: str
    :param list[str] paths: where: files
    :param limit: How many at most.

        More are not shown.
    :returns: The lines.
    """

PARAMETERS = {
    "pattern": "what to look for, as a regular expression.",
    "paths": "where: files",
    "limit": "How many at most. More are not shown.",
}
HEAD = "Find text in files.\n\nLooks below the root only.\n\n"


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        (GOOGLE, "Returns:\n    The lines."),
        (NUMPY, "Returns\n-------\nlist\n    The lines."),
        (REST, ":returns: The lines."),
    ],
    ids=["google", "numpy", "rest"],
)
def test_parameters_are_taken_out_and_the_rest_stays(text, tail):
    docstring = read_docstring(text)
    assert docstring.parameters == PARAMETERS
    assert docstring.description == HEAD + tail


@pytest.mark.parametrize(
    ("text", "description", "parameters"),
    [
        (None, "", {}),
        ("", "", {}),
        ("   \n  ", "", {}),
        ("One line.", "One line.", {}),
        ("One.\n\n    Two: a colon.\n    Three.", "One.\n\nTwo: a colon.\nThree.", {}),
        ("\n    Args:\n        x: only this", "", {"x": "only this"}),
        ("Do.\n\nArguments:\n  x: a\n  y: b\n\nMore.", "Do.\n\nMore.", {"x": "a", "y": "b"}),
        ("Do.\n\nParameters:\n  x: a", "Do.", {"x": "a"}),
        ("Do.\n\nKeyword Args:\n  x: a", "Do.", {"x": "a"}),
        ("Do.\n\nArgs:\n  x (dict(str, int)): a", "Do.", {"x": "a"}),
        ("Do.\n\nArgs:\n  *x: a\n  **y: b", "Do.", {"x": "a", "y": "b"}),
        ("Do.\n\nArgs:\nnot indented: so no section", "Do.\n\nArgs:\nnot indented: so no section", {}),
        ("Do.\n\nParameters\n----------\nx, y : int\n    both", "Do.", {"x": "both", "y": "both"}),
        (
            "Do.\n\nParameters\n----------\nx : int\n    a\n\nSome more text here.",
            "Do.\n\nSome more text here.",
            {"x": "a"},
        ),
        ("Do.\n\nOther Parameters\n----------------\nx\n    a", "Do.", {"x": "a"}),
        ("Do.\n:param x: a\n:param y: b", "Do.", {"x": "a", "y": "b"}),
        ("Do.\n\n:arg x: a\n\n:type x: int\n\n:raises E: b", "Do.\n\n:raises E: b", {"x": "a"}),
        ("Parameters\nare things.", "Parameters\nare things.", {}),
    ],
)
def test_each_style_and_what_only_looks_like_one(text, description, parameters):
    docstring = read_docstring(text)
    assert (docstring.description, docstring.parameters) == (description, parameters)
