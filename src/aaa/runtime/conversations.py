"""How a log holds conversations: each request only what is new since an earlier one.

    request 1   conv: {delta: [u]}
    request 2   conv: {prev: 1, delta: [a, t]}


`prev` is the key of the earlier request, whose conversation comes first, whole; a branch starts anew where no request
ended. A conversation is named by the key of its first request. One that goes on in a parallel branch gets a name of
its own: branches must not disturb each other.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aaa.context import Transcript
from aaa.context.transcript_cache import TranscriptCache
from aaa.messages import Message
from aaa.runtime.identity import Identity
from aaa.runtime.replaying import Replaying

__all__ = ["Conversations", "Placed", "conversation_at", "names_of"]


class Placed(msgspec.Struct, frozen=True):
    """Where a request belongs: its conversation, and the one that forked off from ("": none).

    Its first `known` messages are the conversation of the request `prev`.
    """

    name: str
    parent: str
    prev: str
    known: int
    transcript: Transcript

    @property
    def identity(self) -> Identity:
        """What is compared with the log."""
        return Identity("", self.transcript.digest(), len(self.transcript))

    @property
    def new(self) -> list[Message]:
        """The messages that `prev` had not."""
        return self.transcript[self.known :]

    @property
    def conv(self) -> dict[str, Any]:
        """What a log holds of it."""
        length = len(self.transcript)
        conv: dict[str, Any] = {
            "delta": [msgspec.to_builtins(message) for message in self.new],
            "digests": [self.transcript.message_digest(index) for index in range(self.known, length)],
            "digest": self.transcript.digest(),
            "length": length,
        }
        return {"prev": self.prev, **conv} if self.prev else conv


class Conversations:
    """The conversations of one run: the requests of each line of effects, by the digest of what was asked."""

    def __init__(self) -> None:
        self._transcripts = TranscriptCache(lambda _: 0)
        self._known: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
        self._replaying = Replaying()

    def replay(
        self, key: str, messages: Sequence[Message], conv: Mapping[str, Any]
    ) -> tuple[str, list[Message]] | None:
        """The conversation of a recorded request and what is new in it, if `messages` are those of the log.

        `conv` is what the log has under `key`. None if that takes a comparison of digests: `settle`, then `place`.
        """
        if "prev" in conv and _line(conv["prev"]) != _line(key):
            return None
        taken = self._replaying.take(key, messages, conv)
        return (taken[0].name, taken[1]) if taken else None

    def settle(self) -> Iterator[tuple[str, Identity]]:
        """Place all that was replayed; yields requests whose recorded digest is not that of the recorded messages."""
        for replayed in self._replaying.settle():
            transcript = self._transcripts.transcript_of(replayed.messages, replayed.digested)
            for key, length, digest in replayed.marks:
                self._known[_line(key)][digest] = (key, replayed.name)
                if transcript.digest(length) != digest:
                    yield key, Identity("", transcript.digest(length), length)

    def place(self, key: str, messages: Sequence[Message], *, is_recorded: bool = False) -> Placed:
        """Where the request `key` belongs. Cost: O(what is new), and a pointer comparison.

        Looked for are requests of its own line and of those around it, never of a parallel one: which of two branches
        comes first differs from run to run.
        """
        transcript = self._transcripts.transcript_of(messages)
        placed = self._placed(key, transcript, *self._nearest(key, transcript))
        if is_recorded:
            self._replaying.follow(key, placed.name, messages)
        return placed

    def _nearest(self, key: str, transcript: Transcript) -> tuple[int, str, str]:
        """How many messages were asked before, by which request, and the name of that conversation."""
        lines = [self._known[line] for line in _lines_around(key)]
        for length in range(len(transcript), 0, -1):
            digest = transcript.digest(length)
            found = next((line[digest] for line in lines if digest in line), None)
            if found is not None:
                return length, *found
        return 0, "", ""

    def _placed(self, key: str, transcript: Transcript, known: int, prev: str, earlier: str) -> Placed:
        line = _line(key)
        name = earlier if prev and _line(prev) == line else key
        self._known[line][transcript.digest()] = (key, name)
        return Placed(name, "" if name == earlier else earlier, prev, known, transcript)


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
