"""The tools a model is offered, by name."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from aaa.errors import ToolDefinitionError
from aaa.messages import ToolSpec
from aaa.tools.tool import AnyTool, Tool, tool

__all__ = ["ToolRegistry"]


class ToolRegistry:
    """Tools in the order they were added, which is the order the model sees them in; plain functions become tools.

    Raises:
        ToolDefinitionError: two tools of one name, or something that cannot be made a tool.
    """

    def __init__(self, tools: Iterable[AnyTool | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        self._specs: tuple[ToolSpec, ...] | None = None
        for item in tools:
            self.add(item)

    def add(self, item: AnyTool | Callable[..., Any]) -> AnyTool:
        """Offer one more tool; gives back what is now registered."""
        made = cast("AnyTool", item) if isinstance(item, Tool) else tool(item)
        if made.is_unbound:
            raise ToolDefinitionError(f"tool {made.name!r} is a method: take it from an instance of its class")
        if made.name in self._tools:
            raise ToolDefinitionError(f"there is a tool {made.name!r} already; pass another name to @tool(name=…)")
        self._tools[made.name] = made
        self._specs = None
        return made

    def get(self, name: str) -> AnyTool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a request carries, in order; the same object until a tool is added."""
        if self._specs is None:
            self._specs = tuple(item.spec for item in self)
        return self._specs

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, item: object) -> bool:
        """Whether a tool of this name, or the name of this tool, is registered."""
        return (item.name if isinstance(item, Tool) else item) in self._tools
