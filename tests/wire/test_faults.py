"""Each refusal and failure becomes the error that it is, with what a caller needs to go on."""
# ruff: noqa: E501 - one failure a line

import json

import pytest

from aaa.errors import (
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    OutputLimitError,
    ProviderError,
    RateLimitError,
    RequestTooLarge,
    ServerError,
)
from aaa.wire.faults import error_from, fault_from
from tests.shared import data_folder


def said(message, **more):
    return {"error": {"message": message, **more}}


def error(status, body, *, headers=None, provider="acme"):
    return error_from(fault_from(status, headers or {}, body), provider=provider)


TPM = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31538."
WAIT = "Rate limit reached on tokens per min (TPM): Limit 30,000, Used 28,000, Requested 4,000. Please try again in 4s."
QUOTA = "You exceeded your current quota, please check your plan and billing details."

# fmt: off
CLASSES = [
    (400, said("prompt is too long: 210094 tokens > 200000 maximum"), ContextOverflowError, False),
    (413, None, RequestTooLarge, False),
    (400, None, InvalidRequestError, False),
    (429, said(WAIT, code="rate_limit_exceeded"), RateLimitError, True),
    (429, said(TPM, code="rate_limit_exceeded"), RateLimitError, False),
    (413, said(TPM, code="rate_limit_exceeded"), RateLimitError, False),
    (400, said(WAIT), RateLimitError, True),
    (None, said(WAIT), RateLimitError, True),
    (400, {"__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again."}, RateLimitError, True),
    (None, {"throttlingException": {"message": "Too many requests"}}, RateLimitError, True),
    (429, None, RateLimitError, True),
    (429, said(QUOTA, code="insufficient_quota", type="insufficient_quota"), RateLimitError, False),
    (429, said(f"{QUOTA}\nPlease retry in 48.9s.", status="RESOURCE_EXHAUSTED"), RateLimitError, True),
    (429, said("Quota exceeded for metric: requests, limit: 0, model: m\nPlease retry in 48.9s."), RateLimitError, False),
    (402, said("Insufficient Balance"), RateLimitError, False),
    (400, said("Your credit balance is too low to access the API."), RateLimitError, False),
    (400, said("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for m"), OutputLimitError, False),
    (422, said("The maximum tokens you requested exceeds the model limit of 4096."), OutputLimitError, False),
    (400, said("Too much media: 0 document pages + 104 images > 100"), RequestTooLarge, False),
    (400, said("messages: too many images and documents: 101 + 0 > 100"), RequestTooLarge, False),
    (400, said("A maximum of 100 PDF pages may be provided."), RequestTooLarge, False),
    (400, said("?", code="image_too_large"), RequestTooLarge, False),
    (400, said("Could not process image"), InvalidRequestError, False),
    (400, said("image dimensions are too small: at least 8 pixels are needed"), InvalidRequestError, False),
    (None, {"is_error": True, "error_message": "success", "assistant_text": "You've hit your limit · resets 3pm"}, RateLimitError, True),
    (400, said("Invalid 'tools': array too long.", code="array_above_max_length"), InvalidRequestError, False),
    (413, said("Invalid 'x': string too long.", code="string_above_max_length"), InvalidRequestError, False),
    (400, said("messages: text content blocks must be non-empty"), InvalidRequestError, False),
    (404, said("The model `m` does not exist"), InvalidRequestError, False),
    (409, said("conflict"), InvalidRequestError, True),
    (401, said("Incorrect API key provided"), AuthenticationError, False),
    (403, None, AuthenticationError, False),
    (400, said("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT"), AuthenticationError, False),
    (400, said("?", details=[{"reason": "API_KEY_INVALID"}]), AuthenticationError, False),
    (None, {"type": "error", "error": {"type": "authentication_error", "message": "no"}}, AuthenticationError, False),
    (500, said("Context size has been exceeded.", type="server_error"), ServerError, True),
    (None, said("Context size has been exceeded."), ServerError, True),
    (500, said("Failed to parse tool call arguments as JSON: x"), InvalidRequestError, False),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ServerError, True),
    (None, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ServerError, True),
    (None, {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}, ServerError, True),
    (None, {"internalServerException": {"message": "x"}}, ServerError, True),
    (None, {"validationException": {"message": "x"}}, InvalidRequestError, False),
    (200, said("Upstream failed", code=502), ServerError, True),
    (503, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>", ServerError, True),
    (408, None, ServerError, True),
    (504, b"", ServerError, True),
    (None, "something else", ProviderError, False),
    (None, None, ProviderError, False),
]
# fmt: on


@pytest.mark.parametrize(("status", "body", "kind", "is_transient"), CLASSES)
def test_each_failure_is_the_error_it_is(status, body, kind, is_transient):
    found = error(status, body)

    assert type(found) is kind
    assert getattr(found, "is_transient", False) is is_transient
    assert str(found).startswith("acme: ")


def test_an_overflow_carries_its_numbers():
    found = error(400, said("total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354."))

    assert (found.limit, found.requested, found.counts_output, found.kind) == (2048, 6354, True, "tokens")
    assert "2048" in str(found)
    assert "6354" in str(found)


def test_too_many_bytes_are_told_in_bytes():
    found = error(400, said("Sent message larger than max (29971520 vs. 20971520)"))

    assert (found.limit, found.requested, found.kind) == (20971520, 29971520, "bytes")


def test_the_size_of_one_picture_is_not_taken_for_that_of_the_request():
    found = error(400, said("messages.7.content.0.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"))

    assert (type(found), found.limit, found.requested) == (RequestTooLarge, None, None)


def test_a_rate_limit_names_both_numbers_its_status_and_code():
    found = error(413, said(TPM, type="tokens", code="rate_limit_exceeded"), provider="groq")

    assert str(found) == f"groq: 413, rate_limit_exceeded, limit 30000, requested 31538: {TPM}"
    assert (found.status_code, found.code) == (413, "rate_limit_exceeded")


def test_an_empty_body_is_an_overflow_at_cerebras_alone():
    assert type(error(400, b"", provider="cerebras")) is ContextOverflowError
    assert str(error(400, b"")) == "acme: 400: no reason given"


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "12"}, None, 12.0),
        ({"Retry-After": "0.5"}, None, 0.5),
        ({"Retry-After": "12", "Retry-After-Ms": "1500"}, None, 1.5),
        ({"Retry-After": "Thu, 01 Jan 2026 00:00:30 GMT", "Date": DATE}, None, 30.0),
        ({"Retry-After": "Wed, 31 Dec 2025 23:00:00 GMT", "Date": DATE}, None, 0.0),
        ({"Retry-After": "soon"}, None, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, None, 360.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "900",
            },
            None,
            1.0,
        ),
        ({"x-ratelimit-reset-tokens": "7.66"}, None, 7.66),
        ({"x-ratelimit-reset-tokens": "120ms"}, None, 0.12),
        ({"X-RateLimit-Reset": "1767225660000", "Date": DATE}, None, 60.0),
        ({"X-RateLimit-Reset": "1767225660", "Date": DATE}, None, 60.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-01-01T00:01:00Z", "Date": DATE}, None, 60.0),
        ({}, said("slow down", details=[RETRY_INFO]), 37.0),
        ({}, [said("slow down", details=[{"retryDelay": 5}, RETRY_INFO])], 37.0),
        ({}, said("Please try again in 7.66s. Visit us."), 7.66),
        ({}, said("Please try again in 6m0s."), 360.0),
        ({}, said("Please try again in 1h2m3.5s."), 3723.5),
        ({}, said("Please try again in 20ms."), 0.02),
        ({}, said("Please retry after 30 seconds."), 30.0),
        ({}, said("Please retry in 48.939935699s."), 48.939935699),
        ({}, said("Please wait 2 minutes"), 120.0),
        ({}, said("Please try again later."), None),
    ],
)
def test_the_wait_is_read_however_it_is_said(headers, body, seconds):
    found = error(429, body, headers=headers)

    assert found.retry_after == (None if seconds is None else pytest.approx(seconds))


def test_a_server_that_is_down_says_how_long_too():
    assert error(503, None, headers={"retry-after": "5"}).retry_after == 5.0
    assert error(400, None, headers={"retry-after": "5"}).retry_after is None


def test_neither_keys_nor_prompts_are_quoted():
    secret, prompt = "sk-proj-abcdefghijklmnop", "tell me everything about the merger with " * 9
    found = error(401, said(f"Incorrect API key provided: {secret}. You sent '{prompt}'."))

    assert "abcdefgh" not in str(found)
    assert "merger" not in str(found)


def test_a_text_that_is_no_sentence_is_hardly_shown():
    found = error(400, f"refused: {'the whole prompt ' * 1000}")

    assert len(str(found)) < 120


def test_a_page_of_html_is_shown_by_its_title():
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"

    assert str(error(502, page)) == "acme: 502: 502 Bad Gateway"
    assert str(error(502, "<html><body>x</body></html>")) == "acme: 502: a page of HTML"


def test_the_recorded_refusals_are_what_they_are_said_to_be():
    kinds = {
        "body-size-limit": RequestTooLarge,
        "pairing-broken-after-compaction": InvalidRequestError,
        "rate-limit-hiding-overflow": RateLimitError,
        "rate-limit-that-waiting-cannot-cure": RateLimitError,
    }
    paths = sorted((data_folder("wire") / "errors").glob("*.json"))
    assert paths
    for path in paths:
        exchange = json.loads(path.read_text(encoding="utf-8"))
        response, kind = exchange["response"], exchange["kind"]
        found = error(response["status"], response["body"], provider=exchange["provider"])
        assert type(found) is kinds.get(kind, ContextOverflowError), path.name
        if kind == "overflow-input-plus-output":
            assert found.requested < found.limit or found.requested > found.limit > 0, path.name
        if kind == "rate-limit-that-waiting-cannot-cure":
            assert not found.is_transient


@pytest.mark.parametrize(
    ("field", "limit", "length", "kind"),
    [
        ("messages[5].content", 10_485_760, 10_605_342, RequestTooLarge),
        ("messages[2].tool_calls[0].id", 40, 43, InvalidRequestError),
    ],
)
def test_a_text_too_long_for_its_field_is_a_size_and_an_id_is_not(field, limit, length, kind):
    said = (
        f"Invalid '{field}': string too long. Expected a string with maximum length {limit}, "
        f"but got a string with length {length} instead."
    )
    body = {"error": {"message": said, "type": "invalid_request_error", "code": "string_above_max_length"}}
    error = error_from(fault_from(400, {}, body), provider="openai")
    assert type(error) is kind
    if kind is RequestTooLarge:
        assert (error.limit, error.requested) == (limit, length)
