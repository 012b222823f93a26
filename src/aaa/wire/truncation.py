"""Whether a server cut a prompt without saying so.

    sent, by our estimate  ────────────────────────────▶ 15,750
    read, by its usage     ──────▶ 2,051      far below: one sign.   2^11 + 3: a second one

One sign is never enough: estimates err (by 40 % where nothing was read yet), providers drop thinking of earlier turns,
and some healthy servers count only what was not in their cache. A second sign must be one that a cache cannot explain:

    the new messages alone are larger than what was read           holds for any cache
    the number read is a window: the known one, or 2^k and a few tokens (Ollama keeps half of `num_ctx`)
    twice the same number while the prompt grew                    unless it is what the prompt grew by
    twice in a row hardly more than before while the prompt grew   likewise
    the reply is empty, cut for its length

What should have been read is the last number that was whole and the estimate of what came since, so that neither what
the server adds of its own nor an estimate that is wrong from the start counts as a cut.

Source: ollama/ollama 3839, 17427; the source of Ollama, August 2026; Xiaomi MiMo as seen by others' clients.
"""

import msgspec
from msgspec.structs import replace

from aaa.messages import Usage
from aaa.wire.overflow import ContextOverflow

__all__ = ["NOTHING_SEEN", "Seen", "seen", "silent_truncation"]

_SMALLEST = 512  # tokens; below it what a server adds of its own is too much of the prompt
_FAR_BELOW = 0.6  # of an estimate with nothing to start from
_FAR_BELOW_ANCHORED = 0.75  # of one that starts from what was read whole
_WHOLE = 0.85  # of what was expected
_NEARLY = 0.9  # of a known window: a smaller prompt would have fitted
_SMALLEST_WINDOW = 2_048  # Ollama's, of old
_ABOVE_MARK = 8  # tokens kept beside a half of the window
_BELOW_KNOWN = 0.02  # of a known window: the rest of the message that did not fit
_LEAST_GROWTH = 64
_EXPLAINED = (0.6, 1.6)  # of the growth: read by a server that counts only what is new
_SLACK = 128


class Seen(msgspec.Struct, frozen=True):
    """What the calls of one conversation to one model showed so far; empty for another model or other tools.

    Units: tokens. `sent` is our estimate of the last prompt, `read` what the server counted of it; `whole_sent` and
    `whole_read` the same of the last prompt that was read whole; `most` the most that ever was; `stalls` how often in a
    row hardly more was read although more was sent.
    """

    sent: int = 0
    read: int = 0
    whole_sent: int = 0
    whole_read: int = 0
    most: int = 0
    stalls: int = 0


NOTHING_SEEN = Seen()


def silent_truncation(
    sent_estimate: int,
    usage: Usage | None,
    *,
    cached_reported: bool,
    window: int | None = None,
    finish_reason: str | None = None,
    before: Seen = NOTHING_SEEN,
) -> ContextOverflow | None:
    """The cut that a reply's usage gives away, or None; `before` is what `seen` made of the calls before this one.

    `cached_reported` says that the server counts what it has cached, or tells it apart (`usage.reports_cached`).
    `window` is the one the server was told or tells (`num_ctx`), if known. Usage that is found to be of a cut prompt
    must not calibrate a counter.

    Returns: `limit` is the window, or the most that is known to be read; `requested` our own estimate.
    """
    read = usage.prompt_tokens if usage else 0
    if usage is None or read <= 0 or sent_estimate < _SMALLEST:
        return None
    expected = _expected(sent_estimate, before)
    if window and read < _WHOLE * expected and expected >= _NEARLY * window and _is_at(read, window):
        return ContextOverflow(limit=window, requested=sent_estimate, kind="silent")
    if read >= (_FAR_BELOW_ANCHORED if before.whole_read else _FAR_BELOW) * expected:
        return None
    growth = _growth(sent_estimate, before)
    is_less_than_new = growth >= _SMALLEST and read < _least_read_of(growth, has_grown=read > before.read)
    is_empty = (finish_reason or "").lower() in ("length", "max_tokens") and usage.completion_tokens <= 1
    counts_new_only = not cached_reported and _EXPLAINED[0] * growth <= read <= _EXPLAINED[1] * growth + _SLACK
    if is_less_than_new or is_empty or (not counts_new_only and _is_stuck(read, growth, before)):
        return ContextOverflow(limit=max(read, before.most), requested=sent_estimate, kind="silent")
    return None


def seen(before: Seen, sent_estimate: int, usage: Usage | None, *, is_cut: bool = False) -> Seen:
    """What is known after one more call; `is_cut` if `silent_truncation` found one. Usage that is missing or zero
    teaches nothing."""
    read = usage.prompt_tokens if usage else 0
    if read <= 0:
        return before
    growth = _growth(sent_estimate, before)
    stalls = before.stalls + 1 if _is_stall(read, growth, before) else 0
    after = replace(before, sent=sent_estimate, read=read, stalls=stalls)
    grew = growth < _LEAST_GROWTH or read >= before.read + growth / 2
    least = (_WHOLE if before.whole_read else _FAR_BELOW) * _expected(sent_estimate, before)
    if is_cut or not grew or read < least:
        return after
    return replace(after, whole_sent=sent_estimate, whole_read=read, most=max(before.most, read))


def _expected(sent: int, before: Seen) -> float:
    """What a server that reads all should read: the last whole prompt, and what we sent more, or a part of it."""
    if not before.whole_read:
        return sent
    if sent >= before.whole_sent:
        return before.whole_read + sent - before.whole_sent
    return before.whole_read * sent / before.whole_sent


def _growth(sent: int, before: Seen) -> int:
    return sent - before.sent if before.sent else 0


def _least_read_of(growth: int, *, has_grown: bool) -> float:
    """What of the new messages must be read; less if more was read than before, for estimates of what is opaque."""
    return _EXPLAINED[0] * growth * (0.5 if has_grown else 1)


def _is_stuck(read: int, growth: int, before: Seen) -> bool:
    is_stall = _is_stall(read, growth, before)
    is_first = not before.read or read <= before.read + growth / 4
    is_same = is_stall and read == before.read
    return (_is_power_of_two_and_a_few(read) and is_first) or is_same or (is_stall and before.stalls > 0)


def _is_stall(read: int, growth: int, before: Seen) -> bool:
    return growth >= _LEAST_GROWTH and read <= before.read + growth / 4


def _is_at(read: int, window: int) -> bool:
    """Whether the window, or the half of it that Ollama keeps, was filled."""
    return any((1 - _BELOW_KNOWN) * mark <= read <= mark + _ABOVE_MARK for mark in (window, window // 2))


def _is_power_of_two_and_a_few(read: int) -> bool:
    mark = 1 << (read.bit_length() - 1)
    return mark >= _SMALLEST_WINDOW and read - mark <= _ABOVE_MARK
