"""A format goes by several names, and a provider's name says what it is sent and whose rules hold."""

import pytest

from tests.cases.formats import format_of, model_of


@pytest.mark.parametrize(
    ("name", "wire", "rules"),
    [
        ("openai", "openai_chat", "chat"),
        ("chat_completions", "openai_chat", "chat"),
        ("litellm", "openai_chat", "chat"),
        ("converse", "anthropic", "bedrock"),
        ("claude", "anthropic", "anthropic"),
        ("vertex-anthropic", "anthropic", "anthropic-vertex"),
        ("vertex", "gemini", "vertex"),
        ("google", "gemini", "google"),
        ("responses", "openai_responses", "openai-responses"),
        ("azure-responses", "openai_responses", "azure-responses"),
        ("azure", "openai_chat", "azure"),
        ("openrouter", "openai_chat", "openrouter"),
        ("mistral", "openai_chat", "mistral"),
        ("deepseek", "openai_chat", "deepseek"),
        ("groq", "openai_chat", "groq"),
        ("vllm", "openai_chat", "vllm"),
        ("lmstudio", "openai_chat", "lm-studio"),
        ("LM Studio", "openai_chat", "lm-studio"),
        ("llama.cpp", "openai_chat", "llamacpp"),
        ("ollama", "ollama", "ollama"),
    ],
)
def test_a_name_tells_the_format_and_the_rules(name, wire, rules):
    given, sent, whose = format_of({"format": name})

    assert (given.name, sent.name, whose) == (wire, wire, rules)


def test_what_is_sent_may_be_another_format_than_what_is_given():
    given, sent, rules = format_of({"format": "gemini-from-converse"})

    assert (given.name, sent.name, rules) == ("anthropic", "gemini", "gemini")


def test_a_case_may_name_its_provider_by_any_of_its_names():
    assert format_of({"format": "openai-chat", "provider": "llama.cpp"})[2] == "llamacpp"
    assert format_of({"format": "openai-chat", "provider": "x"})[2] == "chat"


def test_claude_has_a_model_by_whatever_name():
    assert model_of({"format": "claude"}) == model_of({"format": "anthropic-from-openai"}) == "claude-opus-4-7"
    assert model_of({"format": "openai-from-anthropic"}) is None
