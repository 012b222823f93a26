"""compact and what else asks a model for a summary."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from aaa.context import (
    CollapseRepeats,
    ContextPolicy,
    DropOldest,
    FitterState,
    PromptFitter,
    Summarize,
    SummaryRecord,
    Transcript,
    groups,
)
from aaa.errors import AaaError, SummaryError
from aaa.messages import Message
from tests.cases.counters import CharCounter, counter_of
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel

__all__ = ["OPERATIONS", "groups_of", "summarizer_of"]

_WIDE = 1_000_000
_LONGEST_KEPT = 10_000  # tokens of one message whose keeping is planned
_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}


def summarizer_of(found: Found, default: Any = None) -> ScriptedModel:
    """The model that writes the summaries of a case."""
    found.summarizer = ScriptedModel(found.case.get("summarizer", default))
    return found.summarizer


def groups_of(messages: Sequence[Message], keep_messages: int) -> int:
    """How many groups the last messages are in."""
    return sum(end > len(messages) - keep_messages for _, end in groups(messages))


def fitter_of(found: Found, state: FitterState | None = None, **settings: Any) -> PromptFitter:
    """The fitter of a case, with its summarizer."""
    case = found.case
    strategy = Summarize(found.summarizer).limited(keep_tokens=case.get("keep_recent_tokens"))
    policy = ContextPolicy(
        case.get("window", _WIDE),
        reserve_output=case.get("reserve_output", 0),
        counter=counter_of(case),
        strategies=[strategy, DropOldest()],
        **settings,
    )
    return PromptFitter(policy, state)


def compact(found: Found) -> None:
    """Have a summary written now; what is appended then comes after it."""
    from tests.cases.operations.turns import pinned_first

    case = found.case
    summarizer_of(found)
    request = found.given_format.request(case["messages"], case.get("tools", ()))
    read, found.tools, state = pinned_first(found, request.messages), request.tools, None
    if "previous_summary" in case:
        earlier = [Message("user", "what was before")]
        state = _with_record(earlier, case["previous_summary"], len(earlier))
        read = [*earlier, *read]
    found.before = read
    fitter = fitter_of(found, state)
    found.facts["history_before"] = _stored(state, read)
    start = time.process_time()
    found.error = _run(_compacted(found, fitter, read))
    found.seconds = time.process_time() - start
    found.history = _stored(fitter.state, read)
    later = [*case.get("then_append", ())] + ([_user(found, case["next_user"])] if "next_user" in case else [])
    whole = [*read, *found.given_format.read([*case["messages"], *later])[len(request.messages) :]]
    prepared = asyncio.run(fitter.fit(whole, tools=found.tools, **found.target))
    found.after, found.plan = list(prepared.messages), prepared.plan
    if case.get("collapse_repeats"):
        found.after = _collapsed(found, found.after)
    found.again = list(asyncio.run(PromptFitter(ContextPolicy(_WIDE)).fit(found.after, **found.target)).messages)


def _stored(state: FitterState | None, messages: Sequence[Message]) -> list[Message]:
    """What the next prompt is made of: the messages, and the summaries that stand for some, with nothing cut."""
    return list(asyncio.run(PromptFitter(ContextPolicy(_WIDE), state).fit(messages)).messages)


def _run(compaction: Any) -> AaaError | None:
    try:
        asyncio.run(compaction)
    except AaaError as error:
        return error
    return None


async def _compacted(found: Found, fitter: PromptFitter, messages: Sequence[Message]) -> None:
    case = found.case
    keep = groups_of(messages, case["keep_recent_messages"]) if "keep_recent_messages" in case else 1
    await fitter.compact(
        messages,
        keep_recent=keep,
        keep_first=case.get("keep_head_messages"),
        timeout_seconds=case.get("timeout_s"),
    )


def _with_record(covered: Sequence[Message], text: str, upto: int, later: Sequence[Message] = ()) -> FitterState:
    transcript = Transcript([*covered, *later], count=lambda _: 0)
    digest = transcript.digest(upto) if upto <= len(transcript) else ""  # of a conversation that is not here
    begin = next((index for index, message in enumerate(covered) if not message.is_system), 0)
    return FitterState(records=(SummaryRecord(upto, digest, text, begin=begin),))


def _user(found: Found, text: str) -> dict[str, Any]:
    if found.given_format.key == "contents":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def _collapsed(found: Found, messages: Sequence[Message]) -> list[Message]:
    policy = ContextPolicy(
        _WIDE, reserve_output=0, trigger=1e-9, target=1e-9, strategies=[CollapseRepeats()], provider=found.rules
    )
    return list(asyncio.run(policy.prepare(messages)).messages)


def build_summary_request(found: Found) -> None:
    """What the model is sent that writes the summary; the first request of several."""
    case = found.case
    found.summarizer = ScriptedModel("echo_ok")
    found.before = found.given_format.read(case["messages"])
    fitter = fitter_of(found)
    asyncio.run(fitter.compact(found.before, keep_recent=0))
    found.facts["summaries"] = [list(request.messages) for request in found.summarizer.requests]
    found.after = [message for request in found.summarizer.requests for message in request.messages]
    if found.summarizer.requests:
        found.facts["first_request"] = found.summarizer.requests[0]


def compact_in_parts(found: Found) -> None:
    """A summary in parts, of which one takes too long; then once more."""
    case = found.case
    found.summarizer = ScriptedModel([{"text": f"Part {n}.", "sleep": s} for n, s in enumerate(case["part_seconds"])])
    messages = [Message("user", "task")]
    messages += [Message("assistant", f"{part} " * 2000) for part in range(case["parts"])]
    found.before = [*messages, Message("user", "go on")]
    counter = CharCounter(_CHARS)
    policy = ContextPolicy(_WIDE, counter=counter, strategies=[Summarize(found.summarizer, chunk_tokens=1100)])
    fitter = PromptFitter(policy)
    for _ in range(case["attempts"]):
        try:
            asyncio.run(fitter.compact(found.before, keep_recent=1, timeout_seconds=case["timeout_s"]))
        except SummaryError as error:
            found.error = error
    found.after = list(asyncio.run(fitter.fit(found.before)).messages)


def plan_keep(found: Found) -> None:
    """How much of the newest stays as it is, of messages that are small beside the window."""
    case = found.case
    found.summarizer = ScriptedModel("echo_ok")
    counter = CharCounter(_CHARS)
    from tests.cases.operations.turns import tools_of

    tools = tools_of(case["fixed_tokens"], counter)
    chars = 4 * max(min((case["window"] - case["fixed_tokens"]) // 10, _LONGEST_KEPT), 1)
    found.before = [Message("user", "task"), *(Message("assistant", f"{n:<{chars}}") for n in range(50))]
    strategy = Summarize(found.summarizer).limited(keep_tokens=case["keep_recent_tokens"])
    policy = ContextPolicy(case["window"], counter=counter, strategies=[strategy, DropOldest()], keep_recent=1)
    try:
        found.after = asyncio.run(policy.prepare(found.before, tools=tools)).messages
    except AaaError as error:
        found.error = error
        return
    kept = {id(message) for message in found.before[1:]}
    found.value = counter.count([message for message in found.after if id(message) in kept])


def run_tool_compact(found: Found) -> None:
    """A model calls a tool that compacts its own conversation."""
    summarizer_of(found)
    found.before = found.given_format.read(found.case["messages"])
    fitter = fitter_of(found)
    call = found.before[-1].tool_calls[-1]
    asyncio.run(fitter.compact(found.before, keep_recent=1))
    result = Message("tool", "done", tool_call_id=call.id)
    found.after = list(asyncio.run(fitter.fit([*found.before, result], **found.target)).messages)


def resume(found: Found) -> None:
    """Go on with a conversation that was saved with its summaries."""
    case = found.case
    messages = found.given_format.read([entry["m"] for entry in case["entries"] if "m" in entry])
    found.before = messages
    summaries = [entry for entry in case["entries"] if "summary" in entry]
    records = tuple(
        record for entry in summaries for record in _with_record(messages, entry["summary"], entry["covers"]).records
    )
    live = PromptFitter(ContextPolicy(_WIDE), FitterState(records=records))
    found.facts["live"] = list(asyncio.run(live.fit(messages, **found.target)).messages)
    resumed = PromptFitter(ContextPolicy(_WIDE), FitterState.from_json(live.state.to_json()))
    found.after = list(asyncio.run(resumed.fit(messages, **found.target)).messages)


def switch_model(found: Found) -> None:
    """The same conversation, with another model that has a smaller window."""
    case = found.case
    try:
        _switched(found, [case["from_window"], case["to_window"]], case.get("reserve_output", 0))
    except (AaaError, ValueError) as error:
        found.error = error


def switch_model_and_back(found: Found) -> None:
    """With a smaller model for a while."""
    fitter = _switched(found, found.case["windows"], 0)
    fresh = PromptFitter(fitter.policy)
    found.facts["given_again"] = list(asyncio.run(fresh.fit(found.before, model="0")).messages)


def _switched(found: Found, windows: Sequence[int], reserve: int) -> PromptFitter:
    summarizer_of(found)
    found.before = found.given_format.read(found.case["messages"])
    policy = ContextPolicy(
        lambda model: windows[int(model or 0)],
        reserve_output=reserve,
        counter=counter_of(found.case),
        summarizer=found.summarizer,
    )
    fitter = PromptFitter(policy)
    prompts = [
        list(asyncio.run(fitter.fit(found.before, model=str(place), provider=found.rules)).messages)
        for place in range(len(windows))
    ]
    found.after, found.history, found.facts["prompts"] = prompts[-1], found.before, prompts
    return fitter


OPERATIONS = {
    "compact": compact,
    "build_summary_request": build_summary_request,
    "compact_in_parts": compact_in_parts,
    "plan_keep": plan_keep,
    "run_tool_compact": run_tool_compact,
    "resume": resume,
    "switch_model": switch_model,
    "switch_model_and_back": switch_model_and_back,
}
