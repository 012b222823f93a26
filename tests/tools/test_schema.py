"""From signatures to JSON schemas."""

import dataclasses
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from aaa.errors import ToolDefinitionError
from aaa.tools import ToolContext, tool
from tests.tools.fakes import WAIT_SECONDS


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    """A thing."""

    title: str = Field(title="The title", description="its name")
    parts: list["Item"] = []


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    deep: bool
    limit: NotRequired[int]


class Free(BaseModel, extra="allow"):
    a: int


POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
    "additionalProperties": False,
}
INTEGER_OR_NULL = {"anyOf": [{"type": "integer"}, {"type": "null"}]}

HINTS = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (Any, {}),
    (list[str], {"type": "array", "items": {"type": "string"}}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (dict, {"type": "object", "additionalProperties": True}),
    (
        tuple[int, str],
        {"type": "array", "maxItems": 2, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    ),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Optional[int], INTEGER_OR_NULL),  # noqa: UP045 - the older spelling is the case
    (int | None, INTEGER_OR_NULL),
    (datetime.datetime, {"type": "string", "format": "date-time"}),
    (datetime.date, {"type": "string", "format": "date"}),
    (Path, {"type": "string", "format": "path"}),
    (Annotated[int, Field(description="how many", ge=1)], {"type": "integer", "description": "how many", "minimum": 1}),
]


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    return tool(function).spec.parameters


@pytest.mark.parametrize(("hint", "schema"), HINTS, ids=lambda value: str(value)[:40])
def test_a_type_has_its_schema(hint, schema):
    def take(x) -> None: ...

    take.__annotations__["x"] = hint
    assert parameters(take) == {
        "type": "object",
        "properties": {"x": schema},
        "required": ["x"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("hint", "definitions"),
    [
        (Color, {"Color": {"type": "string", "enum": ["red", "blue"]}}),
        (Point, {"Point": POINT}),
        (list[Point], {"Point": POINT}),
        (
            Options,
            {
                "Options": {
                    "type": "object",
                    "properties": {"deep": {"type": "boolean"}, "limit": {"type": "integer"}},
                    "required": ["deep"],
                    "additionalProperties": False,
                }
            },
        ),
        (
            Item,
            {
                "Item": {
                    "type": "object",
                    "description": "A thing.",
                    "properties": {
                        "title": {"type": "string", "description": "its name"},
                        "parts": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "default": []},
                    },
                    "required": ["title"],
                    "additionalProperties": False,
                }
            },
        ),
        (
            Free,
            {
                "Free": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "required": ["a"],
                    "additionalProperties": True,
                }
            },
        ),
    ],
    ids=["enum", "dataclass", "list of dataclasses", "TypedDict", "model", "open model"],
)
def test_a_type_with_a_name_is_a_definition(hint, definitions):
    def take(x) -> None: ...

    take.__annotations__["x"] = hint
    assert parameters(take)["$defs"] == definitions


def test_the_guides_tool_is_two_hundred_characters():
    @tool
    def lookup(topic: str) -> str:
        """Look a topic up (returns a long document)."""
        return topic

    spec = {"name": lookup.name, "description": lookup.description, "parameters": lookup.spec.parameters}
    text = json.dumps([spec], separators=(",", ":"))
    assert len(text) == 200
    assert lookup.spec.parameters_json == (
        '{"type":"object","properties":{"topic":{"type":"string"}},"required":["topic"],"additionalProperties":false}'
    )


def test_without_parameters_the_schema_is_an_empty_object():
    def now() -> str: ...

    assert parameters(now) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_parameters_keep_their_order_and_their_defaults():
    def take(z: int, a: str = "x", *, m: list[int] = [1], k: int | None = None) -> None: ...  # noqa: B006

    schema = parameters(take)
    assert list(schema["properties"]) == ["z", "a", "m", "k"]
    assert [schema["properties"][name].get("default", "none") for name in "zamk"] == ["none", "x", [1], None]
    assert schema["required"] == ["z"]


def test_a_default_that_is_no_json_is_left_out():
    def take(x: object = object()) -> None: ...

    assert parameters(take)["properties"] == {"x": {}}


def test_parameters_may_have_any_name():
    def take(schema: str, copy: int, model_config: str, _private: str, title: str, json: str, p0: str, p1: str): ...

    schema = parameters(take)
    assert list(schema["properties"]) == ["schema", "copy", "model_config", "_private", "title", "json", "p0", "p1"]
    assert schema["required"] == list(schema["properties"])


def test_nested_types_keep_their_own_names():
    @dataclasses.dataclass
    class Inner:
        p0: int
        title: str

    def take(x: Inner, y: int) -> None: ...

    assert list(parameters(take)["$defs"]["Inner"]["properties"]) == ["p0", "title"]


def test_docstrings_describe_parameters_unless_the_type_does():
    def take(a: str, b: Annotated[int, Field(description="own")], c: Point, d: int = Field(3, description="mine")):
        """Take.

        Args:
            a: first
            b: second
            c: third
            d: fourth
            e: not there
        """

    properties = parameters(take)["properties"]
    assert properties["a"] == {"type": "string", "description": "first"}
    assert properties["b"] == {"type": "integer", "description": "own"}
    assert properties["c"] == {"$ref": "#/$defs/Point", "description": "third"}
    assert properties["d"] == {"type": "integer", "description": "mine", "default": 3}


def test_an_alias_of_the_author_is_the_name_the_model_sees():
    def take(from_: Annotated[str, Field(alias="from")], to: str = Field(alias="until")) -> None:
        """Take.

        Args:
            from_: the start
            to: the end
        """

    assert parameters(take)["properties"] == {
        "from": {"type": "string", "description": "the start"},
        "until": {"type": "string", "description": "the end"},
    }


@pytest.mark.parametrize("hint", [ToolContext, ToolContext | None, Annotated[ToolContext, "mine"]])
def test_the_context_is_not_in_the_schema(hint):
    def take(x: int, context=None) -> None: ...

    take.__annotations__["context"] = hint
    assert list(parameters(take)["properties"]) == ["x"]


def _variadic(*rest: int) -> None: ...
def _keywords(**rest: int) -> None: ...
def _positional(rest: int, /) -> None: ...
def _bare(x: int, rest) -> None: ...
def _unknown(rest: "Nowhere") -> None: ...  # noqa: F821
def _callable(x: int, rest: Callable[[int], int]) -> None: ...
def _opaque(x: int, rest: os._Environ) -> None: ...


@pytest.mark.parametrize("function", [_variadic, _keywords, _positional, _bare, _unknown, _callable, _opaque])
def test_what_a_model_cannot_pass_is_refused_naming_function_and_parameter(function):
    with pytest.raises(ToolDefinitionError) as caught:
        tool(function)
    assert repr(function.__name__) in str(caught.value)
    assert "'rest'" in str(caught.value)


_IN_ANOTHER_PROCESS = """
from aaa.tools import tool
def take(b: str, a: set[str] = {"x", "y", "z", "u", "v"}, c: frozenset[int] = frozenset({3, 1, 2})) -> None: ...
print(tool(take).spec.parameters_json)
"""


def test_the_schema_is_the_same_in_every_process():
    def schema(seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", _IN_ANOTHER_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=WAIT_SECONDS,
        ).stdout

    first = schema("1")
    assert json.loads(first)["properties"]["a"]["default"] == ["u", "v", "x", "y", "z"]
    assert first == schema("2") == schema("3")
