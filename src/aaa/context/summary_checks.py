"""Whether what a model wrote is a summary: neither thought, nor nothing, nor an error, nor what it was asked with."""

import re

__all__ = ["problem_of", "without_thoughts"]

_THOUGHTS = re.compile(r"\s*<(think|thinking|thought|reasoning)>(?:.*?</\1>|.*)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(r"(?:(?!<(?:think|thinking)>).)*?</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
_ERROR_TEXT = re.compile(
    r"\W*(error( code)?:|exception:|traceback \(|http[/ \d.]*[45]\d\d\b|rate limit (exceeded|reached)|overloaded_error|"
    r"internal server error|(the )?prompt is too long|context length exceeded|i('m| am) sorry, (but )?i can)",
    re.IGNORECASE,
)
_LONGEST_ERROR = 400  # characters


def without_thoughts(text: str) -> str:
    """The text without what a model thought in tags before it; a block that is not closed is all thought.

    Servers without a parser for them leave these tags in the reply, some of them only the closing one, since the
    opening one stands in the template.
    """
    while found := _THOUGHTS.match(text):
        text = text[found.end() :]
    found = _END_OF_THOUGHTS.match(text)
    return text[found.end() :] if found else text


def problem_of(text: object, instructions: str) -> str:
    """Why `text`, asked for by `instructions`, is no summary; "" if it may be one."""
    if not isinstance(text, str):
        return f"no text but {type(text).__name__}"
    text = without_thoughts(text)
    if not any(map(str.isalnum, text)):  # blanks, signs that are not shown, "...": nothing that can be read
        return "empty"
    if len(text) < _LONGEST_ERROR and _ERROR_TEXT.match(text):
        return "reads like an error message"
    if instructions[:80] in text:
        return "a copy of the instructions"
    return ""
