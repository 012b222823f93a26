"""Checks on numbers: sizes, counts, times."""

import json
import math
from collections.abc import Mapping
from typing import Any

from tests.cases.checks.pieces import briefly
from tests.cases.checks.registry import check
from tests.cases.counters import CharCounter, counter_of
from tests.cases.found import Found

Expected = Mapping[str, Any]


def _value(found: Found, expected: Expected) -> Any:
    value = found.value
    for key in expected["path"].split(".") if "path" in expected else ():
        value = value[key]
    return value


@check("equals")
def equals(found: Found, expected: Expected) -> str | None:
    value = _value(found, expected)
    if isinstance(expected["value"], bool) and value is not expected["value"]:
        return f"found {value}"
    return None if value == expected["value"] else f"found {briefly(value)}"


@check("not_equals")
def not_equals(found: Found, expected: Expected) -> str | None:
    if found.error is not None:
        return None
    return f"found {found.value}" if found.value == expected["value"] or found.value < 0 else None


@check("at_most")
def at_most(found: Found, expected: Expected) -> str | None:
    value = _value(found, expected)
    return None if value <= expected["value"] else f"found {value:,}"


@check("at_least")
def at_least(found: Found, expected: Expected) -> str | None:
    value = _value(found, expected)
    return None if value >= expected["value"] else f"found {value:,}"


@check("between")
def between(found: Found, expected: Expected) -> str | None:
    value = _value(found, expected)
    return None if expected["lo"] <= value <= expected["hi"] else f"found {value:,}"


@check("equal_counts")
def equal_counts(found: Found, expected: Expected) -> str | None:
    first, second = (found.value[place] for place in expected["of"])
    return None if first == second else f"found {first:,} and {second:,}"


@check("more")
def more(found: Found, expected: Expected) -> str | None:
    first, second = (found.value[place] for place in expected["of"])
    return None if first > second else f"found {first:,} and {second:,}"


@check("finite")
def finite(found: Found, expected: Expected) -> str | None:
    return None if math.isfinite(found.value) else f"found {found.value}"


@check("exact")
def exact(found: Found, expected: Expected) -> str | None:
    counts = found.facts["exact"]
    wrong = {name: count for name, count in counts.items() if name in expected and count != expected[name]}
    return f"counted {wrong}" if wrong else None


@check("estimate_at_least")
def estimate_at_least(found: Found, expected: Expected) -> str | None:
    estimate = found.facts["estimate"]
    return None if estimate >= expected["value"] else f"estimated {estimate}"


@check("safety")
def safety(found: Found, expected: Expected) -> str | None:
    """Once a provider has counted it, the default counter is not below that any more."""
    low, actual = found.facts["calibrated"], max(found.facts["exact"].values())
    return None if low >= actual else f"calibrated to {low:,} of {actual:,}"


def _budget(found: Found) -> int:
    return found.case["window"] - found.case.get("reserve_output", 0)


@check("fits", "fits_or_error")
def fits(found: Found, expected: Expected) -> str | None:
    if found.error is not None and expected["check"] == "fits_or_error":
        numbers = getattr(found.error, "needed_tokens", 0), getattr(found.error, "budget_tokens", 0)
        return None if numbers[0] > numbers[1] > 0 else f"{type(found.error).__name__} without numbers"
    if "max_messages" in found.case:
        count = len(found.turns)
        return None if count <= found.case["max_messages"] else f"{count} messages"
    if "summaries" in found.facts:
        return every_summary_request_fits(found, expected)
    size = counter_of(found.case).count(found.prompt, found.tools)
    return None if size <= _budget(found) else f"{size:,} tokens; the budget is {_budget(found):,}"


@check("every_summary_request_fits")
def every_summary_request_fits(found: Found, expected: Expected) -> str | None:
    window = found.case.get("window", found.case.get("to_window"))
    counter = counter_of(found.case)
    for number, request in enumerate(found.summarizer.requests, 1):
        size = counter.count(request.messages) + request.params["max_tokens"]
        if size > window:
            return f"request {number} has {size:,} tokens, output included; the window is {window:,}"
    return None


@check("first_request_fits")
def first_request_fits(found: Found, expected: Expected) -> str | None:
    size = counter_of(found.case).count(found.prompt)
    return None if size <= expected["value"] else f"{size:,} tokens"


@check("at_most_tokens")
def at_most_tokens(found: Found, expected: Expected) -> str | None:
    if "tokens" in found.facts:
        pairs = zip(found.facts["tokens"], found.case["max_tokens"], strict=True)
        return None if all(count <= limit for count, limit in pairs) else f"found {found.facts['tokens']}"
    size = counter_of(found.case).count(found.prompt)
    return None if size <= expected["value"] else f"{size:,} tokens"


@check("each_message_at_most")
def each_message_at_most(found: Found, expected: Expected) -> str | None:
    counter = CharCounter(found.case["counter"])
    largest = max(map(counter.count_message, found.prompt))
    return None if largest <= expected["value"] else f"{largest:,} tokens"


@check("at_most_chars")
def at_most_chars(found: Found, expected: Expected) -> str | None:
    longest = max(map(len, found.facts["texts"]))
    limit = expected["value"] + (60 if expected.get("plus_marker") else 0)
    return None if longest <= limit else f"{longest:,} characters"


@check("bytes_at_most")
def bytes_at_most(found: Found, expected: Expected) -> str | None:
    size = len(json.dumps(found.format.body(found.prompt), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return None if size <= expected["value"] else f"{size:,} bytes"


@check("string_at_most")
def string_at_most(found: Found, expected: Expected) -> str | None:
    longest = max(len(text) for message in found.prompt for text in message.texts)
    return None if longest <= expected["value"] else f"{longest:,} characters"


@check("within_s")
def within_s(found: Found, expected: Expected) -> str | None:
    return None if found.seconds <= expected["value"] else f"took {found.seconds:.2f} s"


@check("counter_calls_at_most")
def counter_calls_at_most(found: Found, expected: Expected) -> str | None:
    return None if found.count_calls <= expected["value"] else f"{found.count_calls:,} messages were counted"


@check("retry_smaller")
def retry_smaller(found: Found, expected: Expected) -> str | None:
    counter = counter_of(found.case)
    if len(found.summarizer.requests) < 2:
        return "there was no second request"
    first, second = (counter.count(request.messages) for request in found.summarizer.requests[:2])
    limit = expected["ratio"] * first
    return None if second <= limit else f"{second:,} after {first:,}"


@check("total_summary_input_at_most")
def total_summary_input_at_most(found: Found, expected: Expected) -> str | None:
    """What was handed over to be summarised, the fixed instructions aside."""
    said = sum(len(message.text) for message in found.before)
    sent = sum(len(request.messages[-1].text) for request in found.summarizer.requests)
    return None if sent <= expected["ratio"] * said else f"{sent:,} characters of {said:,}"


@check("state_chars_at_most")
def state_chars_at_most(found: Found, expected: Expected) -> str | None:
    size = found.facts["state_chars"]
    return None if size <= expected["value"] else f"{size:,} characters"


@check("no_calibration")
def no_calibration(found: Found, expected: Expected) -> str | None:
    ratio = found.facts["ratio"]
    return None if 0.9 < ratio < 1.1 else f"the ratio became {ratio:.2f}"


@check("max_output")
def max_output(found: Found, expected: Expected) -> str | None:
    value = found.facts["max_output"]
    return None if value == expected["value"] else f"it is {value:,}"
