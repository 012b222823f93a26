"""The other side of checks that stand elsewhere: what is less, missing, other, or in no request."""

from collections.abc import Mapping
from typing import Any

from tests.cases.checks.pairs import pairs_ok
from tests.cases.checks.pieces import briefly, pieces, summary_texts
from tests.cases.checks.registry import check
from tests.cases.checks.shapes import no_field, unchanged
from tests.cases.found import Found

Expected = Mapping[str, Any]


@check("less")
def less(found: Found, expected: Expected) -> str | None:
    first, second = (found.value[place] for place in expected["of"])
    return None if first < second else f"found {first:,} and {second:,}"


@check("changed")
def changed(found: Found, expected: Expected) -> str | None:
    return "nothing changed" if unchanged(found, expected) is None else None


@check("has_field")
def has_field(found: Found, expected: Expected) -> str | None:
    return "the field is not sent" if no_field(found, expected) is None else None


@check("estimate_at_most")
def estimate_at_most(found: Found, expected: Expected) -> str | None:
    estimate = found.facts["estimate"]
    return None if estimate <= expected["value"] else f"estimated {estimate}"


@check("request_lacks", "no_request_contains")
def request_lacks(found: Found, expected: Expected) -> str | None:
    asked = found.requests[expected["n"] - 1 : expected["n"]] if "n" in expected else found.requests
    wrong = [request for request in asked if any(expected["text"] in text for text in pieces(request.messages))]
    return "a request has it" if wrong else None if asked else "there was no such request"


@check("summary_request_lacks")
def summary_request_lacks(found: Found, expected: Expected) -> str | None:
    texts = [expected["text"]] if "text" in expected else expected["texts"]
    left = [text for text in texts if any(text in sent for sent in summary_texts(found))]
    return f"{briefly(left[0])!r} is in a summary request" if left else None


@check("every_request_pairs_ok")
def every_request_pairs_ok(found: Found, expected: Expected) -> str | None:
    for number, request in enumerate(found.requests, 1):
        problem = pairs_ok(Found(found.case, after=request.messages), expected)
        if problem is not None:
            return f"request {number}: {problem}"
    return None if found.requests else "there was no request"
