"""What the checks find right and what not, by the prompt or the error that they are shown."""

import asyncio

import pytest

from aaa import errors
from tests.cases.checks import CHECKS
from tests.cases.checks.kinds import is_kind
from tests.cases.found import Found

USER = {"role": "user", "content": "q"}


def problem_of(name, format, *turns, **expected):
    found = Found({"format": format, "messages": list(turns)})
    found.before = found.after = found.given_format.read(turns)
    return CHECKS[name](found, {"check": name, **expected})


def asking(*calls):
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def bare(name):
    return {"function": {"name": name, "arguments": {}}}


def signed(call_id, signature, arguments="{}"):
    call = {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return call | ({"extra_content": {"google": {"thought_signature": signature}}} if signature else {})


def given(name, **fields):
    return {"role": "tool", "tool_name": name, "content": "r", **fields}


@pytest.mark.parametrize(
    ("turns", "is_right"),
    [
        ([asking(bare("a"), bare("b")), given("a"), given("b")], True),
        ([asking(bare("a"), bare("a")), given("a"), given("a")], True),
        ([asking(bare("a")), {"role": "tool", "content": "r"}], True),
        ([asking({"id": "1", **bare("a")}), given("a", tool_call_id="1")], True),
        ([asking(bare("a")), given("b")], False),
        ([asking(bare("a")), given("a"), given("a")], False),
        ([asking(bare("a")), USER, given("a")], False),
        ([asking(bare("a"))], False),
    ],
)
def test_calls_without_ids_are_answered_by_name_and_order(turns, is_right):
    assert (problem_of("pairs_ok", "ollama", USER, *turns) is None) is is_right


@pytest.mark.parametrize(
    ("signatures", "first", "siblings"),
    [(("T1==", None), True, True), ((None, "T2=="), False, False), (("T1==", "T2=="), True, False)],
)
def test_signatures_are_found_in_openais_format_too(signatures, first, siblings):
    calls = [signed(f"c{place}", signature) for place, signature in enumerate(signatures)]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "r"} for call in calls]
    turns = (USER, asking(*calls), *results)

    assert (problem_of("signature_on_first_call", "openai-chat", *turns) is None) is first
    assert (problem_of("no_signature_on_siblings", "openai-chat", *turns) is None) is siblings


@pytest.mark.parametrize(
    ("format", "arguments", "is_right"),
    [
        ("anthropic-from-openai", "", True),
        ("gemini-from-openai", "", True),
        ("ollama-from-openai", "", True),
        ("openai", '{"a": 1}', True),
        ("openai", "", False),
        ("openai", "[1]", False),
        ("responses-from-openai", "{", False),
    ],
)
def test_arguments_are_judged_as_they_are_sent(format, arguments, is_right):
    result = {"role": "tool", "tool_call_id": "c", "content": "r"}

    problem = problem_of("valid_json_args", format, USER, asking(signed("c", None, arguments)), result)
    assert (problem is None) is is_right


def test_a_text_that_is_null_says_nothing():
    assert problem_of("no_empty", "openai", {"role": "user", "content": [{"type": "text", "text": None}]})


def test_unchanged_is_told_of_converse_too():
    assert problem_of("unchanged", "bedrock", {"role": "user", "content": [{"text": "q"}]}) is None


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("cancelled", asyncio.CancelledError()),
        ("server", errors.ServerError("x")),
        ("server_error", errors.ServerError("x")),
        ("overloaded", errors.ServerError("x")),
        ("auth", errors.AuthenticationError("x")),
        ("authentication", errors.AuthenticationError("x")),
        ("unreachable", errors.UnreachableError("x")),
        ("timeout", errors.UnreachableError("x")),
        ("timeout", errors.SummaryError("timeout", "x", messages=1)),
        ("summary_timeout", errors.SummaryError("timeout", "x", messages=1)),
        ("summary_failed", errors.SummaryError("empty", "x", messages=1)),
        ("rate_limit", errors.EffectError("0", kind="RateLimitError", problem="x")),
        ("floor", errors.EffectError("0", kind="ContextFloorError", problem="x")),
        ("state", errors.StateError("x")),
        ("wire", errors.WireError("x")),
        ("config_error", ValueError("x")),
    ],
)
def test_an_error_is_known_by_the_names_that_cases_have_for_it(kind, error):
    is_so = is_kind(kind)

    assert is_so is not None
    assert is_so(error)
    assert not is_so(errors.NonDeterminismError("r", key="0", recorded="a", requested="b"))


def test_a_kind_that_is_not_known_is_none():
    assert is_kind("dance") is None


PICTURES = {
    "openai": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR"}}],
    "bedrock": [{"image": {"format": "png", "source": {"bytes": "iVBOR"}}}],
    "gemini": [{"inlineData": {"mimeType": "image/png", "data": "iVBOR"}}],
}


@pytest.mark.parametrize("format", PICTURES)
def test_a_picture_is_found_in_any_format(format):
    key = "parts" if format == "gemini" else "content"

    assert problem_of("request_has_image", format, {"role": "user", key: PICTURES[format]}, n=1) is None
    assert problem_of("request_has_image", format, {"role": "user", key: [{"text": "q", "type": "text"}]}, n=1)


def test_a_body_is_measured_in_bytes_as_it_is_sent():
    assert problem_of("bytes_at_most", "openai", {"role": "user", "content": "你" * 100}, value=400) is None


def test_a_limit_of_messages_may_be_an_error():
    found = Found({"format": "openai", "max_messages": 1, "messages": []})
    found.error = errors.ContextFloorError(
        window_tokens=1, reserve_tokens=0, head_tokens=1, tools_tokens=0, tail_tokens=1
    )

    assert CHECKS["fits_or_error"](found, {"check": "fits_or_error"}) is None
    with pytest.raises(errors.ContextFloorError):
        CHECKS["fits"](found, {"check": "fits"})


def test_every_summary_request_fits_where_there_was_none():
    assert problem_of("every_summary_request_fits", "openai", USER) is None


def test_a_refusal_says_something():
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}

    assert problem_of("no_empty", "openai", USER, refused, USER) is None
