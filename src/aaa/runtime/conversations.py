"""How a log holds conversations: each request only what is new since an earlier one.

    request 1   conv: {delta: [u]}
    request 2   conv: {prev: 1, delta: [a, t]}


`prev` is the key of the earlier request, whose conversation comes first, whole; a branch starts anew where no request
ended. A conversation is named by the key of its first request.
"""

from typing import Any

import msgspec

from aaa.context import Transcript
from aaa.messages import Message

__all__ = ["Conversations", "conversation_at"]


class Conversations:
    """The conversations of one run, by the digest of each that was requested."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def place(self, key: str, transcript: Transcript) -> tuple[str, dict[str, Any]]:
        """The name of the conversation and its `conv` data for the request `key`. Cost: O(what is new)."""
        for length in range(len(transcript), 0, -1):
            found = self._known.get(transcript.digest(length))
            if found is not None:
                return self._extended(key, transcript, length, *found)
        return self._extended(key, transcript, 0, "", key)

    def _extended(
        self, key: str, transcript: Transcript, length: int, prev: str, name: str
    ) -> tuple[str, dict[str, Any]]:
        self._known[transcript.digest()] = (key, name)
        delta = [msgspec.to_builtins(transcript[index]) for index in range(length, len(transcript))]
        conv: dict[str, Any] = {"delta": delta, "digest": transcript.digest(), "length": len(transcript)}
        return name, {"prev": prev, **conv} if prev else conv


def conversation_at(key: str, requests: dict[str, dict[str, Any]]) -> list[Message]:
    """The conversation of the request `key`; `requests` holds the `conv` data of all, by key. Cost: O(messages)."""
    chain: list[dict[str, Any]] = []
    following: str | None = key
    while following is not None:
        chain.append(requests[following])
        following = chain[-1].get("prev")
    messages = [message for conv in reversed(chain) for message in conv["delta"]]
    return msgspec.convert(messages, list[Message])
