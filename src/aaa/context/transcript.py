"""Every message of a conversation: append-only, with sizes and digests ready.

    messages   m0      m1      m2
    sums     0    s1      s2      s3        raw tokens of [a, b)  = sums[b] − sums[a]
    chain    h0   h1      h2      h3        digest of the first n = chain[n]

Appending costs O(size of the message), once; both questions are O(1).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from threading import Lock
from typing import NamedTuple, overload

from msgspec.structs import replace

from aaa.context.groups import head_length, is_pinned
from aaa.messages import EMPTY_DIGEST, Message, Pairer, chain, digest

__all__ = ["NOT_DIGESTED", "Digested", "Transcript", "digest_in"]


class Digested(NamedTuple):
    """Messages whose digests are known, as a log has them: what came out of it is not hashed again."""

    messages: list[Message]
    digests: list[str]

    def digests_of(self, messages: list[Message]) -> list[str]:
        """The digests of `messages`, by a comparison if they are these. Cost: O(their size)."""
        return self.digests if self.messages == messages else list(map(digest, messages))


NOT_DIGESTED = Digested([], [])


class _Columns:
    """The growing lists that transcripts of one conversation share; each sees as many rows as it is long.

    Which messages are alike, pinned or answered is worked out when it is first asked for.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.digests: list[str] = []
        self.sums: list[int] = [0]
        self.chain: list[str] = [EMPTY_DIGEST]
        self._lock = Lock()  # whoever asks first fills in the places, in whatever thread
        self._occurrences: list[int] = []
        self._pinned: list[int] = []
        self._calls: list[int | None] = []
        self._seen: dict[str, int] = {}
        self._tokens: dict[tuple[str, str], int] = {}
        self._pairer = Pairer()

    def extend(
        self, messages: Sequence[Message], digests: Sequence[str], *, chained: Sequence[str], tokens: Iterable[int]
    ) -> None:
        self.digests += digests
        self.chain += chained
        self.sums.extend(islice(accumulate(tokens, initial=self.sums[-1]), 1, None))
        self.messages += messages  # last: whoever sees a message finds the rest of its row

    def counted(
        self, messages: Sequence[Message], digests: Sequence[str], count: Callable[[Message], int]
    ) -> list[int]:
        """Tokens of each message; one that is like an earlier one is not counted again."""
        tokens: list[int] = []
        for message, message_digest in zip(messages, digests, strict=True):
            alike = message_digest, message.extra
            if alike not in self._tokens:
                self._tokens[alike] = count(message)
            tokens.append(self._tokens[alike])
        return tokens

    def copy(self, length: int) -> "_Columns":
        other = _Columns()
        other.messages, other.digests = self.messages[:length], self.digests[:length]
        other.sums, other.chain = self.sums[: length + 1], self.chain[: length + 1]
        return other

    @property
    def occurrences(self) -> list[int]:
        self._place()
        return self._occurrences

    @property
    def pinned(self) -> list[int]:
        self._place()
        return self._pinned

    @property
    def calls(self) -> list[int | None]:
        self._place()
        return self._calls

    def _place(self) -> None:
        """Fill in the places of messages that came since. Cost: O(new)."""
        if len(self._calls) == len(self.messages):
            return
        with self._lock:
            for index in range(len(self._calls), len(self.messages)):
                message, message_digest = self.messages[index], self.digests[index]
                if is_pinned(message):
                    self._pinned.append(index)
                earlier = self._seen.get(message_digest, 0)
                self._occurrences.append(earlier)
                self._seen[message_digest] = earlier + 1
                self._calls.append(self._pairer.add(message))


class Transcript(Sequence[Message]):
    """A sequence of messages that only grows. `count` gives the raw tokens of one message.

    Messages that `pin` says yes to are pinned in it, whatever they say themselves.
    """

    __slots__ = ("_columns", "_count", "_head", "_length", "_pin")

    def __init__(
        self,
        messages: Iterable[Message] = (),
        *,
        count: Callable[[Message], int],
        pin: Callable[[Message], bool] | None = None,
    ) -> None:
        self._count = count
        self._pin = pin
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
            start, stop, step = index.indices(self._length)
            if step > 0:
                return self._columns.messages[start:stop:step]
            return [self._columns.messages[i] for i in range(start, stop, step)]
        return self._columns.messages[range(self._length)[index]]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Message]:
        return islice(self._columns.messages, self._length)

    def append(self, message: Message) -> None:
        """Add a message. Cost: O(size of the message), once."""
        self.extend((message,))

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages in order: all, or none if one cannot be counted."""
        self._extend(list(messages), NOT_DIGESTED)

    def _extend(self, messages: list[Message], known: Digested) -> None:
        digests = known.digests_of(messages)
        chained = accumulate(digests, chain, initial=self._columns.chain[self._length])
        self._grow(messages, digests, list(chained)[1:])

    def _grow(self, messages: Sequence[Message], digests: Sequence[str], chained: Sequence[str]) -> None:
        columns = self._own_columns()
        tokens = columns.counted(messages, digests, self._count)
        if self._pin is not None:
            messages = [replace(m, pinned=True) if self._must_pin(m) else m for m in messages]
        columns.extend(messages, digests, chained=chained, tokens=tokens)
        self._length += len(messages)

    def _must_pin(self, message: Message) -> bool:
        return self._pin is not None and not message.pinned and self._pin(message)

    def _own_columns(self) -> _Columns:
        """Columns that end where this transcript does: copied if another one went on from here."""
        if len(self._columns.messages) > self._length:
            self._columns = self._columns.copy(self._length)
        return self._columns

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

    def follow(
        self, messages: Sequence[Message], *, shared: int | None = None, known: Digested = NOT_DIGESTED
    ) -> "Transcript":
        """The transcript of `messages`, sharing with this one what begins alike; this one stays as it is.

        `shared` says how many that is, where it is known; `known` may be the messages that are new. Cost: O(what is
        new), and a pointer comparison.
        """
        shared = self.shared(messages) if shared is None else shared
        other = self._beginning(shared)
        if isinstance(messages, Transcript):
            theirs, stop = messages._columns, len(messages)
            new = theirs.messages[shared:stop]
            other._grow(new, theirs.digests[shared:stop], theirs.chain[shared + 1 : stop + 1])
        elif shared < len(messages):
            other._extend(list(messages[shared:]), known)
        return other

    def _beginning(self, length: int) -> "Transcript":
        """The first messages as a transcript of its own, which shares the columns."""
        other = Transcript.__new__(Transcript)
        other._count, other._columns, other._length, other._head = self._count, self._columns, length, None
        other._pin = self._pin
        return other

    def shared(self, messages: Sequence[Message], digest_at: Callable[[int], str] | None = None) -> int:
        """How many messages at the start are the same: one object, or equal in digest, pin and kind."""
        digest_at = digest_at or (lambda index: digest_in(messages, index))
        for index, (mine, other) in enumerate(zip(self, messages, strict=False)):
            if mine is not other and not self._is_same(index, other, digest_at):
                return index
        return min(len(self), len(messages))

    def _is_same(self, index: int, other: Message, digest_at: Callable[[int], str]) -> bool:
        mine = self._columns.messages[index]
        if (mine.pinned, mine.kind) != (other.pinned or self._must_pin(other), other.kind):
            return False
        return self.message_digest(index) == digest_at(index)


def digest_in(messages: Sequence[Message], index: int) -> str:
    """The digest of one of `messages`, known if they are a transcript."""
    return messages.message_digest(index) if isinstance(messages, Transcript) else digest(messages[index])
