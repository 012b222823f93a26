"""The registry: tools by name, in order."""

import pytest

from aaa.errors import ToolDefinitionError
from aaa.tools import Tool, ToolRegistry, tool


@tool
def second(x: int) -> None: ...


def first(y: str) -> None:
    """The first."""


def test_tools_keep_the_order_they_were_added_in():
    registry = ToolRegistry([second, first])
    assert registry.names == ("second", "first")
    assert [item.name for item in registry] == [spec.name for spec in registry.specs] == ["second", "first"]
    assert len(registry) == 2
    assert len(ToolRegistry()) == 0
    assert ToolRegistry().specs == ()


def test_a_plain_function_becomes_a_tool():
    registry = ToolRegistry()
    added = registry.add(first)
    assert isinstance(added, Tool)
    assert registry.get("first") is added
    assert added.description == "The first."
    assert registry.add(second) is second


def test_what_is_not_there_is_none():
    assert ToolRegistry([second]).get("first") is None


def test_names_and_tools_are_contained():
    registry = ToolRegistry([second])
    assert "second" in registry
    assert second in registry
    assert "first" not in registry
    assert tool(first) not in registry


def test_the_specs_are_one_object_until_a_tool_is_added():
    registry = ToolRegistry([second])
    before = registry.specs
    assert registry.specs is before
    registry.add(first)
    assert registry.specs == (*before, registry.specs[1])


@pytest.mark.parametrize("again", [second, tool(name="second")(first)])
def test_a_name_can_be_taken_once(again):
    registry = ToolRegistry([second])
    with pytest.raises(ToolDefinitionError, match="there is a tool 'second' already"):
        registry.add(again)
    assert list(registry) == [second]
