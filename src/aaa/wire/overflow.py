"""Whether a provider refused a prompt because it does not fit, and the numbers it gave.

    messages, outermost first ── a row of EXACT ──────────▶ overflow, with its numbers
              │ no row            ── words of LOOK_ALIKES ──▶ none: rate limit, output cap, media, a long string
              └─ words of GENERAL ───────────────────────────▶ overflow; numbers where they are beyond doubt
    no message decides ── CODES, a status of 413 ────────────▶ overflow

A status decides little: overflows come with 200, 400, 413, 422, 500 and 503, rate limits with 400 and 413 too. But 413
means "too many bytes" where nothing says otherwise; 402 that what is paid for does not reach, whatever the words
(OpenRouter: "Prompt tokens limit exceeded: 14000 > 9000. To increase, … upgrade"); and under 429, 401 and 403 words of
GENERAL are those of a rate limit ("Too many tokens") or of keys. A prompt that fits, with more output asked for than
the whole window, is none either: a smaller prompt does not help.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from aaa.messages import Message, Usage
from aaa.wire.fault_body import Fault
from aaa.wire.overflow_look_alikes import LOOK_ALIKES
from aaa.wire.overflow_texts import EXACT, Kind, plain
from aaa.wire.overflow_words import CODES, COMPARED, GENERAL, GENERAL_BYTES, GENERAL_LIMITS, GENERAL_NUMBERS

__all__ = ["ContextOverflow", "look_alike", "overflow_of_finish", "recognize"]

_NO_BODY = re.compile(r"^(?:error:? ?)?(?:\d{3})? ?(?:status code)? ?\(no body\)$")
_FULL = frozenset({"model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded"})
_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
_NEARLY_FULL = 0.95  # of the window; the rest is what a server keeps for itself
_LONGEST_SENTENCE = 4_096  # in which numbers belong together
_BARE_IS_OVERFLOW = "cerebras"
_UNPAID = 402
_OF_OTHERS = frozenset((401, 403, 429))


class ContextOverflow(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that does not fit.

    Units: tokens; bytes (or characters) where `kind` is "bytes". `requested` is the prompt alone, or with
    `counts_output` the prompt and the `output` asked for; it can be below `limit` when only the two together are above.
    vLLM stops counting one above its limit: its number is then the least it can be. `excess` is what the prompt has too
    much, from providers that give only that; with a limit it is also in `requested`. "silent" is a server that cut the
    prompt, or was filled by it, without an error.
    """

    limit: int | None = None
    requested: int | None = None
    counts_output: bool = False
    kind: Kind = "tokens"
    excess: int | None = None
    output: int | None = None

    @property
    def room_for_output(self) -> int | None:
        """Tokens that are left for a reply where the prompt itself fits: asking for no more is enough. Else None."""
        if self.kind != "tokens" or self.counts_output or not self.limit or not self.requested:
            return None
        return self.limit - self.requested if self.requested < self.limit else None


def recognize(fault: Fault, *, provider: str = "") -> ContextOverflow | None:
    """The overflow that `fault` is, or None. `provider` decides what an empty 400 or 413 means: Cerebras sends its
    overflows without a body to some clients; elsewhere an empty 413 is one of bytes, and an empty 400 says nothing."""
    if fault.status == _UNPAID:
        return None
    messages = [text for text in map(plain, fault.messages) if not _NO_BODY.match(text)]
    if found := _of_llama_server(fault):
        return found
    for text in messages:
        if found := _exact(text):
            return None if _asks_too_much_output(found) else found
        if _look_alike(text):
            return None
        if fault.status not in _OF_OTHERS and (found := _general(text)):
            return found
    return _of_codes(fault, messages, provider)


def look_alike(fault: Fault) -> str | None:
    """What `fault` is instead, if its words are those of an overflow: "rate", "output", "field", "media" or "shared
    cache"; "output" also for a prompt that fits with more output than the window holds."""
    for text in map(plain, fault.messages):
        if (found := _exact(text)) and _asks_too_much_output(found):
            return "output"
        if kind := _look_alike(text):
            return kind
    return next((kind for code in fault.words if (kind := _look_alike(code))), None)


def overflow_of_finish(
    finish_reason: str | None, message: Message | None, usage: Usage | None, *, window: int | None = None
) -> ContextOverflow | None:
    """The overflow that a reply of status 200 admits to.

    Either it says so (Anthropic and z.ai: the window was full before the reply was complete), or it stopped for its
    length with nothing said: the prompt filled the window, which MiMo and others cut it to. Without a `window` to
    compare with, only a reply of no tokens at all counts as that.
    """
    reason = (finish_reason or "").lower()
    prompt, completion = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    if reason in _FULL:
        limit = prompt + completion if completion else window
        return ContextOverflow(limit=limit or None, requested=prompt or None)
    if reason not in _CUT or not prompt or (message is not None and (message.content or message.tool_calls)):
        return None
    is_full = completion <= 1 and prompt >= _NEARLY_FULL * window if window else completion == 0
    return ContextOverflow(limit=window or prompt, kind="silent") if is_full else None


def _of_llama_server(fault: Fault) -> ContextOverflow | None:
    """llama-server gives its numbers as fields, in every build; early ones under status 500."""
    if "exceed_context_size_error" not in fault.words:
        return None
    prompt, limit = fault.numbers.get("n_prompt_tokens"), fault.numbers.get("n_ctx")
    if prompt is None or limit is None:
        return None
    return ContextOverflow(limit=limit or None, requested=prompt or None)


def _exact(text: str) -> ContextOverflow | None:
    """The row that matches with most numbers; the first of those that give as many. One without any may stand in a
    text that has them."""
    matches = [(row, found.groupdict()) for row in EXACT if (found := row.pattern.search(text))]
    if not matches:
        return None
    row, groups = max(matches, key=lambda match: sum(name != "number" for name in match[1]))
    if not groups and row.kind == "tokens":
        return _with_numbers(text)
    return _overflow({name: _number(value) for name, value in groups.items()}, row.kind)


def _overflow(numbers: dict[str, int], kind: Kind) -> ContextOverflow:
    limit, total = numbers.get("limit") or None, numbers.get("total")
    prompt, excess = numbers.get("prompt"), numbers.get("excess")
    if prompt is not None:
        prompt += numbers.get("tools", 0)
    elif excess is not None and limit is not None:
        prompt = limit + excess
    return ContextOverflow(
        limit=limit,
        requested=total if prompt is None else prompt,
        counts_output=prompt is None and total is not None,
        kind=kind,
        excess=excess,
        output=numbers.get("output"),
    )


def _asks_too_much_output(found: ContextOverflow) -> bool:
    limit, output = found.limit or 0, found.output or 0
    return 0 < limit <= output and not (found.requested is not None and found.requested >= limit)


def _general(text: str) -> ContextOverflow | None:
    if _any(GENERAL, text):
        return _with_numbers(text)
    if found := _numbers(COMPARED, text):
        return found
    return ContextOverflow(kind="bytes") if _any(GENERAL_BYTES, text) else None


def _with_numbers(text: str) -> ContextOverflow:
    if found := _numbers(GENERAL_NUMBERS, text):
        return found
    alone = next((found for pattern in GENERAL_LIMITS if (found := pattern.search(text[:_LONGEST_SENTENCE]))), None)
    return ContextOverflow(limit=_number(alone["limit"]) or None if alone else None)


def _numbers(patterns: Iterable[re.Pattern[str]], text: str) -> ContextOverflow | None:
    """The first numbers of a prompt and of a limit below it."""
    for pattern in patterns:
        if found := pattern.search(text[:_LONGEST_SENTENCE]):
            prompt, limit = _number(found["prompt"]), _number(found["limit"])
            if prompt > limit > 0:
                return ContextOverflow(limit=limit, requested=prompt)
    return None


def _of_codes(fault: Fault, messages: Sequence[str], provider: str) -> ContextOverflow | None:
    if any(map(_look_alike, fault.words)):
        return None
    for code in (*fault.words, *messages):
        if code in CODES:
            return ContextOverflow(kind=CODES[code])
    if not messages and not fault.codes and provider == _BARE_IS_OVERFLOW and fault.status in (400, 413):
        return ContextOverflow()
    return ContextOverflow(kind="bytes") if fault.status == 413 else None


def _look_alike(text: str) -> str | None:
    return next((kind for kind, pattern in LOOK_ALIKES.items() if pattern.search(text)), None)


def _any(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))
