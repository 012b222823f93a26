"""What a provider said is found in any body, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.wire.fault_body import Fault, fault_from

SAID = "prompt is too long"

BODIES = {
    "OpenAI": {"error": {"message": SAID, "type": "invalid_request_error", "param": None, "code": "too_long"}},
    "Anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": SAID}, "request_id": "req_1"},
    "an event of a stream": {"type": "response.failed", "response": {"output": [], "error": {"message": SAID}}},
    "Gemini, in a list": [{"error": {"code": 400, "message": SAID, "errors": [{"message": SAID}]}}],
    "Cohere": {"id": "1", "message": SAID},
    "vLLM": {"object": "error", "message": SAID, "type": "BadRequestError", "code": 400},
    "xAI": {"code": "Client specified an invalid argument", "error": SAID},
    "FastAPI": {"detail": [{"loc": ["body"], "msg": SAID, "input": {"message": "what the user wrote"}}]},
    "boto3": {"Error": {"Message": SAID, "Code": "ValidationException"}},
    "an event of AWS": {"validationException": {"message": SAID}},
    "AWS, for JavaScript": {"errorType": "ValidationException", "errorMessage": SAID},
    "MiniMax": {"base_resp": {"status_code": 2013, "status_msg": SAID}},
    "Cloudflare": {"errors": [{"code": 5021, "message": SAID}], "success": False, "result": None},
    "a tool that says is_error": {"is_error": True, "result": SAID},
    "JSON in a text": {"error": {"metadata": {"raw": json.dumps({"error": {"message": SAID}})}}},
    "a text": SAID,
    "bytes": SAID.encode(),
    "a text of JSON": json.dumps({"error": {"message": SAID}}),
    "a stream as text": f"event: error\ndata: {json.dumps({'error': SAID})}\n\ndata: [DONE]\n",
    "an exception": ValueError(SAID),
    "an unknown shape": {"oops": SAID},
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_message_is_found_in_any_body(body):
    assert fault_from(400, {}, body).messages == (SAID,)


def test_the_words_before_json_in_a_text_come_first():
    fault = fault_from(
        None, {}, f"litellm.BadRequestError: AnthropicException - {json.dumps({'error': {'message': SAID}})}"
    )

    assert fault.messages == ("litellm.BadRequestError: AnthropicException", SAID)
    assert fault.text == f"litellm.BadRequestError: AnthropicException\n{SAID}"


def test_json_that_is_no_error_stays_part_of_its_text():
    text = 'the schema {"type": "object"} is not allowed'

    assert fault_from(400, {}, {"error": text}).messages == (text,)


def test_codes_and_numbers_are_as_they_were_written():
    body = {
        "error": {"code": 500, "type": "exceed_context_size_error", "message": "x", "n_prompt_tokens": 9, "n_ctx": 8}
    }
    fault = fault_from(500, {}, body, type_name="InternalServerError")

    assert fault.codes == ("exceed_context_size_error", "InternalServerError")
    assert fault.words == ("exceed_context_size_error", "internalservererror")
    assert fault.numbers == {"n_prompt_tokens": 9, "n_ctx": 8}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, {"error": {"code": 429, "message": "x"}}, 429),
        (None, {"error": {"code": "502", "message": "x"}}, 502),
        (400, {"error": {"code": 429, "message": "x"}}, 400),
        (200, {"error": {"code": 2013, "message": "x"}}, 200),
        (None, {"error": "x"}, None),
    ],
)
def test_the_body_names_the_status_where_http_has_none(status, body, expected):
    assert fault_from(status, {}, body).status == expected


def test_headers_are_read_by_lower_case_names():
    assert fault_from(429, {"Retry-After": "3"}, None).headers == {"retry-after": "3"}
    assert fault_from(429, None, None).headers == {}


def test_a_reply_has_no_messages():
    reply = {"choices": [{"message": {"role": "assistant", "content": SAID}}], "response": SAID[::-1]}

    assert SAID not in fault_from(200, {}, reply).text


def test_a_refusal_of_status_200_is_found_by_its_key():
    assert fault_from(200, {}, {"error_code": 336007, "error_msg": SAID}).messages == (SAID,)


def test_a_tool_that_says_it_is_no_error_has_no_messages():
    assert fault_from(None, {}, {"is_error": False, "assistant_text": "prompt is too long"}).messages == ()


def test_a_fault_made_by_hand_has_its_text_as_its_message():
    assert Fault(None, {}, None, SAID).messages == (SAID,)
    assert Fault(None, {}, None, "").messages == ()


def test_a_text_without_end_is_shortened_in_its_middle():
    fault = fault_from(400, {}, "start" + "x" * 10**6 + "end")

    assert len(fault.text) < 40_000
    assert (fault.text[:5], fault.text[-3:]) == ("start", "end")


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        json.loads("[" * 500 + "]" * 500),
        {"error": {"code": 10**400, "n_ctx": -1}},
        {"error": "{" * 50_000},
        [{"error": {"message": f"{number}"}} for number in range(50_000)],
        {1: 2, None: "x", ("a",): "y"},
        object(),
        10**5000,
        float("nan"),
        b"\xff\xfe",
        "data: \n" * 10_000,
    ],
    ids=lambda body: type(body).__name__,
)
def test_no_body_is_too_odd(body):
    assert fault_from(400, {}, body).status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["error", "message", "code", "x"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_a_body_and_its_text_say_the_same(body):
    if isinstance(body, dict | list) and body:
        assert fault_from(400, {}, body).messages == fault_from(400, {}, json.dumps(body).encode()).messages
