"""Whether a server cut a prompt without saying so.

    sent, by our estimate  ────────────────────────────▶ 15,750
    read, by its usage     ──────▶ 2,051      far below: one sign.   2^11 + 3: a second one

One sign is never enough: estimates err (by 40 % where nothing was learned yet), providers drop thinking of earlier
turns, and some healthy servers count only what was not in their cache. A second sign must be one that a cache cannot
explain:

    the new messages alone are larger than what was read          holds for any cache
    the number read is a window: the known one, or 2^k and a few tokens (Ollama keeps half of `num_ctx`)
    twice the same number while the prompt grew                   unless it is what the prompt grew by
    twice in a row hardly more than before while the prompt grew  likewise
    the reply is empty, cut for its length

Source: ollama/ollama 3839, 17427; the source of Ollama, August 2026; Xiaomi MiMo as seen by others' clients.
"""

import msgspec
from msgspec.structs import replace

from aaa.messages import Usage
from aaa.wire.overflow import ContextOverflow

__all__ = ["NOTHING_SEEN", "Seen", "seen", "silent_truncation"]

_SMALLEST = 512  # tokens; below it what a server adds of its own is too much of the prompt
_FAR_BELOW = 0.6  # of an estimate that nothing corrected yet
_FAR_BELOW_LEARNED = 0.75  # of one corrected by what this server read of this conversation
_FAR_BELOW_KNOWN = 0.85  # at a window that is known
_WHOLE = (0.5, 3.0)  # read for each estimated token, where the whole prompt was read
_NEARLY = 0.9  # of a known window: less would have fitted
_DRIFT = 0.85  # of the ratio learned: what a change of content explains
_SMALLEST_WINDOW = 2_048  # Ollama's, of old
_ABOVE_MARK = 8  # tokens kept beside a half of the window
_BELOW_KNOWN = 0.02  # of a known window: the rest of the message that did not fit
_LEAST_GROWTH = 64
_EXPLAINED = (0.6, 1.6)  # of the growth: read by a server that counts only what is new
_SLACK = 128


class Seen(msgspec.Struct, frozen=True):
    """What the calls of one conversation to one model showed so far; empty for another model or tools.

    Units: tokens. `sent` is our estimate of the last prompt, `read` what the server counted of it; `ratio` read for
    each estimated token the last time all was read (0 before), `whole` the most that was ever read whole; `stalls` how
    often in a row hardly more was read although more was sent.
    """

    sent: int = 0
    read: int = 0
    ratio: float = 0.0
    whole: int = 0
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
    expected = sent_estimate * (before.ratio or 1.0)
    growth = (sent_estimate - before.sent) * (before.ratio or 1.0) if before.sent else 0.0
    explained = not cached_reported and _EXPLAINED[0] * growth <= read <= _EXPLAINED[1] * growth + _SLACK
    if window and _is_at(read, window) and expected >= max(read / _FAR_BELOW_KNOWN, _NEARLY * window):
        return ContextOverflow(limit=window, requested=sent_estimate, kind="silent")
    if read >= (_FAR_BELOW_LEARNED if before.ratio else _FAR_BELOW) * expected:
        return None
    signs = (
        growth >= _SMALLEST and read < (_EXPLAINED[0] if read <= before.read else _EXPLAINED[0] / 2) * growth,
        _is_power_of_two_and_a_few(read) and not explained,
        growth >= _LEAST_GROWTH and read == before.read and not explained,
        _is_stall(read, growth, before) and before.stalls >= 1 and not explained,
        (finish_reason or "").lower() in ("length", "max_tokens") and usage.completion_tokens <= 1,
    )
    return (
        ContextOverflow(limit=max(read, before.whole), requested=sent_estimate, kind="silent") if any(signs) else None
    )


def seen(before: Seen, sent_estimate: int, usage: Usage | None, *, is_cut: bool = False) -> Seen:
    """What is known after one more call; `is_cut` if `silent_truncation` found one. Usage that is missing or zero
    teaches nothing."""
    read = usage.prompt_tokens if usage else 0
    if read <= 0:
        return before
    growth = (sent_estimate - before.sent) * (before.ratio or 1.0) if before.sent else 0.0
    stalls = before.stalls + 1 if _is_stall(read, growth, before) else 0
    after = replace(before, sent=sent_estimate, read=read, stalls=stalls)
    ratio = read / max(sent_estimate, 1)
    grew = growth < _LEAST_GROWTH or read >= before.read + growth / 2
    is_likely = max(_WHOLE[0], _DRIFT * before.ratio) <= ratio <= _WHOLE[1]
    if is_cut or stalls or not grew or not is_likely or sent_estimate < _SMALLEST:
        return after
    return replace(after, ratio=ratio, whole=max(before.whole, read))


def _is_stall(read: int, growth: float, before: Seen) -> bool:
    return growth >= _LEAST_GROWTH and read <= before.read + growth / 4


def _is_at(read: int, window: int) -> bool:
    """Whether the window, or the half of it that Ollama keeps, was filled."""
    return any((1 - _BELOW_KNOWN) * mark <= read <= mark + _ABOVE_MARK for mark in (window, window // 2))


def _is_power_of_two_and_a_few(read: int) -> bool:
    mark = 1 << (read.bit_length() - 1)
    return mark >= _SMALLEST_WINDOW and read - mark <= _ABOVE_MARK
