"""How long a provider asks to wait, in any of the ways it can be said.

    retry-after-ms, retry-after            milliseconds, seconds, an HTTP date
    RetryInfo {"retryDelay": "37s"}        Gemini, in the body
    "Please try again in 6m0s"             in the text
    x-ratelimit-reset-…                    "1s", "6m0s", seconds, a time; of what has nothing remaining

Source: the providers' documentation of their rate limits, November 2026.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from aaa.wire.fault_body import Fault

__all__ = ["retry_after_seconds"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(r"(\d{1,12}(?:\.\d{1,12})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)")
_IN_TEXT = re.compile(
    r"(?:try again|retry|retrying|wait|available|resets?)(?: again)?(?: in| after| for)? {0,3}"
    r"((?:\d{1,12}(?:\.\d{1,12})? ?[a-z]{1,12} ?){1,4})"
)
_EPOCH_SECONDS, _EPOCH_MILLISECONDS = 10**9, 10**12
_DEEPEST = 8


def retry_after_seconds(fault: Fault) -> float | None:
    """Seconds to wait, never below 0; None if nothing is said. Times are compared with the reply's own date."""
    headers = fault.headers
    milliseconds = _plain_number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    for found in (_header(headers.get("retry-after", ""), headers), _retry_delay(fault.body), _in_text(fault.text)):
        if found is not None:
            return found
    return _reset(headers)


def _header(value: str, headers: Mapping[str, str]) -> float | None:
    """A number of seconds, a duration or a time."""
    number = _plain_number(value)
    if number is not None:
        return _since(number, headers) if number >= _EPOCH_SECONDS else number
    duration = _duration(value)
    if duration is not None or not value:
        return duration
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - _now(headers)).total_seconds())


def _since(epoch: float, headers: Mapping[str, str]) -> float:
    seconds = epoch / 1000 if epoch >= _EPOCH_MILLISECONDS else epoch
    return max(0.0, seconds - _now(headers).timestamp())


def _reset(headers: Mapping[str, str]) -> float | None:
    """The latest of the limits that have nothing remaining, or of all if they all have."""
    resets = {
        name: found for name, value in headers.items() if (found := _reset_seconds(name, value, headers)) is not None
    }
    empty = [found for name, found in resets.items() if headers.get(name.replace("reset", "remaining")) == "0"]
    return max(empty or resets.values(), default=None)


def _reset_seconds(name: str, value: str, headers: Mapping[str, str]) -> float | None:
    return (
        _header(value, headers) if "ratelimit" in name.replace("rate-limit", "ratelimit") and "reset" in name else None
    )


def _retry_delay(value: Any, depth: int = 0) -> float | None:
    """The `retryDelay` of Google's RetryInfo, wherever it is."""
    if depth > _DEEPEST:
        return None
    items: list[Any] = list(cast("list[Any]", value)) if isinstance(value, list) else []
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if isinstance(delay := fields.get("retryDelay"), str):
            return _duration(delay)
        items = [item for key, item in fields.items() if key in ("error", "details")]
    found = (_retry_delay(item, depth + 1) for item in items[:50])
    return next((seconds for seconds in found if seconds is not None), None)


def _in_text(text: str) -> float | None:
    found = _IN_TEXT.search(text.lower())
    return _duration(found[1]) if found else None


def _duration(text: str) -> float | None:
    """ "6m0s", "7.66s", "20ms", "30 seconds"; None if the text does not begin like that."""
    text = text.strip().lower()
    pieces = list(_PIECE.finditer(text))
    if not pieces or pieces[0].start() > 0:
        return None
    return sum(
        float(piece[1]) * _UNITS["ms" if piece[2].startswith(("ms", "mil")) else piece[2][0]] for piece in pieces
    )


def _plain_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,15}(?:\.\d{1,15})?", text.strip()) else None


def _moment(text: str) -> datetime | None:
    """An HTTP date or an ISO time; without a zone it is in UTC."""
    from email.utils import parsedate_to_datetime  # loads sockets and more, for a rare form

    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text.strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _now(headers: Mapping[str, str]) -> datetime:
    """The server's own time, which its times are compared with; ours if it does not say."""
    return _moment(headers.get("date", "")) or datetime.now(UTC)
