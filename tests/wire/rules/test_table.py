"""One line for each rule: the smallest conversation that breaks it, and what becomes of it at each provider.

Roles are written s(ystem), d(eveloper), u(ser), a(ssistant), c (an assistant that calls), t(ool).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import pytest

from aaa.messages import Message, OpaquePart, TextPart, ToolSpec
from aaa.wire.rules import PROVIDERS, Rules, rules_for
from tests.wire.rules.checks import repairable
from tests.wire.rules.histories import (
    DOCUMENT,
    EMPTY_ITEM,
    IMAGE,
    REASONING,
    SHELL,
    SHELL_OUTPUT,
    THINKING,
    UNSIGNED,
    call,
    result,
)
from tests.wire.rules.profiles import THINKING_BUDGET

SYSTEM, USER, ASSISTANT = Message("system", "s"), Message("user", "u"), Message("assistant", "a")
CALL, RESULT = call("a12345678"), result("a12345678")


RESPONSES = ("openai-responses", "azure-responses", "xai-responses")


class Line(NamedTuple):
    """`roles` is what is left after the repair, at providers that are not in `others`."""

    breaks: str
    messages: Sequence[Message]
    roles: str
    others: Mapping[str, str] = {}


BRIDGED = {"mistral": "uctau", "strict-template": "uctau"}
SERVER_USE = OpaquePart("server_tool_use", '{"type":"server_tool_use","id":"s1","name":"web"}', "anthropic")
SERVER_RESULT = OpaquePart("web_tool_result", '{"type":"web_tool_result","tool_use_id":"s1"}', "anthropic")
WORDS_LAST = msgspec.structs.replace(CALL, content="a", extra='{"aaa:anthropic":{"order":"cp"}}')
JOINED = Message("user", "u", extra='{"aaa:gemini":{"place":"joined"}}')
BOTH = msgspec.structs.replace(CALL, tool_calls=(*CALL.tool_calls, *call("b12345678").tool_calls))
OWN_WORDS = Message("user", "u", extra='{"aaa:gemini":{"place":"own"}}')
OWN = msgspec.structs.replace(result("b12345678"), extra='{"aaa:gemini":{"place":"own"}}')

LINES = (
    Line("characters half_character", [Message("user", "u\ud83d")], "u"),
    Line("pairing missing_result", [USER, CALL], "uct"),
    Line("pairing missing_result", [USER, CALL, USER], "uctu", BRIDGED | {"bedrock": "uctau"}),
    Line("pairing displaced_result", [USER, CALL, ASSISTANT, USER, RESULT], "uctau"),
    Line("pairing repeated_result", [USER, CALL, RESULT, RESULT], "uct"),
    Line("pairing orphan_result", [USER, RESULT, ASSISTANT, USER], "uau"),
    Line("pairing result_without_id", [USER, CALL, Message("tool", "r", name="read")], "uct"),
    Line("call_ids empty_id", [USER, call(""), result(None)], "uct"),
    Line("call_ids reused_id", [USER, CALL, RESULT, CALL, RESULT], "uctct"),
    Line("tool_names invalid_name", [USER, call("a12345678", name="поиск"), RESULT], "uct"),
    Line("result_names name_of_another_call", [USER, CALL, Message("tool", "r", (), "a12345678", "run")], "uct"),
    Line("arguments invalid_arguments", [USER, call("a12345678", arguments="{"), RESULT], "uct"),
    Line(
        "result_media media_in_result",
        [USER, CALL, result("a12345678", (IMAGE,))],
        "uctu",
        BRIDGED,
    ),
    Line("no_content null_content", [USER, Message("user"), USER], "uuu", {"perplexity": "u", "strict-template": "u"}),
    Line(
        "no_content empty_list",
        [USER, Message("user", ()), ASSISTANT, USER],
        "uuau",
        {"perplexity": "uau", "strict-template": "uau"},
    ),
    Line(
        "no_content null_text",
        [Message("user", (TextPart("a"), TextPart("", '{"text":null}'))), ASSISTANT, USER],
        "uau",
    ),
    Line("empty empty_message", [USER, Message("assistant", ""), USER], "uu", {"bedrock": "u"}),
    Line("empty empty_text", [USER, Message("assistant", (TextPart("a"), TextPart(""))), USER], "uau"),
    Line("system_role developer_role", [Message("developer", "d"), USER], "su"),
    Line("system_place displaced_system", [USER, ASSISTANT, SYSTEM], "uau"),
    Line("one_system second_system", [SYSTEM, SYSTEM, USER], "su"),
    Line("opening no_message", [], "u"),
    Line("opening begun_by_assistant", [SYSTEM, ASSISTANT, USER], "suau"),
    Line("bridging user_after_result", [USER, CALL, RESULT, USER], "uctau"),
    Line("alternation same_role_again", [USER, USER, ASSISTANT, ASSISTANT, USER], "uau"),
    Line("ending ended_by_assistant", [USER, ASSISTANT], "uau"),
    Line("ending prefix_before_end", [USER, Message("assistant", "a", extra='{"prefix":true}'), USER], "uau"),
    Line("one_prefill second_prefill", [USER, ASSISTANT, ASSISTANT], "ua"),
    Line("thinking unsigned_thinking", [USER, Message("assistant", (UNSIGNED, TextPart("a"))), USER], "uau"),
    Line("last_thought nothing_follows", [USER, Message("assistant", (REASONING,)), USER], "uu"),
    Line("last_thought nothing_follows", [USER, Message("assistant", (THINKING,)), USER], "uu", {"bedrock": "u"}),
    Line("documents document_without_text", [Message("user", (DOCUMENT,))], "u"),
    Line(
        "server_tools parted_result",
        [USER, Message("assistant", (SERVER_USE,)), SYSTEM, Message("assistant", (SERVER_RESULT,)), USER],
        "uauu",
        {"bedrock": "uau"},
    ),
    Line("client_calls missing_output", [USER, Message("assistant", (SHELL,)), USER], "uu"),
    Line("client_calls orphan_output", [USER, Message("assistant", (SHELL_OUTPUT, TextPart("a"))), USER], "uau"),
    Line(
        "client_calls repeated_output", [USER, Message("assistant", (SHELL, SHELL_OUTPUT, SHELL_OUTPUT)), USER], "uau"
    ),
    Line("empty_items empty_item", [USER, Message("assistant", (EMPTY_ITEM, TextPart("a"))), USER], "uau"),
    Line("calls_last words_behind_call", [USER, WORDS_LAST, RESULT], "uct"),
    Line("responses_apart words_among_responses", [USER, CALL, RESULT, JOINED], "uctu"),
    Line("responses_together responses_split", [USER, BOTH, RESULT, OWN], "uctt"),
    Line("rows_together row_split", [USER, OWN_WORDS, ASSISTANT, USER], "uuau"),
    Line("call_signatures missing_signature", [USER, CALL, RESULT], "uct"),
    Line("reasoning_content missing_reasoning", [USER, CALL, RESULT], "uct"),
)


BY_USER = ("anthropic", "anthropic-vertex", "bedrock", "gemini", "google", "perplexity", "strict-template", "vertex")
HAS_IT: dict[str, tuple[str, ...]] = {
    "opening begun_by_assistant": BY_USER,
    "no_content empty_list": tuple(name for name in PROVIDERS if name != "mistral"),
    "empty empty_text": ("anthropic", "anthropic-vertex", "bedrock", "chat"),
    "ending prefix_before_end": ("deepseek", "mistral"),
}
"""The providers at which a problem of a rule that others have too is one."""


def providers_of(line: Line) -> list[str]:
    rule = line.breaks.split()[0]
    thought = {"openai-responses" if part.format == "openai-responses" else "anthropic" for part in thoughts_of(line)}
    having = [name for name in PROVIDERS if rule in names_of(rules_for(name))]
    if rule == "last_thought":
        having = [name for name in having if (name in RESPONSES) == (thought == {"openai-responses"})]
    return [name for name in having if name in HAS_IT.get(line.breaks, having)]


def thoughts_of(line: Line) -> list[OpaquePart]:
    contents = [message.content for message in line.messages if isinstance(message.content, tuple)]
    return [part for content in contents for part in content if isinstance(part, OpaquePart)]


def names_of(rules: Rules) -> set[str]:
    return {rule.name for rule in rules.rules if rule.name != "limit"}


def roles_of(messages: Sequence[Message]) -> str:
    return "".join("c" if message.tool_calls else message.role[0] for message in messages)


CASES = [pytest.param(line, name, id=f"{line.breaks} {name}") for line in LINES for name in providers_of(line)]


@pytest.mark.parametrize(("line", "provider"), CASES)
def test_a_broken_rule_is_named_and_repaired(line, provider):
    rules = rules_for(provider)
    assert line.breaks in [f"{violation.rule} {violation.problem}" for violation in rules.violations(line.messages)]
    repaired, repairs = rules.repair(line.messages)
    assert roles_of(repaired) == line.others.get(provider, line.roles)
    assert line.breaks.split()[0] in [repair.rule for repair in repairs]
    assert repairable(rules.violations(repaired)) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_rule_of_a_provider_has_a_line(provider):
    lines = {line.breaks.split()[0] for line in LINES if provider in providers_of(line)}
    assert names_of(rules_for(provider)) <= lines


BY_MODEL = (
    (
        rules_for("anthropic", "claude-haiku-4-5"),
        "trimmed_prefill trailing_space",
        [USER, Message("assistant", "a ")],
        "ua",
    ),
    (
        rules_for("bedrock", "anthropic.claude-haiku-4-5"),
        "trimmed_prefill trailing_space",
        [USER, Message("assistant", "a ")],
        "ua",
    ),
    (
        rules_for("mistral", "mistral-large-2407"),
        "split_calls content_and_calls",
        [USER, call("a12345678", content="x"), RESULT],
        "uact",
    ),
    (
        rules_for("anthropic", "claude-opus-4-8"),
        "system_place displaced_system",
        [USER, ASSISTANT, SYSTEM, USER],
        "uauu",
    ),
    (rules_for("mistral"), "system_place displaced_system", [USER, CALL, RESULT, SYSTEM], "uctau"),
    (rules_for("mistral"), "call_ids invalid_id", [USER, call("toolu_1"), result("toolu_1")], "uct"),
    (rules_for("openai"), "call_ids invalid_id", [USER, call("x" * 41), result("x" * 41)], "uct"),
    (rules_for("openai-responses"), "call_ids invalid_id", [USER, call("x" * 65), result("x" * 65)], "uct"),
    (rules_for("anthropic"), "call_ids invalid_id", [USER, call("a~2"), result("a~2")], "uct"),
    (rules_for("bedrock"), "call_ids invalid_id", [USER, call("a.2"), result("a.2")], "uct"),
    (rules_for("bedrock"), "empty empty_result", [USER, CALL, result("a12345678", "")], "uct"),
    (
        rules_for("vllm", "mistralai/Devstral-Small-2507"),
        "bridging user_after_result",
        [USER, CALL, RESULT, USER],
        "uctau",
    ),
    (rules_for("cohere"), "tool_names invalid_name", [USER, call("a", name="1read"), result("a")], "uct"),
    (rules_for("vllm"), "arguments invalid_arguments", [USER, call("a", arguments=""), result("a")], "uct"),
    (rules_for("llama-server"), "one_prefill second_prefill", [USER, *[ASSISTANT] * 3], "ua"),
)


@pytest.mark.parametrize(("rules", "breaks", "messages", "roles"), BY_MODEL)
def test_what_a_provider_demands_beside_the_others(rules, breaks, messages, roles):
    assert breaks in [f"{violation.rule} {violation.problem}" for violation in rules.violations(messages)]
    repaired, _ = rules.repair(messages)
    assert roles_of(repaired) == roles
    assert repairable(rules.violations(repaired)) == []


UNREPAIRED = (
    (rules_for("bedrock", tools=()), "tools_named calls_without_tools", [USER, CALL, RESULT]),
    (rules_for("openai", tools=[ToolSpec("поиск")]), "tool_names invalid_tool", [USER]),
    (rules_for("openai", tools=[ToolSpec(f"t{n}") for n in range(129)]), "limit too_many_tools", [USER]),
    (
        rules_for("openai"),
        "limit too_many_calls",
        [USER, call(*map(str, range(129))), *map(result, map(str, range(129)))],
    ),
    (rules_for("openai-responses"), "limit result_too_long", [USER, CALL, result("a12345678", "x" * 10_485_761)]),
    (rules_for("anthropic"), "limit too_much_media", [Message("user", (IMAGE,) * 101)]),
    (rules_for("anthropic"), "limit too_many_bytes", [Message("user", "x" * (32 * 1024 * 1024 + 1))]),
    (rules_for("bedrock"), "limit too_many_bytes", [Message("user", "é" * (10 * 1024 * 1024 + 1))]),
    (rules_for("gemini"), "limit too_many_bytes", [Message("user", "x" * 20_971_521)]),
    (
        rules_for("anthropic", "claude-sonnet-4-5", params=THINKING_BUDGET),
        "thinking turn_without_thinking",
        [USER, CALL, RESULT],
    ),
)


@pytest.mark.parametrize(("rules", "breaks", "messages"), UNREPAIRED, ids=[case[1] for case in UNREPAIRED])
def test_what_only_the_caller_can_put_right_is_reported_and_left(rules, breaks, messages):
    found = rules.violations(messages)
    assert [f"{violation.rule} {violation.problem}" for violation in found] == [breaks]
    assert not found[0].is_repairable
    repaired, repairs = rules.repair(messages)
    assert repairs == []
    assert all(one is two for one, two in zip(repaired, messages, strict=True))


VALID = (
    ("anthropic", [SYSTEM, USER, CALL, USER, RESULT, Message("user", "and"), ASSISTANT, USER]),
    ("gemini", [SYSTEM, USER, CALL, USER, RESULT, ASSISTANT, USER]),
    ("openai", [SYSTEM, USER, ASSISTANT, SYSTEM, ASSISTANT, USER, CALL, RESULT, USER, ASSISTANT]),
    ("mistral", [SYSTEM, SYSTEM, USER, SYSTEM, ASSISTANT, CALL, RESULT, ASSISTANT, USER, USER]),
    ("llama-server", [ASSISTANT, USER, ASSISTANT, ASSISTANT, USER, Message("assistant", None), USER, ASSISTANT]),
    ("ollama", [USER, call("", ""), result(None), result(None), ASSISTANT]),
    ("perplexity", [SYSTEM, SYSTEM, USER, CALL, RESULT, ASSISTANT, USER]),
)


@pytest.mark.parametrize(("provider", "messages"), VALID)
def test_what_a_provider_takes_is_left_alone(provider, messages):
    rules = rules_for(provider, "gemini-2.5-pro" if provider == "gemini" else None)
    assert rules.violations(messages) == []
    assert rules.repair(messages) == (messages, [])
