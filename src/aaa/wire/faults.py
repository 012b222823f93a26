"""The error of `aaa.errors` that a provider's refusal or failure is.

    fault_from(status, headers, body) ──▶ Fault ── recognize ──▶ ContextOverflowError, RequestTooLarge
                                            │ no overflow
                                            └─ words, then codes, then status ──▶ RateLimitError, OutputLimitError, …

Words come before codes and codes before the status, since gateways and streams lose them in that order: last of all the
text. What a provider says is quoted without keys and without what it quotes of a prompt.
"""

import re
from collections.abc import Callable

from aaa.errors import (
    AaaError,
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    OutputLimitError,
    ProviderError,
    RateLimitError,
    RequestTooLarge,
    ServerError,
    quoted,
)
from aaa.wire.fault_body import Fault, fault_from
from aaa.wire.overflow import ContextOverflow, look_alike, recognize
from aaa.wire.overflow_texts import plain
from aaa.wire.retry_after import retry_after_seconds

__all__ = ["Fault", "error_from", "fault_from"]

_LONGEST_SAID = 4_096  # above it a text is not a sentence but something that was sent

_PAGE = re.compile(r"<(?:!doctype|html|head)\b", re.IGNORECASE)  # of a web server in front
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,15})\b"
_ASKED = re.compile(rf"\blimit:? ?{_COUNT},?.{{0,80}}?\brequested:? ?{_COUNT}")
_NO_LIMIT = re.compile(r"\blimit: 0\b")  # Gemini: the plan has none of this model
_SPENT = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|credit balance is too low|billing[ _](?:hard[ _]limit|error)"
    r"|(?:never purchased|not enough|out of|add more) credits|current quota, please check your plan|余额不足"
)
_KEY = re.compile(
    r"\b(?:api[ _-]?key|x-api-key|credentials?|access token|authentication token)\b.{0,40}?"
    r"\b(?:invalid|incorrect|not valid|missing|expired|revoked|required|not found)"
    r"|\b(?:invalid|incorrect|missing|expired|no)(?: \w{1,20})? (?:api[ _-]?key|x-api-key|credentials|access token)\b"
    r"|api_key_invalid|\bunauthorized\b|令牌"
)
_LENGTHS = re.compile(r"string with maximum length (\d{1,15}), but got a string with length (\d{1,15})")
_SHORTEST_TEXT_LIMIT = 100_000  # characters; ids and names have limits of tens
_BUSY = re.compile(r"\boverloaded\b|temporarily unavailable|at capacity|server is busy|service unavailable")
_MALFORMED = re.compile(r"failed to parse tool call arguments|image input is not supported|unable to generate parser")
"""llama-server answers 500 to some requests that can never succeed (measured)."""

_CLASSES: tuple[tuple[re.Pattern[str], type[ProviderError]], ...] = (
    (re.compile(r"authentication|permission|unauth|accessdenied|forbidden|expiredtoken|api_key"), AuthenticationError),
    (re.compile(r"resource_?exhausted|billing"), RateLimitError),
    (re.compile(r"overloaded|internal|unavailable|server_?error|api_error|timeout|deadline|modelstream"), ServerError),
    (re.compile(r"invalid|validation|bad_?request|not_?found|unprocessable|failed_?pre"), InvalidRequestError),
)
_PASSES = frozenset({409, 425})  # conflicts and too early: the same request may succeed


def error_from(fault: Fault, *, provider: str) -> AaaError:
    """The error that `fault` is. `provider` stands in its text; to be raised `from` the SDK's exception.

    A rate limit that the request is above by itself, and a quota that is spent, are not transient. Where nothing tells
    the kind, it is a plain `ProviderError`.
    """
    overflow = recognize(fault, provider=provider)
    if overflow is not None:
        return _overflow_error(fault, overflow, provider)
    kind, words = look_alike(fault), plain(fault.text)
    if kind == "output":
        return _error(OutputLimitError, fault, provider)
    if kind == "field" and (lengths := _text_lengths(words)) is not None:
        return RequestTooLarge(_problem(fault, provider), limit=lengths[0], requested=lengths[1])
    if kind == "media":  # its numbers are of one picture, or of pictures: not the bytes of a request
        return RequestTooLarge(_problem(fault, provider))
    if kind == "field" or _MALFORMED.search(words):
        return _error(InvalidRequestError, fault, provider)
    if kind == "rate" or fault.status in (402, 429) or _is_spent(fault, words):
        return _rate_limit(fault, words, provider)
    if kind == "shared cache":
        return _error(ServerError, fault, provider)
    return _error(_class_of(fault, words), fault, provider, is_transient=True if fault.status in _PASSES else None)


def _text_lengths(words: str) -> tuple[int, int] | None:
    """The most characters one text may have, and what it has; None for what is no text: an id, a list."""
    found = _LENGTHS.search(words)
    limit, length = (int(count) for count in found.groups()) if found else (0, 0)
    return (limit, length) if limit >= _SHORTEST_TEXT_LIMIT else None


def _overflow_error(fault: Fault, overflow: ContextOverflow, provider: str) -> ContextOverflowError:
    problem = _problem(fault, provider)
    if overflow.kind == "bytes":
        return RequestTooLarge(problem, limit=overflow.limit, requested=overflow.requested)
    return ContextOverflowError(
        problem,
        limit=overflow.limit,
        requested=overflow.requested,
        counts_output=overflow.counts_output,
        kind=overflow.kind,
    )


def _rate_limit(fault: Fault, words: str, provider: str) -> ProviderError:
    asked = _ASKED.search(words)
    limit, requested = (int(count.replace(",", "")) for count in asked.groups()) if asked else (0, 0)
    numbers = f"limit {limit}, requested {requested}" if asked else ""
    is_hopeless = requested > limit or _is_spent(fault, words) or bool(_NO_LIMIT.search(words))
    return _error(RateLimitError, fault, provider, is_transient=not is_hopeless, numbers=numbers)


def _is_spent(fault: Fault, words: str) -> bool:
    """Whether a quota or a balance is used up. Gemini says so of limits a minute too, but then when to try again."""
    if fault.status == 402 or any(_SPENT.search(code) for code in fault.words):
        return True
    return bool(_SPENT.search(words)) and retry_after_seconds(fault) is None


def _class_of(fault: Fault, words: str) -> type[ProviderError]:
    """By the words that leave no doubt, then the status, then the codes."""
    status = fault.status or 0
    if status in (401, 403) or (status < 500 and (_KEY.search(words) or "api_key_invalid" in fault.words)):
        return AuthenticationError
    if status >= 500 or status in (408, 498, 499) or _BUSY.search(words):
        return ServerError
    if status >= 400:
        return InvalidRequestError
    found = (kind for code in fault.words for pattern, kind in _CLASSES if pattern.search(code))
    return next(found, ProviderError)


def _error(
    kind: type[ProviderError], fault: Fault, provider: str, *, is_transient: bool | None = None, numbers: str = ""
) -> ProviderError:
    make: Callable[..., ProviderError] = kind
    waits = issubclass(kind, RateLimitError | ServerError) or is_transient
    return make(
        _problem(fault, provider, numbers),
        status_code=fault.status,
        code=_code(fault),
        retry_after=retry_after_seconds(fault) if waits else None,
        is_transient=is_transient,
    )


def _problem(fault: Fault, provider: str, numbers: str = "") -> str:
    """ "groq: 413, rate_limit_exceeded, limit 8000, requested 14137: Request too large for model …" """
    facts = [str(fault.status or ""), _code(fault) or "", numbers]
    said = quoted(_said(fault)) or "no reason given"
    return f"{provider}: {', '.join(filter(None, facts)) or 'failed'}: {said}"


def _said(fault: Fault) -> str:
    text = fault.text
    if _PAGE.match(text):
        title = re.search(r"<title>([^<]{1,200})", text, re.IGNORECASE)
        return title[1] if title else "a page of HTML"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SAID else f"{text[:80]}[...]"


def _code(fault: Fault) -> str | None:
    """The most telling of the codes: types come before codes, and exceptions have no underscores."""
    codes = [code for code in fault.codes if not code.isdigit() and code not in ("error", "response.failed", "failed")]
    return quoted(next((code for code in reversed(codes) if "_" in code), codes[0])) if codes else None
