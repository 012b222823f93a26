"""Every message of a conversation: append-only, with sizes and digests ready.

    messages   m0      m1      m2
    sums     0    s1      s2      s3        raw tokens of [a, b)  = sums[b] − sums[a]
    chain    h0   h1      h2      h3        digest of the first n = chain[n]

Appending costs O(size of the message), once; both questions are O(1). `TranscriptCache` recognises a caller's list
as one that it has seen grow, so that a plain list costs only what is new in it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import is_
from typing import overload

from aaa.context.groups import head_length
from aaa.messages import EMPTY_DIGEST, Message, chain, digest

__all__ = ["Transcript", "TranscriptCache"]


class Transcript(Sequence[Message]):
    """A sequence of messages that only grows. `count` gives the raw tokens of one message."""

    def __init__(self, messages: Iterable[Message] = (), *, count: Callable[[Message], int]) -> None:
        self._count = count
        self._messages: list[Message] = []
        self._digests: list[str] = []
        self._sums: list[int] = [0]
        self._chain: list[str] = [EMPTY_DIGEST]
        self.extend(messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        return self._messages[index]

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    def append(self, message: Message, message_digest: str | None = None) -> None:
        """Add a message; `message_digest` saves hashing it again. Cost: O(size of the message)."""
        known = message_digest or digest(message)
        self._messages.append(message)
        self._digests.append(known)
        self._sums.append(self._sums[-1] + self._count(message))
        self._chain.append(chain(self._chain[-1], known))

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def tokens(self, start: int = 0, stop: int | None = None) -> int:
        """Raw tokens of the messages [start, stop). Cost: O(1)."""
        return self._sums[len(self) if stop is None else stop] - self._sums[start]

    def digest(self, length: int | None = None) -> str:
        """The chained digest of the first `length` messages, all by default. Cost: O(1)."""
        return self._chain[len(self) if length is None else length]

    def message_digest(self, index: int) -> str:
        """The digest of one message. Cost: O(1)."""
        return self._digests[index]

    @property
    def head(self) -> int:
        """How many messages the head has: leading system messages, then the task if a user states it."""
        return head_length(self._messages)

    def fork(self, length: int) -> "Transcript":
        """A new transcript of the first `length` messages. Cost: pointer copies only."""
        other = Transcript(count=self._count)
        other._messages = self._messages[:length]
        other._digests = self._digests[:length]
        other._sums = self._sums[: length + 1]
        other._chain = self._chain[: length + 1]
        return other

    def follow(self, messages: Sequence[Message]) -> "Transcript":
        """The transcript of `messages`: this one, grown, if it is their beginning; else a fork at the difference.

        Messages are the same if they are one object, or equal in digest, pin and kind. Cost: O(what is new).
        """
        shared = self._shared(messages)
        grown = self if shared == len(self) else self.fork(shared)
        grown.extend(islice(messages, shared, None))
        return grown

    def _shared(self, messages: Sequence[Message]) -> int:
        if len(messages) >= len(self) and all(map(is_, self._messages, messages)):
            return len(self)
        for index, (mine, other) in enumerate(zip(self._messages, messages, strict=False)):
            if mine is not other and not self._is_same(index, other):
                return index
        return min(len(self), len(messages))

    def _is_same(self, index: int, other: Message) -> bool:
        mine = self._messages[index]
        return (mine.pinned, mine.kind, self._digests[index]) == (other.pinned, other.kind, digest(other))


class TranscriptCache:
    """The conversations seen last, so that a list that has grown is recognised."""

    def __init__(self, count: Callable[[Message], int], size: int = 8) -> None:
        self._count = count
        self._size = size
        self._recent: list[Transcript] = []

    def transcript_of(self, messages: Sequence[Message]) -> Transcript:
        """The transcript of `messages`. Cost: O(what is new since they were last seen), and a pointer comparison."""
        known = next((t for t in self._recent if len(t) and len(messages) and _is_start(t, messages)), None)
        transcript = Transcript(messages, count=self._count) if known is None else known.follow(messages)
        if known is not None:
            self._recent.remove(known)
        self._recent = [transcript, *self._recent][: self._size]
        return transcript


def _is_start(transcript: Transcript, messages: Sequence[Message]) -> bool:
    """Whether they begin alike; enough to try, since `follow` compares the rest."""
    first = transcript[0]
    return first is messages[0] or first == messages[0]
