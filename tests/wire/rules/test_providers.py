"""Which provider has which rules, and what the name of a model says."""

import pytest

from aaa.errors import ClientSetupError
from aaa.messages import ToolSpec
from aaa.wire.rules import PROVIDERS, rules_for
from aaa.wire.rules.models import (
    claude_of,
    signs_calls,
    splits_calls,
    takes_prefill,
    takes_system_messages,
    thinks_bound,
)


def test_a_provider_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(ClientSetupError, match=r"'opnai'; known are .*anthropic, .*openai, .*zai"):
        rules_for("opnai")


@pytest.mark.parametrize("name", ["OpenAI Responses", "openai_responses", " openai-responses "])
def test_the_spelling_of_a_provider_does_not_matter(name):
    assert rules_for(name) == rules_for("openai-responses")


def test_servers_that_speak_openais_format_have_its_rules_but_for_the_length_of_ids():
    assert rules_for("azure").rules == rules_for("openai").rules
    assert rules_for("groq").rules == rules_for("together").rules
    assert {rule.name for rule in rules_for("openai").rules} - {"limit"} < {
        rule.name for rule in rules_for("groq").rules
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_may_be_given_in_any_sequence(provider):
    tools = [ToolSpec("read")]
    rules = rules_for(provider, tools=tools)
    tools.append(ToolSpec("поиск"))
    assert [violation for violation in rules.violations([]) if violation.rule == "tool_names"] == []


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("claude-opus-4-8", ("opus", (4, 8))),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", ("sonnet", (4, 5))),
        ("claude-sonnet-4-20250514", ("sonnet", (4, 0))),
        ("claude-3-5-haiku-latest", ("haiku", (3, 5))),
        ("claude-3-opus-20240229", ("opus", (3, 0))),
        ("anthropic/claude-opus-4.6", ("opus", (4, 6))),
        ("claude-fable-5-1@20260801", ("fable", (5, 1))),
        ("claude-opus-5", ("opus", (5, 0))),
        ("claude-v2:1", None),
        ("gpt-5", None),
        (None, None),
    ],
)
def test_the_generation_of_a_claude_is_read_from_its_name(model, generation):
    assert claude_of(model) == generation


@pytest.mark.parametrize(
    ("model", "is_bound", "prefill", "system"),
    [
        ("claude-haiku-4-5", False, True, False),
        ("claude-sonnet-4-6", False, False, False),
        ("claude-opus-4-8", False, False, True),
        ("claude-fable-5", False, False, True),
        ("claude-fable-5-1", True, False, True),
        ("claude-opus-5-5", True, False, True),
        ("claude-mythos-5-2", False, False, True),
        (None, True, False, False),
    ],
)
def test_what_a_generation_of_claude_takes(model, is_bound, prefill, system):
    assert (thinks_bound(model), takes_prefill(model), takes_system_messages(model)) == (is_bound, prefill, system)


@pytest.mark.parametrize(
    ("model", "signs"),
    [
        ("gemini-3.1-pro", True),
        ("models/gemini-2.5-flash", False),
        ("gemini-flash-latest", True),
        ("gemma-3", False),
        (None, True),
    ],
)
def test_which_generation_of_gemini_signs_calls(model, signs):
    assert signs_calls(model) == signs


@pytest.mark.parametrize(
    ("model", "splits"),
    [
        ("open-mistral-7b", True),
        ("open-mixtral-8x22b", True),
        ("mistral-large-2407", True),
        ("mistral-medium-2312", True),
        ("pixtral-12b-2409", True),
        ("mistral-large-2411", False),
        ("mistral-medium-2505", False),
        ("mistral-large-latest", False),
        (None, False),
    ],
)
def test_which_models_of_mistral_take_words_or_calls(model, splits):
    assert splits_calls(model) == splits


@pytest.mark.parametrize(
    ("model", "is_it"),
    [("mistralai/Ministral-8B", True), ("devstral-medium-latest", True), ("Magistral-Small", True), ("qwen3", False)],
)
def test_models_of_mistrals_bring_one_of_its_rules_along(model, is_it):
    assert ("bridging" in {rule.name for rule in rules_for("vllm", model).rules}) == is_it
