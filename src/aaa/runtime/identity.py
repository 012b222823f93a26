"""What of an effect must be the same on replay.

Not tool specs, model or params: a deploy in mid-run must not kill runs.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from aaa.messages import ToolCall

__all__ = ["Identity", "identity_of", "identity_of_call", "is_recorded_call"]


class Identity(msgspec.Struct, frozen=True):
    """A name, or a digest, or both; `length` is that of a conversation."""

    name: str = ""
    digest: str = ""
    length: int | None = None

    def described(self, kind: str) -> str:
        """The effect in words, without any message text."""
        what = kind.removeprefix("aaa.")
        if self.length is not None:
            return f"{what} with a conversation of {self.length} messages, digest {self.digest[:12]}"
        return f"{what} {self.name!r}" + (f" with arguments of digest {self.digest[:12]}" if self.digest else "")


def identity_of(data: Mapping[str, Any]) -> Identity:
    """That of a recorded effect, by the data of its first event."""
    if "conv" in data:
        return Identity("", data["conv"]["digest"], data["conv"]["length"])
    if "call" in data:
        return Identity(data["call"]["name"], data["call"]["digest"])
    return Identity(data.get("name", ""))


def identity_of_call(call: ToolCall) -> Identity:
    """That of a tool call: the tool and the arguments, not the id."""
    arguments = call.arguments_json.encode("utf-8", "backslashreplace")
    return Identity(call.name, blake2b(arguments, digest_size=16).hexdigest())


def is_recorded_call(call: ToolCall, data: Mapping[str, Any]) -> bool:
    """Whether the data of a recorded event are of this very call, by its text; if not, its digest may be the same."""
    recorded = data.get("call")
    return recorded is not None and recorded["name"] == call.name and recorded["arguments"] == call.arguments_json
