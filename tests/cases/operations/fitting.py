"""fit, prepare, clear_tool_results and what else makes a prompt without a model."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import convert

import aimu
from aaa.context import (
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    Prepared,
    PromptFitter,
    Summarize,
    TruncateToolResults,
    without_old_thinking,
)
from aaa.context.strategies import CutMessages, DropMedia, ShortenCalls
from aaa.errors import AaaError
from aaa.messages import Message, without_parts
from aaa.runtime import Engine, MemoryEventStore
from tests.cases.counters import TurnCounter, counter_of
from tests.cases.formats import format_of
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel
from tests.cases.operations.compacting import summarizer_of
from tests.cases.operations.turns import pinned_first, tools_of
from tests.runtime.making import Given

__all__ = ["OPERATIONS"]

_WIDE = 10_000_000  # tokens: a window that nothing here is too large for
_CHAT = format_of({})[0]
_ALWAYS: dict[str, Any] = {"trigger": 1e-9, "target": 1e-9}  # strategies run whatever the size


def fit(found: Found) -> None:
    """Make a conversation fit a window, or a number of messages."""
    case = found.case
    read = found.given_format.request(case["messages"], case.get("tools", ()))
    counter = _counter(found)
    found.tools = [*read.tools, *(tools_of(case["fixed_tokens"], counter) if "fixed_tokens" in case else ())]
    found.before = [*pinned_first(found, read.messages)]
    found.facts["untouched"] = list(found.before)
    summarizer_of(found)
    try:
        start = time.process_time()
        prepared = asyncio.run(_fitted(found, found.before, counter, found.summarizer))
        found.seconds = time.process_time() - start
    except (AaaError, ValueError) as error:
        found.error = error
        return
    found.after, found.plan, found.history = prepared.messages, prepared.plan, found.before
    found.count_calls = getattr(counter, "calls", 0)
    found.again, found.facts["twice"] = partial(_anew, found, found.after), partial(_anew, found, found.before)


def _counter(found: Found) -> Any:
    return TurnCounter(found.format) if "max_messages" in found.case else counter_of(found.case)


def _anew(found: Found, messages: Sequence[Message]) -> list[Message]:
    """What the same settings make of messages, with a summarizer that begins its script again."""
    summarizer = ScriptedModel(found.case.get("summarizer"))
    return list(asyncio.run(_fitted(found, messages, _counter(found), summarizer)).messages)


async def _fitted(
    found: Found, messages: Sequence[Message], counter: Any, summarizer: ScriptedModel
) -> Prepared[Message]:
    """First the limits that hold however much room there is, then the window."""
    for limits, settings in _limits(found.case):
        policy = ContextPolicy(_WIDE, reserve_output=0, counter=counter, strategies=limits, **settings, **_ALWAYS)
        messages = (await PromptFitter(policy).fit(messages, tools=found.tools, **found.target)).messages
    policy = _policy(found, counter, summarizer)
    return await PromptFitter(policy).fit(messages, tools=found.tools, **found.target)


def _policy(found: Found, counter: Any, summarizer: ScriptedModel) -> ContextPolicy:
    case = found.case
    if "max_messages" in case:
        limits: dict[str, Any] = {"trigger": 1.0, "target": 1.0}
        strategies = [*([Summarize(summarizer)] if "summarizer" in case else []), DropOldest()]
        return ContextPolicy(case["max_messages"], reserve_output=0, counter=counter, strategies=strategies, **limits)
    return ContextPolicy(
        case.get("window", _WIDE),
        reserve_output=case.get("reserve_output", 0),
        counter=counter,
        strategies=_strategies(case),
        **_ratio(case),
        **({"summarizer": summarizer} if "summarizer" in case else {}),
    )


def _ratio(case: Mapping[str, Any]) -> dict[str, Any]:
    ratio = case.get("threshold_ratio")
    return {} if ratio is None else {"trigger": ratio, "target": min(ratio, 0.6)}


def _strategies(case: Mapping[str, Any]) -> Sequence[Any] | None:
    if "max_tool_result_chars" not in case:
        return None
    summarize = [Summarize()] if "summarizer" in case else []
    return [TruncateToolResults(case["max_tool_result_chars"]), ClearToolResults(), *summarize, DropOldest()]


def _limits(case: Mapping[str, Any]) -> list[tuple[list[Any], dict[str, Any]]]:
    """Limits beside the window, each with the settings that it needs; of results not even the newest is spared."""
    limits: list[tuple[list[Any], dict[str, Any]]] = []
    if "max_tool_result_chars" in case:
        limits.append(([TruncateToolResults(case["max_tool_result_chars"])], {"keep_recent": 0}))
    if "max_request_bytes" in case:
        limits.append(([DropMedia(max_bytes=case["max_request_bytes"])], {}))
    if "max_tokens_per_message" in case:
        limits.append(([CutMessages(case["max_tokens_per_message"])], {}))
    return limits


def prepare(found: Found) -> None:
    """Make a conversation valid for who it is sent to."""
    found.before = _chosen(found)
    found.after = valid(found, found.before)
    found.again = valid(found, found.after)
    found.facts["twice"] = valid(found, _chosen(found))
    found.value = "normal_turn" if list(found.after) == list(found.before) else "another"


def _chosen(found: Found) -> list[Message]:
    """The messages that the caller keeps: he leaves some out by himself, and the keys that he chose them by."""
    case = found.case
    where, ids, types = case.get("drop_where", {}), case.get("drop_ids", ()), case.get("drop_types", ())
    turns = [
        {key: value for key, value in turn.items() if key not in where}
        for turn in case["messages"]
        if not (where and all(turn.get(key) == value for key, value in where.items())) and turn.get("id") not in ids
    ]
    return without_parts(found.given_format.read(turns), lambda part: getattr(part, "type", "text") in types)


def valid(found: Found, messages: Sequence[Message], *, model: str | None = None) -> list[Message]:
    """The messages as they are sent: valid for the provider, with nothing made smaller."""
    target = found.target | ({"model": model} if model else {})
    fitter = PromptFitter(ContextPolicy(_WIDE, counter=counter_of(found.case)))
    return list(asyncio.run(fitter.fit(messages, **target)).messages)


def clear_tool_results(found: Found) -> None:
    """Clear old results; of some tools none."""
    case = found.case
    settings = {"placeholder": case["marker"]} if "marker" in case else {}
    if "keep_last_results" in case:
        settings["keep_last"] = case["keep_last_results"]
    spared = [*case.get("protect_tools", ()), *case.get("exclude_tools", ())]
    try:
        if not spared and _is_chat(found):
            _reduce(found, partial(aimu.clear_tool_results, **settings))
        else:
            _apply(found, ClearToolResults(**settings).sparing(*spared))
    except ValueError as error:
        found.error = error


def _is_chat(found: Found) -> bool:
    return found.given_format is _CHAT


def _apply(found: Found, strategy: Any, added: Message | None = None, **settings: Any) -> None:
    """What a strategy makes of the whole conversation: of dicts, where they are OpenAI's, else of messages."""
    policy = ContextPolicy(_WIDE, reserve_output=0, strategies=[strategy], keep_recent=0, **settings, **_ALWAYS)
    _reduce(found, lambda given: list(asyncio.run(policy.prepare(given)).messages), added)


def _reduce(found: Found, reduce: Callable[[list[Any]], list[Any]], added: Message | None = None) -> None:
    """What is made of a conversation, to which a result may have come."""
    is_chat, read = _is_chat(found), found.given_format.read
    turns = [*found.case["messages"], *(_CHAT.turns([added]) if added else ())]
    given: list[Any] = turns if is_chat else [*read(found.case["messages"]), *([added] if added else ())]
    found.before = read(found.case["messages"]) if is_chat else given
    reduced = reduce(given)

    def messages_of(items: list[Any]) -> list[Message]:
        return read(items) if is_chat else items

    found.after = messages_of(reduced)
    found.again, found.facts["twice"] = lambda: messages_of(reduce(reduced)), lambda: messages_of(reduce(given))


def shrink_calls(found: Found) -> None:
    """Shorten old calls."""
    _apply(found, ShortenCalls(found.case["max_arg_chars"]))


def add_tool_result(found: Found) -> None:
    """Take in a result that is longer than the API takes."""
    case = found.case
    read = found.given_format.read(case["messages"])
    pending = next(call for message in reversed(read) for call in reversed(message.tool_calls))
    limit = case.get("max_string_chars") or case.get("max_chars") or case["max_tool_result_chars"]
    result = Message("tool", case["result"], tool_call_id=pending.id)
    if _is_chat(found):
        _reduce(found, partial(aimu.truncate_tool_results, max_chars=limit), result)
    else:
        _apply(found, TruncateToolResults(limit), result, provider=found.rules)


def strip_old_thinking(found: Found) -> None:
    """Leave out what the model thought in earlier turns."""
    found.before = found.given_format.read(found.case["messages"])
    found.after = valid(found, without_old_thinking(found.before))


def strip_marked(found: Found) -> None:
    """Leave out the parts that the caller has marked."""
    case = found.case
    found.before = found.given_format.read(case["messages"])
    marked = f'"mark":"{case["marker"]}"'
    left = without_parts(found.before, lambda part: marked in part.extra)
    found.after = valid(found, left)


def prune_then_read(found: Found) -> None:
    """Read something again whose earlier result was cleared."""
    case = found.case
    messages: list[dict[str, Any]] = [{"role": "user", "content": "read"}]
    for read in case["reads"]:
        messages += _read(read["id"], read["key"], read["content"])
    cleared = aimu.clear_tool_results(messages, keep_last=len(case["reads"]) - len(case["prune"]))
    again = next(read for read in case["reads"] if read["key"] == case["read_again"])
    found.before = _CHAT.read([*messages, *_read("again", again["key"], again["content"])])
    policy = ContextPolicy(_WIDE, provider=found.rules)
    given = [*_CHAT.read(cleared), *found.before[-2:]]
    found.after = list(asyncio.run(policy.prepare(given)).messages)
    found.value = "full" if found.after[-1].text == again["content"] else "short"


def _read(call_id: str, key: str, content: str) -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": f'{{"path":"{key}"}}'}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": content},
    ]


def roundtrip(found: Found) -> None:
    """Save a conversation, and load it."""
    found.before = found.given_format.read(found.case["messages"])
    found.after = convert(asyncio.run(_read_again(found.before)), list[Message])


async def _read_again(value: Any) -> Any:
    """What a run reads after a restart that it recorded before."""

    async def remember(run: Any, _: Any) -> Any:
        return await run.step("value", lambda: value)

    store = MemoryEventStore()
    async with Engine(store) as engine:
        await engine.run(Given(remember), None, run_id="r")
    async with Engine(store) as again:
        return (await (await again.resume("r", Given(remember))).result()).value


OPERATIONS = {
    "fit": fit,
    "prepare": prepare,
    "clear_tool_results": clear_tool_results,
    "shrink_calls": shrink_calls,
    "add_tool_result": add_tool_result,
    "strip_old_thinking": strip_old_thinking,
    "strip_marked": strip_marked,
    "prune_then_read": prune_then_read,
    "roundtrip_save_load": roundtrip,
}
