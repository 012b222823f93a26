"""Whether the plain functions do to a conversation what `aaa` does to it as messages."""

import asyncio
import logging

import aimu
from aaa.context import ClearToolResults, ContextPolicy, HeuristicCounter, TruncateToolResults, groups
from aaa.errors import ContextFloorError
from aaa.wire.openai_chat import messages_from_dicts
from aaa.wire.rules import rules_for
from aimu.context.layout import skeletons
from aimu.models.dicts import messages_of
from tests.aimu.talk import specified_text

__all__ = ["DIALECTS", "disagreements"]

DIALECTS = ("openai", "openai-responses", "anthropic", "gemini", "ollama", "mistral", "bedrock", "strict-template")


def disagreements(messages):
    """The names of what differs; none, if all agrees."""
    logging.disable(logging.WARNING)  # policies without room say so, again and again
    try:
        return list(_differing(messages))
    finally:
        logging.disable(logging.NOTSET)


def _differing(messages):
    counter, read = HeuristicCounter(), messages_from_dicts(messages)
    size = counter.count(read)
    pairs = {
        "counting": (aimu.count_tokens(messages, counter=counter), size),
        "estimating": (aimu.count_tokens(messages), len(specified_text(messages)) // 4),
        "grouping": (groups(skeletons(messages)), groups(read)),
        "clearing": (aimu.clear_tool_results(messages), _applied(messages, ClearToolResults(), size)),
        "truncating": (aimu.truncate_tool_results(messages), _applied(messages, TruncateToolResults(), size)),
        "fitting": (_fitted(messages, size // 2), _prepared(messages, _policy(size // 2))),
    }
    yield from (name for name, (ours, theirs) in pairs.items() if ours != theirs)
    for provider in DIALECTS:
        yield from (f"{what} for {provider}" for what in _by_rules(messages, read, provider))


def _by_rules(messages, read, provider):
    rules = rules_for(provider)
    violations, (repaired, _) = rules.violations(read), rules.repair(read)
    if aimu.check_messages(messages, provider) != violations:
        yield "checking"
    if messages_of(aimu.repair_messages(messages, provider)) != repaired:
        yield "repairing"


def _applied(messages, strategy, size):
    """What a policy makes of the conversation that wants it as small as this strategy can make it."""
    settings = {"trigger": 1e-9, "target": 1e-9, "keep_recent": 0, "strategies": [strategy]}
    return _prepared(
        messages, ContextPolicy(100 * size + 100_000, reserve_output=0, counter=HeuristicCounter(), **settings)
    )


def _policy(window):
    return ContextPolicy(max(window, 1), reserve_output=0, counter=HeuristicCounter())


def _prepared(messages, policy):
    try:
        return asyncio.run(policy.prepare(messages)).messages
    except ContextFloorError as error:
        return str(error)


def _fitted(messages, window):
    try:
        return aimu.fit_messages(messages, max(window, 1), counter=HeuristicCounter())
    except ContextFloorError as error:
        return str(error)
