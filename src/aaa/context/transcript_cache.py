"""A caller's list recognised as one that was seen to grow, so that a plain list costs only what is new in it."""

from collections.abc import Callable, Sequence
from threading import Lock

from aaa.context.counters import Measure
from aaa.context.counters.media import MediaRule
from aaa.context.transcript import NOT_DIGESTED, Digested, Transcript, digest_in
from aaa.messages import Message

__all__ = ["TranscriptCache", "TranscriptCaches", "begins_with"]


def begins_with(messages: list[Message], beginning: list[Message]) -> bool:
    """Whether `messages` begin with `beginning`, which is changed meanwhile and back as it was afterwards.

    Two lists of one length are compared in C by their pointers. The first part of `messages` would have to be copied,
    which touches every message: with long conversations that takes longer than all else.
    """
    length = len(beginning)
    beginning += messages[length:]
    is_same = beginning == messages
    del beginning[length:]
    return is_same


class _Seen:
    """A conversation as it was last seen; `messages` are the transcript's, in a list to compare with."""

    __slots__ = ("messages", "transcript")

    def __init__(self, transcript: Transcript, messages: list[Message]) -> None:
        self.transcript = transcript
        self.messages = messages


class TranscriptCache:
    """The conversations seen last, so that a list that has grown is recognised."""

    def __init__(
        self, count: Callable[[Message], int], size: int = 8, *, pin: Callable[[Message], bool] | None = None
    ) -> None:
        self._count = count
        self._pin = pin
        self._size = size
        self._lock = Lock()  # transcripts share lists: they grow one at a time
        self._recent: list[_Seen] = []

    def transcript_of(self, messages: Sequence[Message], known: Digested = NOT_DIGESTED) -> Transcript:
        """The transcript of `messages`; `known` may be those that are new in it.

        Cost: O(what is new since they were last seen), and a pointer comparison.
        """
        given = messages if isinstance(messages, list) else list(messages)
        with self._lock:
            nearest, shared = self._nearest(messages, given)
            before = nearest.transcript if nearest else Transcript(count=self._count, pin=self._pin)
            grown = before.follow(messages, shared=shared, known=known)
            if nearest is None or shared < len(nearest.messages):
                self._recent = [_Seen(grown, given[:]), *self._recent][: self._size]
            else:
                nearest.transcript = grown
                nearest.messages += given[shared:]
                if self._recent[0] is not nearest:
                    self._recent.remove(nearest)
                    self._recent.insert(0, nearest)
        return grown

    def _nearest(self, messages: Sequence[Message], given: list[Message]) -> tuple[_Seen | None, int]:
        """The conversation that shares most with `messages`, and how many messages that is."""
        digests: dict[int, str] = {}  # once, however many transcripts it is compared with

        def digest_at(index: int) -> str:
            if index not in digests:
                digests[index] = digest_in(messages, index)
            return digests[index]

        nearest, shared = None, 0
        for seen in self._recent:
            is_whole = begins_with(given, seen.messages)
            length = len(seen.messages) if is_whole else seen.transcript.shared(messages, digest_at)
            if length > shared:
                nearest, shared = seen, length
        return nearest, shared


class TranscriptCaches:
    """A cache for each way of counting: with another provider's rule for media the same messages have other sizes."""

    def __init__(self, size: int = 8, *, pin: Callable[[Message], bool] | None = None) -> None:
        self._pin = pin
        self._size = size
        self._caches: dict[MediaRule | None, TranscriptCache] = {}

    def transcript_of(self, messages: Sequence[Message], measure: Measure) -> Transcript:
        """The transcript of `messages` with the sizes that `measure` gives. Cost: as `TranscriptCache`."""
        cache = self._caches.get(measure.media)
        if cache is None:
            new = TranscriptCache(measure.message, self._size, pin=self._pin)
            cache = self._caches.setdefault(measure.media, new)
        return cache.transcript_of(messages)
