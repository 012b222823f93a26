"""What a request asks for besides its messages, as far as rules depend on it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aaa.messages import ToolSpec

__all__ = ["Asked", "decisive"]

_DECISIVE = ("thinking", "previous_response_id", "conversation")


def decisive(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a rule depends on; a log may keep these, the others may hold secrets of a client."""
    return {key: params[key] for key in _DECISIVE if key in params}


class Asked(NamedTuple):
    """A request without its messages; `given_tools` is None where they are not known."""

    model: str | None
    given_tools: Sequence[ToolSpec] | None
    params: Mapping[str, Any]

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools that are known."""
        return self.given_tools or ()

    @property
    def has_no_tools(self) -> bool:
        """Whether there are none, and that is known."""
        return self.given_tools is not None and not self.given_tools

    @property
    def thinking(self) -> str | None:
        """The kind of thinking asked for: "enabled", "adaptive", "disabled"; None if nothing is said."""
        match self.params.get("thinking"):
            case {"type": str(kind)}:
                return kind
            case _:
                return None
