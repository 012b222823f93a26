"""A streamed reply of OpenAI's Responses format.

The last event (`response.completed`, or `incomplete`, `failed`) holds the whole response. Servers that leave its output
empty have sent each item in `response.output_item.done`. An error comes as an event `error`, in `response.failed`, or
as a bare object; it is kept in `error`, for the client to tell what it means.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aaa.errors import BrokenReplyError
from aaa.messages import Delta, LLMResponse
from aaa.wire.lossless import mapping
from aaa.wire.openai_chat.reply import broken_by
from aaa.wire.openai_responses.kinds import CALLS, kind_of
from aaa.wire.openai_responses.status import error_in, response_of

__all__ = ["ReplyStream"]

_LAST = ("response.completed", "response.incomplete", "response.failed")
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
}


class ReplyStream:
    """Reads the events of one reply. `error` is the provider's own error object, once one has come."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._response: Mapping[str, Any] | None = None
        self._items: dict[int, Any] = {}  # whole items by their place in the output
        self._calls: list[Any] = []  # places in the output that are calls

    def feed(self, event: Mapping[str, Any]) -> Sequence[Delta]:
        """Take in one event; what became visible by it.

        Raises:
            WireError: it is no object.
        """
        fields = mapping(event, "an event")
        match fields.get("type"):
            case str(kind) if kind in _LAST and isinstance(fields.get("response"), Mapping):
                self._response = cast("Mapping[str, Any]", fields["response"])
                self.error = self.error or error_in(self._response)
            case "response.output_item.added" | "response.output_item.done" as kind:
                self._take_item(fields, is_whole=kind.endswith("done"))
            case str(kind) if kind in _DELTAS:
                return self._delta(_DELTAS[kind], fields)
            case "error":
                self.error = self.error or error_in(fields) or fields
            case None:
                self.error = self.error or error_in(fields)
            case _:
                pass
        return ()

    def response(self) -> LLMResponse:
        """The whole reply.

        Raises:
            BrokenReplyError: it ended before its last event, with an error, or is not what the format says.
        """
        if self.error is not None:
            raise broken_by(self.error)
        if self._response is None:
            raise BrokenReplyError("the stream ended before the response was complete")
        return response_of(self._response, output=[self._items[place] for place in sorted(self._items)])

    def _take_item(self, event: Mapping[str, Any], *, is_whole: bool) -> None:
        item, place = mapping(event.get("item"), "an item"), event.get("output_index")
        place = place if isinstance(place, int) else len(self._items)
        if is_whole:
            self._items[place] = item
        if kind_of(item) in CALLS and place not in self._calls:
            self._calls.append(place)

    def _delta(self, kind: Any, event: Mapping[str, Any]) -> Sequence[Delta]:
        text, place = event.get("delta"), event.get("output_index")
        if not isinstance(text, str) or not text:
            return ()
        if kind != "arguments":
            return (Delta(kind, text),)
        if place not in self._calls:
            self._calls.append(place)
        return (Delta(kind, text, self._calls.index(place)),)
