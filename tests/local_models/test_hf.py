"""A real transformers model, tiny and random: `make test-hf` installs what it needs and runs this."""

import asyncio

import pytest

import aimu
from aaa.errors import ClientSetupError, ContextOverflowError
from aaa.llm import client, window_of
from aaa.messages import LLMRequest, Message, ToolSpec
from aimu.agents import Agent

transformers = pytest.importorskip("transformers", reason="needs transformers and torch: make test-hf")
pytest.importorskip("torch", reason="needs transformers and torch: make test-hf")

WINDOW = 256
TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content or '' }}</{{ message.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Llama of one layer whose tokens are bytes, saved as users have theirs."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.chat_template = TEMPLATE
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=WINDOW,
    )
    path = tmp_path_factory.mktemp("model")
    transformers.LlamaForCausalLM(config).save_pretrained(path)
    fast.save_pretrained(path)
    return path


def test_a_prompt_that_fits_is_answered_and_counted(folder):
    model = aimu.client(f"hf:{folder}", system="Be brief.", generate_kwargs={"max_new_tokens": 8})
    reply = model.chat("hello")
    assert reply["role"] == "assistant"
    assert model.last_usage.prompt_tokens == len("<system>Be brief.</system><user>hello</user><assistant>")
    assert 1 <= model.last_usage.completion_tokens <= 8


def test_a_prompt_that_does_not_fit_is_refused_before_anything_runs(folder):
    model = aimu.client(f"hf:{folder}")
    model.sdk.model.generate = None  # anything that runs it fails
    with pytest.raises(ContextOverflowError) as raised:
        model.chat("x" * WINDOW)
    error = raised.value
    assert (error.limit, error.requested) == (WINDOW, WINDOW + len("<user></user><assistant>"))
    assert error.__cause__ is None
    assert model.messages == []


def test_the_overflow_is_caught_trimmed_and_run_again(folder):
    model = aimu.client(f"hf:{folder}", generate_kwargs={"max_new_tokens": 4})
    agent = Agent(model)
    model.messages = [{"role": role, "content": "word " * 6} for _ in range(8) for role in ("user", "assistant")]
    with pytest.raises(ContextOverflowError):
        agent.run("now?")
    agent.model_client.messages = aimu.trim_messages(agent.model_client.messages, max_tokens=40)
    agent.run("now?")
    assert [message["content"] for message in model.messages].count("now?") == 1


def test_the_asynchronous_client_reads_and_streams_the_same(folder):
    async def scenario():
        model = client(f"hf:{folder}", params={"max_new_tokens": 8, "do_sample": False})
        request = LLMRequest((Message("user", "hello"),), (ToolSpec("look"),))
        shown = []
        whole, streamed = await model.complete(request), await model.stream(request, shown.append)
        assert whole == streamed
        assert "".join(delta.text for delta in shown if delta.kind == "text") == whole.message.text
        with pytest.raises(ContextOverflowError):
            await model.complete(LLMRequest((Message("user", "x" * WINDOW),)))

    asyncio.run(scenario())


def test_a_call_in_the_text_of_a_reply_is_a_call(folder):
    model = aimu.client(f"hf:{folder}")
    model.sdk.tokenizer.decode = lambda *_, **__: (
        'First <tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'
    )
    reply = model.chat("look", tools=[ToolSpec("look")])
    assert reply["content"] == "First"
    assert reply["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": 1}'}


def test_its_window_is_known(folder):
    assert window_of(aimu.client(f"hf:{folder}"))(None) == WINDOW


def test_a_model_that_is_not_there_is_not_looked_for_elsewhere(tmp_path):
    with pytest.raises(ClientSetupError, match="no transformers model"):
        aimu.client(f"hf:{tmp_path / 'none'}")
