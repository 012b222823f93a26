"""What the formats write of a repaired conversation, judged by the test servers, which know nothing of the rules."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.messages import LLMRequest, Message
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.rules import Rules, rules_for
from tests.servers.anthropic_blocks import check_message, check_system
from tests.servers.anthropic_rules import check_conversation
from tests.servers.gemini_rules import check_contents
from tests.servers.ollama_rules import check_body
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.openai_chat_rules import check_messages
from tests.servers.openai_responses_items import ItemMemory
from tests.servers.openai_responses_rules import check_item
from tests.servers.signing import Signer
from tests.servers.turn import Refused
from tests.strategies import conversations
from tests.wire.rules.histories import histories


def judge_anthropic(request: LLMRequest, **takes: bool) -> None:
    body = anthropic.request_to_body(request)
    check_system(body.get("system"))
    for index, message in enumerate(body["messages"]):
        check_message(message, index)
    check_conversation(body["messages"], **{"takes_prefill": False, "takes_system": False} | takes)


def judge_gemini(request: LLMRequest) -> None:
    needs_signatures = request.model != "gemini-2.5-pro"
    check_contents(gemini.request_to_body(request), needs_signatures=needs_signatures, accepts=bool)


def judge_openai(request: LLMRequest) -> None:
    check_messages(openai_chat.request_to_body(request)["messages"], {"prefix", "reasoning_content"})


def judge_deepseek(request: LLMRequest) -> None:
    messages = openai_chat.request_to_body(request)["messages"]
    OpenAIChatServer._check_reasoning(messages, "reasoning_content")


def judge_responses(request: LLMRequest) -> None:
    items = openai_responses.request_to_body(request)["input"]
    for index, item in enumerate(items):
        check_item(item, index)
    ItemMemory(Signer("org-test")).check(items)


def judge_ollama(request: LLMRequest) -> None:
    check_body(ollama.request_to_body(request), {"completion", "tools", "vision", "thinking"})


def prefilled(request: LLMRequest) -> None:
    judge_anthropic(request, takes_prefill=True)


def with_system(request: LLMRequest) -> None:
    judge_anthropic(request, takes_system=True)


JUDGES: dict[str, tuple[Rules, str, Any]] = {
    "anthropic": (rules_for("anthropic", "claude-opus-5-5"), "claude-opus-5-5", judge_anthropic),
    "anthropic with prefill": (rules_for("anthropic", "claude-haiku-4-5"), "claude-haiku-4-5", prefilled),
    "anthropic with system": (rules_for("anthropic", "claude-opus-4-8"), "claude-opus-4-8", with_system),
    "gemini": (rules_for("gemini"), "gemini-3-pro", judge_gemini),
    "gemini 2.5": (rules_for("gemini", "gemini-2.5-pro"), "gemini-2.5-pro", judge_gemini),
    "openai": (rules_for("openai"), "gpt-5", judge_openai),
    "deepseek": (rules_for("deepseek"), "deepseek-v4", judge_deepseek),
    "responses": (rules_for("openai-responses"), "gpt-5", judge_responses),
    "ollama": (rules_for("ollama"), "qwen3", judge_ollama),
}


def sent(name: str, messages: Sequence[Message]) -> None:
    rules, model, judge = JUDGES[name]
    repaired, _ = rules.repair(messages)
    judge(LLMRequest(tuple(repaired), model=model))


@pytest.mark.parametrize("name", JUDGES)
@given(data=st.data())
def test_a_repaired_conversation_is_taken_by_its_provider(name, data):
    sent(name, data.draw(st.one_of(conversations(max_chars=60), histories())))


@pytest.mark.parametrize("name", ["anthropic", "gemini", "openai", "responses"])
def test_the_judges_refuse_what_is_not_repaired(name):
    _, model, judge = JUDGES[name]
    with pytest.raises(Refused):
        judge(LLMRequest((Message("tool", "x", tool_call_id="lost"), Message("user", "hi")), model=model))


TEXT, RESULTS = (
    {"type": "text", "text": "by the way"},
    [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("a", "b")],
)
USES = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in ("a", "b")]
RESPONSES = [{"functionResponse": {"name": name, "response": {"ok": True}}} for name in ("a", "b")]
CALLED = [{"functionCall": {"name": name, "args": {}}} for name in ("a", "b")]
LAYOUTS = [
    [["t"], ["a", "b"]],
    [["a"], ["t"], ["b"]],
    [["a"], ["b"]],
    [["t", "a", "b"]],
    [["a", "t", "b"]],
    [["a"], ["t", "b"]],
    [["b"], ["a"], ["t"]],
]
"""User turns behind a turn of two calls, as programs keep them that store what comes in one by one."""


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", ["anthropic", "anthropic with system"])
def test_results_that_anthropic_kept_elsewhere_come_first_in_the_turn_behind_their_calls(name, layout):
    blocks = dict(zip("abt", (*RESULTS, TEXT), strict=True))
    turns = [{"role": "user", "content": [blocks[key] for key in turn]} for turn in layout]
    body = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": USES}, *turns]}

    sent(name, anthropic.request_from_body(body).messages)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", ["gemini", "gemini 2.5"])
def test_responses_that_gemini_kept_elsewhere_are_one_turn_behind_their_calls(name, layout):
    parts = dict(zip("abt", (*RESPONSES, {"text": "by the way"}), strict=True))
    turns = [{"role": "user", "parts": [parts[key] for key in turn]} for turn in layout]
    body = {"contents": [{"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": CALLED}, *turns]}

    sent(name, gemini.request_from_body(body).messages)
