"""Every message of a conversation: append-only, with sizes and digests ready.

    messages   m0      m1      m2
    sums     0    s1      s2      s3        raw tokens of [a, b)  = sums[b] − sums[a]
    chain    h0   h1      h2      h3        digest of the first n = chain[n]

Appending costs O(size of the message), once; both questions are O(1). `TranscriptCache` recognises a caller's list
as one that it has seen grow, so that a plain list costs only what is new in it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import overload

from aaa.context.groups import head_length, is_pinned
from aaa.messages import EMPTY_DIGEST, Message, Pairer, chain, digest

__all__ = ["Transcript", "TranscriptCache"]


class _Columns:
    """The growing lists that transcripts of one conversation share; each sees as many rows as it is long."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.digests: list[str] = []
        self.sums: list[int] = [0]
        self.chain: list[str] = [EMPTY_DIGEST]
        self.occurrences: list[int] = []
        self.pinned: list[int] = []
        self.seen: Counter[str] = Counter()
        self.calls: list[int | None] = []
        self.pairer = Pairer()

    def append(self, message: Message, message_digest: str, tokens: int, chained: str | None = None) -> None:
        if is_pinned(message):
            self.pinned.append(len(self.messages))
        self.digests.append(message_digest)
        self.occurrences.append(self.seen[message_digest])
        self.seen[message_digest] += 1
        self.sums.append(self.sums[-1] + tokens)
        self.chain.append(chained or chain(self.chain[-1], message_digest))
        self.calls.append(self.pairer.add(message))
        self.messages.append(message)

    def copy(self, length: int) -> "_Columns":
        other = _Columns()
        other.messages, other.digests = self.messages[:length], self.digests[:length]
        other.sums, other.chain = self.sums[: length + 1], self.chain[: length + 1]
        other.occurrences, other.seen = self.occurrences[:length], Counter(other.digests)
        other.calls = self.calls[:length]
        for message in other.messages:
            other.pairer.add(message)
        other.pinned = self.pinned[: bisect_left(self.pinned, length)]
        return other


class Transcript(Sequence[Message]):
    """A sequence of messages that only grows. `count` gives the raw tokens of one message."""

    def __init__(self, messages: Iterable[Message] = (), *, count: Callable[[Message], int]) -> None:
        self._count = count
        self._columns = _Columns()
        self._length = 0
        self._head: int | None = None
        self.extend(messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if not isinstance(index, slice) and 0 <= index < self._length:
            return self._columns.messages[index]
        if isinstance(index, slice):
            return [self._columns.messages[i] for i in range(*index.indices(self._length))]
        return self._columns.messages[range(self._length)[index]]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Message]:
        return islice(self._columns.messages, self._length)

    def append(self, message: Message) -> None:
        """Add a message. Cost: O(size of the message), once."""
        self._own_columns().append(message, digest(message), self._count(message))
        self._length += 1

    def _own_columns(self) -> _Columns:
        """Columns that end where this transcript does: copied if another one went on from here."""
        if len(self._columns.messages) > self._length:
            self._columns = self._columns.copy(self._length)
        return self._columns

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def tokens(self, start: int = 0, stop: int | None = None) -> int:
        """Raw tokens of the messages [start, stop). Cost: O(1)."""
        stop = self._within(self._length if stop is None else stop)
        return self._columns.sums[stop] - self._columns.sums[start]

    def _within(self, length: int) -> int:
        if length > self._length:
            raise IndexError(f"the transcript has {self._length} messages, not {length}")
        return length

    def digest(self, length: int | None = None) -> str:
        """The chained digest of the first `length` messages, all by default. Cost: O(1)."""
        return self._columns.chain[self._within(self._length if length is None else length)]

    def message_digest(self, index: int) -> str:
        """The digest of one message. Cost: O(1)."""
        return self._columns.digests[index]

    def occurrence(self, index: int) -> int:
        """How many messages equal to this one come before it. Cost: O(1)."""
        return self._columns.occurrences[index]

    def call_of(self, index: int) -> int | None:
        """Index of the message that holds the call this result answers; None for other messages. Cost: O(1)."""
        return self._columns.calls[index]

    def count_message(self, message: Message) -> int:
        """Raw tokens of any message, by this transcript's counter."""
        return self._count(message)

    def pinned_between(self, start: int, stop: int) -> list[int]:
        """Indices of pinned messages in [start, stop). Cost: O(log messages)."""
        pinned = self._columns.pinned
        return pinned[bisect_left(pinned, start) : bisect_left(pinned, stop)]

    @property
    def head(self) -> int:
        """How many messages the head has: leading system messages, then the task if a user states it."""
        if self._head is not None:
            return self._head
        head = head_length(self)
        self._head = head if head < self._length else None  # one that may still grow is looked at again
        return head

    def follow(self, messages: Sequence[Message]) -> "Transcript":
        """The transcript of `messages`, sharing with this one what begins alike; this one stays as it is.

        Messages are the same if they are one object, or equal in digest, pin and kind. Cost: O(what is new), and a
        pointer comparison.
        """
        return self._follow(messages, self._shared(messages, lambda index: _digest_in(messages, index)))

    def _follow(self, messages: Sequence[Message], shared: int) -> "Transcript":
        other = Transcript(count=self._count)
        other._columns, other._length = self._columns, shared
        if isinstance(messages, Transcript) and shared < len(messages):
            other._take(messages, shared)
        else:
            other.extend(islice(messages, shared, None))
        return other

    def _take(self, other: "Transcript", start: int) -> None:
        """Add the messages of another transcript, whose digests are known, from `start` on."""
        columns = self._own_columns()
        theirs = other._columns
        for index in range(start, len(other)):
            message = theirs.messages[index]
            columns.append(message, theirs.digests[index], self._count(message), theirs.chain[index + 1])
        self._length = len(other)

    def _shared(self, messages: Sequence[Message], digest_at: Callable[[int], str]) -> int:
        """How many messages at the start are the same."""
        mine, length = self._columns.messages, self._length
        if length == len(mine) and len(messages) >= length and list(islice(messages, length)) == mine:
            return length  # the common case, in C: one object is equal to itself without a look at its value
        for index, (mine, other) in enumerate(zip(self, messages, strict=False)):
            if mine is not other and not self._is_same(index, other, digest_at):
                return index
        return min(len(self), len(messages))

    def _is_same(self, index: int, other: Message, digest_at: Callable[[int], str]) -> bool:
        mine = self._columns.messages[index]
        if (mine.pinned, mine.kind) != (other.pinned, other.kind):
            return False
        return self.message_digest(index) == digest_at(index)


class TranscriptCache:
    """The conversations seen last, so that a list that has grown is recognised."""

    def __init__(self, count: Callable[[Message], int], size: int = 8) -> None:
        self._count = count
        self._size = size
        self._lock = Lock()  # transcripts share lists: they grow one at a time
        self._recent: list[Transcript] = []

    def transcript_of(self, messages: Sequence[Message]) -> Transcript:
        """The transcript of `messages`. Cost: O(what is new since they were last seen), and a pointer comparison."""
        digests: dict[int, str] = {}  # once, however many transcripts it is compared with

        def digest_at(index: int) -> str:
            if index not in digests:
                digests[index] = _digest_in(messages, index)
            return digests[index]

        with self._lock:
            shared, known = 0, None
            for transcript in self._recent:
                length = transcript._shared(messages, digest_at)  # pyright: ignore[reportPrivateUsage]
                if length > shared:
                    shared, known = length, transcript
            if known is None:
                return self._keep(Transcript(count=self._count)._follow(messages, 0), None)  # pyright: ignore[reportPrivateUsage]
            grown = known._follow(messages, shared)  # pyright: ignore[reportPrivateUsage]
            return self._keep(grown, known if shared == len(known) else None)

    def _keep(self, transcript: Transcript, replaced: Transcript | None) -> Transcript:
        self._recent = [transcript, *(t for t in self._recent if t is not replaced)][: self._size]
        return transcript


def _digest_in(messages: Sequence[Message], index: int) -> str:
    return messages.message_digest(index) if isinstance(messages, Transcript) else digest(messages[index])
