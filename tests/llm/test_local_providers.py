"""Models in this process, with stand-ins for their libraries; the real ones are tried by make test-hf."""

import asyncio

import pytest

import aimu
from aaa.errors import ContextOverflowError
from aaa.llm import client, window_of
from aaa.messages import LLMRequest, Message


class Llama:
    """As llama-cpp-python's: a window, a tokenizer of one token a byte, and answers in OpenAI's format."""

    metadata = None

    def __init__(self, window=64, error=None):
        self._window = window
        self._error = error
        self.asked = []

    def n_ctx(self):
        return self._window

    def tokenize(self, text, *, add_bos, special=False):
        return list(text)

    def create_chat_completion(self, *, messages, stream, **params):
        self.asked.append((messages, params))
        if self._error:
            raise self._error
        choice = {"index": 0, "finish_reason": "stop"}
        if stream:
            pieces = ("one ", "two")
            return iter(
                [{"choices": [{"index": 0, "delta": {"content": p}, "finish_reason": None}]} for p in pieces]
                + [{"choices": [{**choice, "delta": {}}]}]
            )
        return {"choices": [{**choice, "message": {"role": "assistant", "content": "one two"}}]}


def test_a_prompt_that_fits_is_run():
    sdk = Llama()
    model = aimu.client("llamacpp:file.gguf", sdk=sdk, generate_kwargs={"max_tokens": 5})
    assert model.chat("hello")["content"] == "one two"
    assert sdk.asked == [([{"role": "user", "content": "hello"}], {"max_tokens": 5})]


def test_a_prompt_that_does_not_fit_is_never_run_and_has_no_cause():
    sdk = Llama(window=64)
    model = aimu.client("llamacpp:file.gguf", sdk=sdk)
    with pytest.raises(ContextOverflowError) as raised:
        model.chat("x" * 100)
    assert (raised.value.limit, raised.value.requested, raised.value.__cause__) == (64, 104, None)
    assert sdk.asked == []
    assert model.messages == []


def test_what_the_library_itself_refuses_is_an_overflow_too():
    cause = ValueError("Requested tokens (70) exceed context window of 64")
    model = aimu.client("llamacpp:file.gguf", sdk=Llama(error=cause))
    with pytest.raises(ContextOverflowError) as raised:
        model.chat("short")
    assert (raised.value.limit, raised.value.requested, raised.value.__cause__) == (64, 70, cause)


def test_another_failure_of_the_library_stays_what_it_is():
    with pytest.raises(RuntimeError, match="out of memory"):
        aimu.client("llamacpp:file.gguf", sdk=Llama(error=RuntimeError("out of memory"))).chat("short")


def test_the_asynchronous_client_runs_it_beside_the_loop():
    async def scenario():
        shown = []
        model = client("llamacpp:file.gguf", sdk=Llama())
        reply = await model.stream(LLMRequest((Message("user", "hello"),)), shown.append)
        assert [delta.text for delta in shown] == ["one ", "two"]
        return reply

    assert asyncio.run(scenario()).message.text == "one two"


def test_its_window_is_known():
    assert window_of(aimu.client("llamacpp:file.gguf", sdk=Llama(window=64)))(None) == 64
