"""Replace the oldest groups by a model-written summary."""

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import accumulate

from aaa.context.identifiers import missing_identifiers
from aaa.context.markers import is_marker
from aaa.context.summaries import SummaryRecord, is_summary, summary_message
from aaa.context.summarizing import (
    End,
    PendingSummary,
    Summarizer,
    Written,
    chunk_lengths,
    chunks_of,
    instructions_tokens,
    model_summarizer,
)
from aaa.context.work import Work
from aaa.messages import LLMClient, Message

__all__ = ["Summarize", "guessed", "place_summary"]

# At most, and 6 % of the budget: more costs more than it saves (measured on recorded sessions).
_IDENTIFIER_TOKENS = 800
_TIMEOUT_SECONDS = 120.0  # for one chunk
_LEAST_CHUNK = 100  # tokens
_LEAST_REPLY = 12  # one such part of a window is kept for a summary, however much is to be read


class Summarize:
    """Replace the oldest groups by a summary: `[head] [summary] [recent tail]`.

    Incremental: each summary folds in the one before. It reads the originals, in chunks of at most `chunk_tokens`,
    never placeholders. The tail keeps `keep_recent` groups at least, and more while they fit into
    `keep_tokens_ratio` of the target. One model call per chunk, on `client` and `model` with `max_summary_tokens` for
    the reply, or `summarize(text, previous)` in their place. With neither, the policy's `summarizer` is used. Chunks
    and replies are smaller where the model's window asks for it: that of the policy, or what `limited` says.
    """

    name = "summarize"

    def __init__(
        self,
        client: LLMClient | None = None,
        model: str | None = None,
        *,
        keep_tokens_ratio: float = 0.4,
        chunk_tokens: int = 24000,
        max_summary_tokens: int = 1200,
        summarize: Summarizer | None = None,
    ) -> None:
        if not 0 <= keep_tokens_ratio <= 1:
            raise ValueError(f"keep_tokens_ratio must be between 0 and 1, got {keep_tokens_ratio}")
        if chunk_tokens < 1 or max_summary_tokens < 1:
            numbers = f"chunk_tokens={chunk_tokens}, max_summary_tokens={max_summary_tokens}"
            raise ValueError(f"chunk_tokens and max_summary_tokens must be at least 1, got {numbers}")
        self.keep_tokens_ratio = keep_tokens_ratio
        self.chunk_tokens = chunk_tokens
        self.max_summary_tokens = max_summary_tokens
        self.keep_tokens: int | None = None
        self.window_tokens: int | None = None
        self.timeout_seconds: float | None = _TIMEOUT_SECONDS
        self._client = client if summarize is None else None
        self._model = model
        self._summarize = summarize

    @property
    def has_summarizer(self) -> bool:
        """Whether there is anything to write summaries with."""
        return self._summarize is not None or self._client is not None

    @property
    def knows_cost(self) -> bool:
        """Whether what a summary costs is told; of a function it is not known."""
        return bool(getattr(self._client, "knows_cost", False))

    def using(self, client: LLMClient | None, model: str | None) -> "Summarize":
        """This strategy, or one like it that writes with `client` if this one has nothing to write with."""
        if self.has_summarizer or client is None:
            return self
        other = copy(self)
        other._client, other._model = client, model
        return other

    def limited(
        self,
        *,
        window_tokens: int | None = None,
        keep_tokens: int | None = None,
        timeout_seconds: float | None = None,
    ) -> "Summarize":
        """This strategy for a model with a window of its own, with a tail of a fixed size, or with less patience.

        The tail is never larger than the target leaves room for. `timeout_seconds` (120 at first) is for each chunk;
        what was summarised before is kept. None: as it was.
        """
        other = copy(self)
        other.window_tokens = self.window_tokens if window_tokens is None else window_tokens
        other.keep_tokens = self.keep_tokens if keep_tokens is None else keep_tokens
        other.timeout_seconds = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        return other

    async def apply(self, work: Work) -> None:
        """Ask for a summary of what comes before the tail; it takes its place once it is written and checked."""
        self.reduce(work)

    def reduce(self, work: Work) -> None:
        """As `apply`; awaits nothing."""
        stop = self._cut(work)
        upto = next((item.source for item in work.items[stop:] if item.source is not None), work.length)
        start = _start(work)
        begin = work.record.upto if work.record else start
        if upto <= begin or not _has_news(work.messages[start:stop]):
            return
        if work.transcript.digest(upto) in work.rejected_digests:
            return
        kept = set(_kept_sources(work, start, stop))
        earlier = (item.source for item in work.items[start:stop] if item.source is not None and item.source < begin)
        sources = [index for index in (*earlier, *range(begin, upto)) if index not in kept]
        span = tuple(work.transcript[index] for index in sources)
        previous = work.record.text if work.record else None
        chunk_tokens = self.chunk_for(work.count, work.budget_tokens, previous)
        work.pending = PendingSummary(
            start=start,
            stop=stop,
            upto=upto,
            span=span,
            chunks=chunks_of(span, work.count, chunk_tokens),
            previous=previous,
            earlier_identifiers=work.record.identifiers if work.record else (),
            max_tokens=self.max_summary_tokens,
            summarize=self.summarizer(work.count, work.budget_tokens),
            timeout_seconds=self.timeout_seconds,
            ends=_ends(work, sources, chunk_lengths(span, work.count, chunk_tokens), begin),
        )

    def summarizer(self, count: Callable[[Message], int], budget_tokens: int) -> Summarizer:
        """What writes, where a prompt may have `budget_tokens`.

        Raises:
            ValueError: there is nothing to write with.
        """
        if self._summarize is not None:
            return self._summarize
        if self._client is None:
            raise ValueError("Summarize needs client=, summarize=, or a policy with summarizer=")
        room = partial(_room_for_reply, self._window(budget_tokens) or budget_tokens, count)
        return model_summarizer(self._client, self._model, self.max_summary_tokens, room=room)

    def _window(self, budget_tokens: int) -> int | None:
        """What may be read and written at a time; of a function it is not known unless it is said."""
        return self.window_tokens if self._summarize is not None else self.window_tokens or budget_tokens

    def chunk_for(self, count: Callable[[Message], int], budget_tokens: int, previous: str | None) -> int:
        """How much can be read at a time beside instructions, the earlier summary and the reply. Units: raw tokens."""
        window = self._window(budget_tokens)
        if window is None:
            return self.chunk_tokens
        earlier = count(Message("user", previous)) if previous else 0
        taken = instructions_tokens(count) + earlier + min(self.max_summary_tokens, window // _LEAST_REPLY)
        return min(self.chunk_tokens, max(window - taken, _LEAST_CHUNK))

    def _cut(self, work: Work) -> int:
        """Index in `work.messages` where the tail begins: a group boundary."""
        room = self._room(work)
        stop, used = work.tail, sum(item.raw for item in work.items[work.tail :])
        for start, end in reversed(work.groups()):
            if end > stop:
                continue
            used += sum(item.raw for item in work.items[start:end])
            if work.measure.size(used) > room:
                break
            stop = start
        return stop

    def _room(self, work: Work) -> float:
        """What the tail may have, in calibrated tokens."""
        if self.keep_tokens is None:
            return self.keep_tokens_ratio * work.target_tokens
        head = sum(item.raw for item in work.items[: work.head])
        fixed = work.measure.size(work.measure.tools_raw + head + self.max_summary_tokens)
        return min(self.keep_tokens, work.target_tokens - fixed)


def _room_for_reply(window: int, count: Callable[[Message], int], messages: Sequence[Message]) -> int:
    """What a window has left beside a request; 1 at least, for whoever sends it all the same."""
    return max(window - sum(map(count, messages)), 1)


def _start(work: Work) -> int:
    """Where the summarised span begins: behind the head, or where the earlier summary says."""
    if work.record is None or work.record.begin is None:
        return work.head
    begin = work.record.begin
    return sum(item.source is not None and item.source < begin for item in work.items[: begin + 1])


def _ends(work: Work, sources: Sequence[int], lengths: Sequence[int], begin: int) -> tuple[End | None, ...]:
    """Where a summary of the first chunks would end: before a group of the prompt, else nowhere."""
    starts = {work.items[start].source: start for start, _ in work.groups()}
    ends: list[End | None] = []
    for messages in accumulate(lengths):
        upto = sources[messages] if messages < len(sources) else None
        stop = starts.get(upto) if upto is not None and upto > begin else None
        ends.append(None if upto is None or stop is None else End(upto, stop, messages))
    return tuple(ends)


def _has_news(messages: Sequence[Message]) -> bool:
    """Whether there is anything to summarise that is not itself a stand-in of ours."""
    return any(not is_summary(message) and not is_marker(message) for message in messages)


def place_summary(work: Work, pending: PendingSummary, written: Written) -> str:
    """Put a written summary in the place of its span; says why not, and changes nothing, if it may not stand there."""
    record = _record(work, pending, written.text)
    kept = [work.messages[index] for index in work.kept_in(pending.start, pending.stop)]
    prompt = [*work.messages[: pending.start], summary_message(record), *kept, *work.messages[pending.stop :]]
    if written.problem or work.size_of(prompt) >= work.tokens:
        return written.problem or "not smaller than what it replaces"
    work.messages = prompt
    work.settle()
    work.record = record
    work.applied.append(f"{Summarize.name}({len(pending.span)} messages)")
    return ""


def _record(work: Work, pending: PendingSummary, text: str) -> SummaryRecord:
    room = min(_IDENTIFIER_TOKENS, work.budget_tokens * 6 // 100)
    lacking = missing_identifiers(pending.span, text, earlier=pending.earlier_identifiers, max_tokens=room)
    kept = _kept_sources(work, pending.start, pending.stop)
    begin = work.record.begin if work.record else None
    return SummaryRecord(pending.upto, work.transcript.digest(pending.upto), text, lacking, kept, begin)


def _kept_sources(work: Work, start: int, stop: int) -> tuple[int, ...]:
    """Indices in the transcript of what stays of the span: groups of the prompt with what is pinned or spared."""
    items = work.items
    sources = (items[index].source for index in work.kept_in(start, stop))
    return tuple(source for source in sources if source is not None)


def guessed(work: Work, pending: PendingSummary) -> Written:
    """What a summary may come to, for a plan that calls no model: a tenth of the span, at most what is asked for."""
    span = sum(map(work.count, pending.span))
    return Written("." * int(3.5 * min(pending.max_tokens, max(span // 10, 1))))
