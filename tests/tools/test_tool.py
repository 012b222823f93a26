"""`@tool` and what it makes."""

import functools
import inspect
import subprocess
import sys

import pytest

from aaa.errors import ToolDefinitionError
from aaa.tools import Tool, tool
from tests.tools.fakes import WAIT_SECONDS


@tool
def lookup(topic: str, limit: int = 3) -> str:
    """Look a topic up.

    Args:
        topic: what about
    """
    return f"{topic} {limit}"


def test_a_tool_is_still_a_function():
    assert isinstance(lookup, Tool)
    assert lookup("x") == "x 3"
    assert lookup("x", limit=1) == "x 1"
    assert lookup.__name__ == "lookup"
    assert list(inspect.signature(lookup).parameters) == ["topic", "limit"]
    assert repr(lookup) == "<Tool 'lookup'>"


def test_name_and_description_come_from_the_function():
    assert (lookup.name, lookup.description) == ("lookup", "Look a topic up.")
    assert lookup.spec.name == "lookup"
    assert (lookup.timeout_seconds, lookup.repeatable, lookup.context, lookup.is_async) == (None, True, None, False)


def test_both_can_be_given_and_parameters_keep_their_texts():
    @tool(name="search-2", description="  Search\n    it.", timeout_seconds=1.5, repeatable=False, context={"keep": 1})
    async def lookup(topic: str) -> str:
        """Look up.

        Args:
            topic: what about
        """
        return topic

    assert (lookup.name, lookup.description) == ("search-2", "Search\nit.")
    assert lookup.spec.parameters["properties"]["topic"]["description"] == "what about"
    assert (lookup.timeout_seconds, lookup.repeatable, lookup.context, lookup.is_async) == (
        1.5,
        False,
        {"keep": 1},
        True,
    )


def test_a_tool_can_be_made_again_under_another_name():
    other = tool(name="other")(lookup)
    assert (other.name, other("x"), lookup.name) == ("other", "x 3", "lookup")


@pytest.mark.parametrize("name", ["", "two words", "a.b", "é", "x" * 65, "a\n"])
def test_a_name_providers_refuse_is_refused(name):
    with pytest.raises(ToolDefinitionError, match="a name is 1 to 64"):
        tool(name=name)(lookup.function)


def test_a_lambda_needs_a_name():
    with pytest.raises(ToolDefinitionError, match="<lambda>"):
        tool(lambda: "x")
    assert tool(name="x")(lambda: "x").name == "x"


@pytest.mark.parametrize("thing", [int, 3, "lookup", None.__class__, functools.partial(lookup.function, "x")])
def test_only_functions_become_tools(thing):
    with pytest.raises(ToolDefinitionError, match="made of a function"):
        tool(thing)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_out_must_be_above_zero(seconds):
    with pytest.raises(ToolDefinitionError, match="timeout_seconds must be above 0"):
        tool(timeout_seconds=seconds)(lookup.function)


def test_importing_the_package_does_not_load_pydantic():
    code = (
        "import sys, aaa.tools as t; before = 'pydantic' in sys.modules or 'pydantic_core' in sys.modules\n"
        "def f(x: int): ...\n"
        "t.ToolHandler(t.ToolRegistry()); late = 'pydantic' in sys.modules; t.tool(f)\n"
        "print(before, late, 'pydantic' in sys.modules, 'aaa.runtime' in sys.modules, 'aaa.llm' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=WAIT_SECONDS)
    assert run.stdout.split() == ["False", "False", "True", "False", "False"]
