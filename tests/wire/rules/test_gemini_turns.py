"""Every few contents that a program may have kept, in Gemini's own layout: put right, taken, and cut safely."""

import os
from itertools import pairwise, product
from typing import Any

import pytest

from aaa.messages import LLMRequest, Message
from aaa.wire import gemini
from aaa.wire.rules import Rules
from aaa.wire.rules.rows_together import RowsTogether
from tests.wire.rules.checks import assert_cuts_are_safe, assert_repair_is_right
from tests.wire.rules.test_written import JUDGES

Content = dict[str, Any]

LONGEST = 4 if os.environ.get("AAA_ALL_DATA") else 3
SIGNED = {"thoughtSignature": "c2ln"}


def content(role: str, *parts: dict[str, Any]) -> Content:
    return {"role": role, "parts": list(parts)}


def response(name: str) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"ok": True}}}


USER, MODEL = content("user", {"text": "u"}), content("model", {"text": "m"})
CALLS = content("model", {"functionCall": {"name": "a", "args": {}}, **SIGNED})
SAYS_AND_CALLS = content("model", {"text": "x"}, {"functionCall": {"name": "b", "args": {}}, **SIGNED})
RESPONSE, NOTED = content("user", response("a")), content("user", response("b"), {"text": "by the way"})
SILENT = content("model", {"text": ""})
KEPT = (USER, MODEL, CALLS, SAYS_AND_CALLS, RESPONSE, NOTED, SILENT)


def messages_of(*contents: Content) -> tuple[Message, ...]:
    return gemini.request_from_body({"contents": list(contents)}).messages


def repaired(*contents: Content, name: str = "gemini") -> list[Content]:
    rules, model, judge = JUDGES[name]
    messages, _ = rules.repair(messages_of(*contents))
    request = LLMRequest(tuple(messages), model=model)
    judge(request)
    return gemini.request_to_body(request)["contents"]


@pytest.mark.parametrize("name", ["gemini", "gemini 2.5"])
def test_contents_kept_in_any_order_are_put_right(name):
    for size in range(1, LONGEST + 1):
        for contents in product(KEPT, repeat=size):
            assert_repair_is_right(JUDGES[name][0], messages_of(*contents))
            assert_cuts_are_safe(Rules("", (RowsTogether(),)), messages_of(*contents))
            for one, two in pairwise(repaired(*contents, name=name)):
                has_response = any("functionResponse" in part for part in (*one["parts"], *two["parts"]))
                assert one["role"] != two["role"] or has_response, contents


def test_neighbours_of_one_side_are_one_content_with_their_parts_as_they_were():
    signed = content("model", {"text": "m", **SIGNED})
    assert repaired(USER, USER, signed, CALLS, RESPONSE) == [
        content("user", *USER["parts"] * 2),
        content("model", *signed["parts"], *CALLS["parts"]),
        RESPONSE,
    ]


def test_words_stay_apart_from_responses():
    contents = [USER, CALLS, RESPONSE, USER]
    assert repaired(*contents) == contents
    assert repaired(USER, CALLS, RESPONSE, USER, USER) == [*contents[:3], content("user", *USER["parts"] * 2)]


def test_a_content_of_an_empty_text_is_not_sent_but_one_with_a_signature_is():
    bare, signed = content("model", {"text": ""}), content("model", {"text": "", **SIGNED})
    assert repaired(USER, bare, USER) == [content("user", *USER["parts"] * 2)]
    assert repaired(USER, signed, USER) == [USER, signed, USER]
