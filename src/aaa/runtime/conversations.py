"""How a log holds conversations: each request only what is new since an earlier one.

    request 1   conv: {delta: [u]}
    request 2   conv: {prev: 1, delta: [a, t]}


`prev` is the key of the earlier request, whose conversation comes first, whole; a branch starts anew where no request
ended. A conversation is named by the key of its first request. One that goes on in a parallel branch gets a name of
its own: branches must not disturb each other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aaa.context import Transcript
from aaa.messages import Message

__all__ = ["Conversations", "Placed", "conversation_at", "names_of"]


class Placed(msgspec.Struct, frozen=True):
    """Where a request belongs: its conversation, the one that forked off from ("": none), and its `conv` data."""

    name: str
    parent: str
    conv: dict[str, Any]
    transcript: Transcript


class Conversations:
    """The conversations of one run: the requests of each line of effects, by the digest of what was asked."""

    def __init__(self) -> None:
        self._known: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)

    def place(self, key: str, transcript: Transcript) -> Placed:
        """Where the request `key` belongs. Cost: O(what is new).

        Looked for are requests of its own line and of those around it, never of a parallel one: which of two branches
        comes first differs from run to run.
        """
        lines = [self._known[line] for line in _lines_around(key)]
        for length in range(len(transcript), 0, -1):
            digest = transcript.digest(length)
            found = next((line[digest] for line in lines if digest in line), None)
            if found is not None:
                return self._placed(key, transcript, length, *found)
        return self._placed(key, transcript, 0, "", "")

    def _placed(self, key: str, transcript: Transcript, length: int, prev: str, earlier: str) -> Placed:
        name = earlier if prev and _line(prev) == _line(key) else key
        self._known[_line(key)][transcript.digest()] = (key, name)
        delta = [msgspec.to_builtins(transcript[index]) for index in range(length, len(transcript))]
        conv: dict[str, Any] = {"delta": delta, "digest": transcript.digest(), "length": len(transcript)}
        parent = "" if name == earlier else earlier
        return Placed(name, parent, {"prev": prev, **conv} if prev else conv, transcript)


def _line(key: str) -> str:
    """The line of effects that a key stands in: parallel branches have lines of their own."""
    return key.rpartition(".")[0]


def _lines_around(key: str) -> list[str]:
    """The line of a key and those that it branched off from, innermost first."""
    lines = [_line(key)]
    while lines[-1]:
        lines.append(_line(_line(lines[-1])))  # off the branch's number, off its gather's
    return lines


def conversation_at(key: str, requests: Mapping[str, Mapping[str, Any]]) -> list[Message]:
    """The conversation of the request `key`; `requests` holds the `conv` data of all, by key. Cost: O(messages)."""
    chain: list[Mapping[str, Any]] = []
    following: str | None = key
    while following is not None:
        chain.append(requests[following])
        following = chain[-1].get("prev")
    messages = [message for conv in reversed(chain) for message in conv["delta"]]
    return msgspec.convert(messages, list[Message])


def names_of(requests: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, tuple[str, str]]:
    """Key → (conversation, parent) of recorded requests, given as (key, `conv`) in the order of the log."""
    names: dict[str, tuple[str, str]] = {}
    for key, conv in requests:
        prev: str = conv.get("prev", "")
        earlier = names[prev][0] if prev else ""
        is_same = bool(prev) and _line(prev) == _line(key)
        names[key] = (earlier, "") if is_same else (key, earlier)
    return names
