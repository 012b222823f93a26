"""Recorded requests that were answered break no rule; recorded conversations keep their prefix from call to call."""

import gzip
import json
import logging
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from aaa.errors import WireError
from aaa.messages import LLMRequest
from aaa.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from aaa.wire.openai_chat import messages_from_dicts
from aaa.wire.rules import PROVIDERS, rules_for
from tests.shared import data_folder, sample_step, trajectories
from tests.wire.rules.checks import repairable

FORMATS: dict[str, tuple[str | None, ModuleType]] = {
    "messages": ("anthropic", anthropic),
    "generate": ("gemini", gemini),
    "generate-stream": ("gemini", gemini),
    "api-chat": ("ollama", ollama),
    "responses": ("openai-responses", openai_responses),
    "v2-chat": ("cohere", openai_chat),
    "chat": (None, openai_chat),
}
MODEL_IN_URL = re.compile(r"models/([^/:]+)")

KNOWN = {("mistral", "bridging"), ("openai-responses", "empty"), ("openai-responses", "empty_items")}
KNOWN |= {("gemini", "empty"), ("gemini", "rows_together")}
"""What was answered all the same: the words of the user right behind a result, by mistral-small-latest; content that
is "", by gpt-4o and gemini-2.5-flash in 2025; two contents of calls in a row, by gemini-3-flash-preview."""


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.WARNING)  # what the formats note of parts that are new to them
    yield
    logging.disable(logging.NOTSET)


def answered() -> Iterator[tuple[str, str, str | None, LLMRequest]]:
    """A name, the provider, the model and the request of each recorded exchange that was answered."""
    folder = data_folder("wire")
    for path in sorted(folder.glob("*.json")):
        exchange = json.loads(path.read_text(encoding="utf-8"))
        request = exchange.get("request") or {}
        if exchange["response"].get("status", 200) == 200 and isinstance(request.get("body"), dict):
            found = MODEL_IN_URL.search(request.get("url", ""))
            yield from read(path.name, exchange, request["body"], found[1] if found else None)
    with gzip.open(folder / "usage-pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            yield from read(pair["id"], pair, pair["request"], pair["model"])


def read(
    name: str, exchange: dict[str, Any], body: dict[str, Any], model: str | None
) -> Iterator[tuple[str, str, str | None, LLMRequest]]:
    provider, format = FORMATS.get(exchange["api"], (None, None))
    provider = provider or (exchange["provider"] if exchange["provider"] in PROVIDERS else "openai-compatible")
    if format is None:
        return
    try:
        request = format.request_from_body(body)
    except WireError:  # cohere's older shapes
        return
    yield name, provider, request.model or model, request


def test_what_was_answered_breaks_no_rule():
    count = 0
    for number, (name, provider, model, request) in enumerate(answered()):
        if number % sample_step(3):
            continue
        rules = rules_for(provider, model, tools=request.tools, params=request.params)
        found = {(provider, violation.rule) for violation in rules.violations(request.messages)}
        assert found <= KNOWN, (name, model, rules.violations(request.messages))
        count += 1
    assert count > 500


@pytest.mark.parametrize("provider", ["openai", "anthropic", "mistral", "cohere", "openai-responses", "ollama"])
def test_what_was_sent_is_the_beginning_of_what_is_sent_next(provider):
    rules = rules_for(provider)
    for trajectory in trajectories(every=sample_step(40)):
        messages = messages_from_dicts(trajectory["messages"])
        asked = [at for at in range(1, len(messages)) if messages[at].role == "assistant" != messages[at - 1].role]
        before: list[Any] = []
        for at in asked[-6:]:
            prompt, _ = rules.repair(messages[:at])
            assert repairable(rules.violations(prompt)) == []
            assert prompt[: len(before)] == before, trajectory["id"]
            before = prompt
