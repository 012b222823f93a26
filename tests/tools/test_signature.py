"""Annotations that are text, and types that are defined where the tool is."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from aaa.errors import ToolDefinitionError
from aaa.tools import ToolContext, ToolRegistry, tool

if TYPE_CHECKING:
    from nowhere import Result


class Shape(BaseModel):
    size: int


def definitions(made: Any) -> list[str]:
    return sorted(made.spec.parameters["$defs"])


def test_a_type_of_the_module_resolves():
    @tool
    def draw(shape: Shape) -> None: ...

    assert definitions(draw) == ["Shape"]


def test_types_of_the_function_around_it_resolve_also_inside_each_other():
    @dataclasses.dataclass
    class Inner:
        x: int

    @dataclasses.dataclass
    class Outer:
        inner: Inner
        more: list[Inner]

    class Model(BaseModel):
        inner: Inner
        children: list[Model] = []

    @tool
    def draw(outer: Outer, maybe: list[Model] | None = None) -> None: ...

    assert definitions(draw) == ["Inner", "Model", "Outer"]
    found = draw.read_arguments('{"outer":{"inner":{"x":1},"more":[]},"maybe":[{"inner":{"x":"2"}}]}')
    assert found == {"outer": Outer(Inner(1), []), "maybe": [Model(inner=Inner(2))]}


def test_types_of_every_function_around_it_resolve():
    class Far(BaseModel):
        x: int

    def make():
        class Near(BaseModel):
            y: int

        def draw(far: Far, near: Near) -> None: ...

        return ToolRegistry([draw]).get("draw")

    assert definitions(make()) == ["Far", "Near"]


def test_a_name_of_a_caller_that_is_not_around_it_does_not_resolve():
    def make(function):
        class Stranger(BaseModel): ...

        return tool(function), Stranger

    def draw(x: Stranger) -> None: ...  # noqa: F821

    with pytest.raises(ToolDefinitionError, match=r"'draw', parameter 'x': its annotation does not resolve"):
        make(draw)


def test_the_type_of_the_result_need_not_resolve():
    @tool
    def draw(x: int) -> Result: ...

    assert list(draw.spec.parameters["properties"]) == ["x"]


def test_the_context_is_found_in_text():
    @tool
    def draw(x: int, context: ToolContext, other: ToolContext | None = None) -> None: ...

    assert draw.context_names == ("context", "other")


def test_a_decorated_function_has_the_signature_of_what_it_wraps():
    def logged(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs)

        return inner

    @tool
    @logged
    def draw(shape: Shape, count: int = 1) -> None:
        """Draw."""

    assert (draw.name, draw.description, list(draw.spec.parameters["properties"])) == (
        "draw",
        "Draw.",
        ["shape", "count"],
    )


def test_a_method_is_bound_on_its_instance():
    class Files:
        def __init__(self, root: str) -> None:
            self.root = root

        @tool(timeout_seconds=3, repeatable=False, context="c")
        def read(self, path: str) -> str:
            """Read a file."""
            return f"{self.root}/{path}"

        def write(self, path: str) -> str:
            return f"{self.root}/{path}!"

        @staticmethod
        @tool
        def count(path: str) -> int:
            return len(path)

        @classmethod
        def made(cls, path: str) -> str:
            return cls.__name__ + path

    files = Files("root")
    registry = ToolRegistry([files.read, files.write, files.count, Files.made])
    assert [list(item.spec.parameters["properties"]) for item in registry] == [["path"]] * 4
    assert [item(path="x") for item in registry] == ["root/x", "root/x!", 1, "Filesx"]
    read = files.read
    assert (read.timeout_seconds, read.repeatable, read.context) == (3, False, "c")
    assert read in registry
    with pytest.raises(ToolDefinitionError, match="take it from an instance"):
        ToolRegistry([Files.read])
