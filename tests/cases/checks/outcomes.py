"""Checks on errors, warnings, histories, and on runs of several calls."""

from collections.abc import Callable, Mapping
from typing import Any

from aaa.errors import RequestTooLarge
from aaa.messages import Message
from tests.cases.checks.kinds import is_kind
from tests.cases.checks.pairs import pairs_ok
from tests.cases.checks.pieces import amount, briefly, pieces, summary_texts
from tests.cases.checks.registry import check
from tests.cases.found import Found

Expected = Mapping[str, Any]


@check("no_raise")
def no_raise(found: Found, expected: Expected) -> str | None:
    return None if found.error is None else f"{type(found.error).__name__}: {briefly(str(found.error))}"


@check("raises", "raises_or_warns", "warns")
def raises(found: Found, expected: Expected) -> str | None:
    error, kind = found.error, expected["kind"]
    is_so = is_kind(kind)
    if is_so is None:
        return f"no kind of error {kind!r}"
    is_it = error is not None and is_so(error)
    numbers = [expected[key] for key in ("used", "limit") if key in expected]
    if is_it and expected["check"] != "warns":
        missing = [n for n in numbers if not _names(error, n)]
        return f"the error does not name {missing}: {briefly(str(error))}" if missing else None
    if expected["check"] != "raises" and any(_WARNINGS.get(kind, kind) in line for line in found.warnings):
        return None if len(found.warnings) == 1 else f"{len(found.warnings)} warnings"
    return f"raised {type(error).__name__}: {briefly(str(error))}" if error is not None else "nothing was raised"


_WARNINGS = {"cannot_fit": "head", "config_error": "reserve", "fixed_too_large": "head"}


def _names(error: Exception, number: int) -> bool:
    """Whether an error has a number, in its text or within one in a hundred in one of its fields."""
    if f"{number:,}" in str(error) or str(number) in str(error):
        return True
    fields = [value for value in vars(error).values() if isinstance(value, int)]
    return any(abs(value - number) <= number / 100 for value in fields)


@check("never")
def never(found: Found, expected: Expected) -> str | None:
    """Instructions are never cut: they are whole in the prompt, or there is none."""
    if found.error is not None:
        return None
    given = [message.text for message in found.before if message.is_system]
    return None if [m.text for m in found.prompt if m.is_system] == given else "a system text was changed"


@check("if_shortened")
def if_shortened(found: Found, expected: Expected) -> str | None:
    if found.error is not None:
        return None
    given = [message.text for message in found.before if message.role == "user"][-1]
    sent = [message.text for message in found.prompt if message.role == "user" and message.kind is None][-1]
    if given == sent:
        return None
    is_cut = sent.startswith(given[:10]) and sent.endswith(given[-3:]) and " cut " in sent
    return None if is_cut else "the user's text was changed without both ends and a note"


@check("error_class")
def error_class(found: Found, expected: Expected) -> str | None:
    wanted = expected["value"] if isinstance(expected["value"], list) else [expected["value"]]
    wrong = [name for name in found.facts["classes"] if name not in wanted]
    if wrong:
        return f"found {wrong[0]}"
    overflow = found.facts.get("overflow")
    fields = {"limit": "limit", "used": "requested", "requested_output": "output", "excess": "excess"}
    for theirs, ours in fields.items():
        if theirs in expected and getattr(overflow, ours, None) != expected[theirs]:
            return f"{theirs} is {getattr(overflow, ours, None)}"
    return None


@check("retry_max_tokens_at_most")
def retry_max_tokens_at_most(found: Found, expected: Expected) -> str | None:
    room = found.facts["overflow"].room_for_output
    return None if room is not None and 0 < room <= expected["value"] else f"found {room}"


@check("retry_same")
def retry_same(found: Found, expected: Expected) -> str | None:
    value = getattr(found.error, "is_transient", False)
    return None if value is expected["value"] else f"found {value}"


@check("recovery_includes")
def recovery_includes(found: Found, expected: Expected) -> str | None:
    is_told = isinstance(found.error, RequestTooLarge) and expected["value"] in str(found.error)
    return None if is_told else f"the error does not say so: {briefly(str(found.error))}"


@check("window_after")
def window_after(found: Found, expected: Expected) -> str | None:
    window = found.facts["window"]
    return None if window == expected["value"] else f"it is {window:,}"


@check("not_final")
def not_final(found: Found, expected: Expected) -> str | None:
    return None if found.facts["overflow"] is not None else "it is taken for a whole answer"


@check("detects")
def detects(found: Found, expected: Expected) -> str | None:
    return None if found.value == expected["value"] else f"found {found.value}"


@check("learned_window_at_most")
def learned_window_at_most(found: Found, expected: Expected) -> str | None:
    learned = found.facts["learned"]
    return None if learned and learned <= expected["value"] else f"found {learned}"


@check("request_field")
def request_field(found: Found, expected: Expected) -> str | None:
    value: Any = found.facts["body"]
    for key in expected["path"].split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return None if value == expected["equals"] else f"it is {value}"


@check("one_of")
def one_of(found: Found, expected: Expected) -> str | None:
    if any(_is_option(found, option) for option in expected["options"]):
        return None
    return f"none of them: {briefly(found.value) if found.value is not None else briefly(str(found.error))}"


def _is_option(found: Found, option: str) -> bool:
    """Whether that is what came of it; what has no rule here is a value."""
    return _OPTIONS[option](found) if option in _OPTIONS else found.value == option


def _is_refused_setting(error: Exception | None) -> bool:
    is_so = is_kind("config_error")
    return error is not None and is_so is not None and is_so(error)


def _is_without_ids(found: Found) -> bool:
    return all("id" not in turn for turn in found.turns if turn.get("type", "message") == "message")


def _is_flat(found: Found) -> bool:
    return not any(message.tool_calls or message.role == "tool" for message in found.prompt)


_OPTIONS: dict[str, Callable[[Found], bool]] = {
    "config_error": lambda found: _is_refused_setting(found.error),
    "capped": lambda found: isinstance(found.value, int) and found.value > 0,
    "empty": lambda found: found.error is None and not found.turns,
    "drop_call": lambda found: pairs_ok(found, {}) is None,
    "synthetic_result": lambda found: pairs_ok(found, {}) is None,
    "keep_pair": lambda found: any(turn.get("type") == "reasoning" for turn in found.turns),
    "strip_id": _is_without_ids,
    "send_tools": lambda found: bool(found.facts["first_request"].tools),
    "flatten": _is_flat,
}


@check("history_unchanged")
def history_unchanged(found: Found, expected: Expected) -> str | None:
    """Nothing stands for anything: the next prompt is made of the same messages as before."""
    if found.history is None:
        return None
    before = found.facts.get("history_before", found.before)
    return None if list(found.history) == list(before) else f"{len(before)} became {len(found.history)}"


@check("log_complete")
def log_complete(found: Found, expected: Expected) -> str | None:
    given = found.given_format.read(found.case["messages"])
    if list(found.before) != given:
        return "the history was changed"
    return None if found.facts["given_again"] == given else "the large model is not given all of it"


@check("equals_live")
def equals_live(found: Found, expected: Expected) -> str | None:
    return None if found.prompt == found.facts["live"] else "another prompt than before the restart"


@check("state_is")
def state_is(found: Found, expected: Expected) -> str | None:
    states, old = found.facts["states"], found.facts["old"]
    new = states.get("after_commit")
    wrong = [place for place, texts in states.items() if texts not in (old, new)]
    return f"after a crash at {wrong[0]} it is neither" if wrong else None


@check("state_equals")
def state_equals(found: Found, expected: Expected) -> str | None:
    state = found.facts["state"]
    wrong = [key for key, value in expected.items() if key not in ("check", "say") and state.get(key) != value]
    return f"{wrong} are lost" if wrong else None


@check("not_committed")
def not_committed(found: Found, expected: Expected) -> str | None:
    return "a summary stands in the prompt" if any("<record" in text for text in pieces(found.prompt)) else None


@check("log_unique")
def log_unique(found: Found, expected: Expected) -> str | None:
    texts = [message.text for message in found.before]
    return None if len(texts) == len(set(texts)) else "a message is there twice"


@check("calls_at_most", "calls_at_least", "calls")
def calls_at_most(found: Found, expected: Expected) -> str | None:
    counts = {
        "summarizer": len(found.summarizer.requests),
        "provider": len(found.provider.requests),
        "compact": found.facts.get("compactions", 0),
    }
    is_least = expected["check"] == "calls_at_least"
    wanted = {"at_least": expected["n"]} if is_least else expected
    return amount(counts[expected["what"]], wanted, "calls")


@check("guard_resets")
def guard_resets(found: Found, expected: Expected) -> str | None:
    return None if found.facts["recovers"] else "a later overflow is not answered"


@check("request_contains")
def request_contains(found: Found, expected: Expected) -> str | None:
    if len(found.requests) < expected["n"]:
        return f"there were {len(found.requests)} requests"
    texts = pieces(found.requests[expected["n"] - 1].messages)
    return None if any(expected["text"] in text for text in texts) else "it is not in there"


@check("every_request_keeps")
def every_request_keeps(found: Found, expected: Expected) -> str | None:
    for number, request in enumerate(found.requests, 1):
        if request.messages[0].text != expected["text"]:
            return f"request {number} begins otherwise"
    return None if found.requests else "there was no request"


@check("every_request_once")
def every_request_once(found: Found, expected: Expected) -> str | None:
    for number, request in enumerate(found.requests, 1):
        count = sum(text.count(expected["text"]) for text in pieces(request.messages))
        if count != 1:
            return f"request {number} has it {count} times"
    return None if found.requests else "there was no request"


@check("every_request_fits")
def every_request_fits(found: Found, expected: Expected) -> str | None:
    largest, budget = max(found.facts["sizes"]), found.facts["budget"]
    return None if largest <= budget else f"{largest:,} of {budget:,}"


@check("prefix_append_only")
def prefix_append_only(found: Found, expected: Expected) -> str | None:
    before: tuple[Message, ...] = ()
    for number, request in enumerate(found.requests, 1):
        if request.messages[: len(before)] != before:
            return f"request {number} does not begin with the one before it"
        before = request.messages
    return None


@check("clear_events_at_most")
def clear_events_at_most(found: Found, expected: Expected) -> str | None:
    count = sum(any("clear" in name for name in plan.applied) for plan in found.facts["plans"])
    return None if count <= expected["n"] else f"{count} times"


@check("below_after")
def below_after(found: Found, expected: Expected) -> str | None:
    compacted = [size for size, plan in zip(found.facts["sizes"], found.facts["plans"], strict=True) if plan.applied]
    if not compacted:
        return "nothing was compacted"
    return None if max(compacted) < expected["value"] else f"{max(compacted):,} after a pass"


@check("no_repeat_input")
def no_repeat_input(found: Found, expected: Expected) -> str | None:
    texts = [text for text in {message.text for message in found.before} if len(text) > 20]
    for text in texts:
        count = sum(text[:3000] in sent for sent in summary_texts(found))
        if count > 1:
            return f"{briefly(text, 30)!r} was handed over {count} times"
    return None
