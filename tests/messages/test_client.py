"""Usage, request and reply: values."""

import pytest

from aaa.messages import LLMRequest, LLMResponse, Message, ToolSpec, Usage

HELLO = (Message("user", "hello"),)


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (Usage(), 0),
        (Usage(10, 5), 15),
        (Usage(10, 5, 17), 17),
        (Usage(prompt_tokens=10, cached_tokens=8, cache_write_tokens=1), 10),
        (Usage(completion_tokens=5, reasoning_tokens=4), 5),
    ],
)
def test_total_tokens_are_those_reported_or_else_the_sum_of_prompt_and_completion(usage, total):
    assert usage.total_tokens == total


def test_usage_is_a_value():
    assert Usage(10, 5) == Usage(10, 5, 15)
    assert len({Usage(10, 5), Usage(10, 5)}) == 1
    with pytest.raises(AttributeError):
        Usage().prompt_tokens = 3


def test_equal_requests_are_equal_and_have_one_hash_whatever_their_params_hold():
    def make():
        return LLMRequest(HELLO, (ToolSpec("read"),), "m", {"stop": ["a"], "temperature": 0.5})

    assert make() == make()
    assert len({make(), make()}) == 1


def test_requests_with_other_params_are_not_equal():
    assert LLMRequest(HELLO, params={"temperature": 0.5}) != LLMRequest(HELLO, params={"temperature": 1})


def test_the_order_of_params_makes_no_other_request():
    one, two = LLMRequest(HELLO, params={"a": 1, "b": 2}), LLMRequest(HELLO, params={"b": 2, "a": 1})
    assert one == two
    assert hash(one) == hash(two)


def test_requests_do_not_share_their_default_params():
    assert LLMRequest(HELLO).params is not LLMRequest(HELLO).params


def test_lists_of_messages_and_tools_in_a_request_become_tuples():
    request = LLMRequest([*HELLO], [ToolSpec("read")])
    assert request == LLMRequest(HELLO, (ToolSpec("read"),))
    assert hash(request) == hash(LLMRequest(HELLO, (ToolSpec("read"),)))


def test_a_reply_is_a_value():
    reply = LLMResponse(HELLO[0], Usage(10, 5), "m", "stop", 0.25)
    assert reply == LLMResponse(HELLO[0], Usage(10, 5), "m", "stop", 0.25)
    assert hash(reply) == hash(LLMResponse(HELLO[0], Usage(10, 5), "m", "stop", 0.25))
    assert reply != LLMResponse(HELLO[0], Usage(10, 6), "m", "stop", 0.25)
