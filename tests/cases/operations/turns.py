"""run_turn and run_turns: an agent at work, by the public doors."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from aaa.context import ClearToolResults, ContextPolicy, DropOldest, PromptFitter, Summarize
from aaa.errors import AaaError
from aaa.llm import LLMHandler
from aaa.messages import LLMRequest, Message, ToolCall, ToolSpec
from aaa.runtime import Engine
from tests.cases.counters import CharCounter, TurnCounter, counter_of
from tests.cases.formats import format_of
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel
from tests.cases.operations.compacting import groups_of, summarizer_of
from tests.runtime.making import Given

__all__ = ["OPERATIONS", "pinned_first", "tools_of"]

_CHARS = {"chars_per_token": 4, "per_message": 0, "count": ["content", "arguments"]}
_WINDOW = 100_000


def tools_of(tokens: int, counter: Any) -> tuple[ToolSpec, ...]:
    """One tool of this size; of exactly this by characters."""
    bare = CharCounter(_CHARS).count_tools([ToolSpec("work")])
    return (ToolSpec("work", "d" * 4 * (tokens - bare)),) if isinstance(counter, CharCounter) else _by_words(tokens)


def _by_words(tokens: int) -> tuple[ToolSpec, ...]:
    """One tool of about this size by any tokenizer."""
    return (ToolSpec("work", "word " * tokens),)


def pinned_first(found: Found, messages: Sequence[Message]) -> list[Message]:
    """The messages, with the texts that a case pins behind the instructions."""
    pinned = [Message("user", text, pinned=True) for text in found.case.get("pinned", ())]
    head = next((index for index, message in enumerate(messages) if not message.is_system), len(messages))
    return [*messages[:head], *pinned, *messages[head:]]


def run_turn(found: Found) -> None:
    """One call of a model, with what a handler does when it is refused."""
    case = found.case
    summarizer_of(found)
    found.provider = ScriptedModel(case["provider"])
    read = found.given_format.request(case["messages"], case.get("tools", ()))
    found.before, found.tools = pinned_first(found, read.messages), read.tools
    policy = ContextPolicy(
        case.get("window", _WINDOW),
        reserve_output=case.get("reserve_output", 0),
        counter=counter_of(case),
        strategies=[Summarize(found.summarizer), DropOldest()],
        provider=found.rules,
    )
    found.error = _ask(found.provider, policy, found.before, found.tools)
    found.facts["recovers"] = _recovers(found)


def _ask(
    client: Any, policy: ContextPolicy, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
) -> Exception | None:
    errors: list[Exception] = []

    class _Watched:
        """The client, with a note of what went up to the caller."""

        async def complete(self, request: LLMRequest) -> Any:
            return await client.complete(request)

    async def ask(run: Any, _: Any) -> str:
        try:
            return (await run.llm(messages, tools=tools)).message.text
        except AaaError as error:
            errors.append(error)
            raise

    async def once() -> None:
        async with Engine() as engine:
            LLMHandler(_Watched(), context=policy).attach(engine)
            await engine.run(Given(ask), None)

    asyncio.run(once())
    return errors[0] if errors else None


def _recovers(found: Found) -> bool:
    """Whether a later overflow is answered by one more preparation, as the first was."""
    client = ScriptedModel([{"text": "ok"}, {"error": "overflow"}, {"text": "ok"}])
    policy = ContextPolicy(_WINDOW, summarizer=ScriptedModel("echo_ok"), provider=found.rules)
    later = [*found.before, *(Message("user", f"more {n} " * 50) for n in range(20))]
    return _ask(client, policy, later) is None and _ask(client, policy, later) is None


class Session:
    """A conversation that grows, and the prompts that were sent of it."""

    def __init__(self, found: Found) -> None:
        case = found.case
        self.case = case
        self.found = found
        self.counter: Any = TurnCounter(found.format) if "max_messages" in case else CharCounter(_spec(case))
        self.tools = tools_of(case["fixed_tokens"], self.counter) if "fixed_tokens" in case else ()
        self.fitter = PromptFitter(self._policy())
        self.messages: list[Message] = []
        self.plans: list[Any] = []
        self.sizes: list[int] = []
        self.compactions = 0

    def _policy(self) -> ContextPolicy:
        case = self.case
        window, ratio = _window_and_ratio(case)
        return ContextPolicy(
            window,
            reserve_output=case.get("reserve_output", 0),
            trigger=ratio,
            target=min(0.6, ratio),
            counter=self.counter,
            strategies=self._strategies(),
            sticky=True,
            provider=self.found.rules,
        )

    def _strategies(self) -> list[Any]:
        clear = [ClearToolResults()] if self.case.get("clear_old_results") else []
        summarize = [Summarize(self.found.summarizer)] if "summarizer" in self.case else []
        return [*clear, *summarize, DropOldest()]

    async def ask(self) -> None:
        """Send what the conversation makes, and take in the reply."""
        prepared = await self.fitter.fit(self.messages, tools=self.tools)
        self.plans.append(prepared.plan)
        self.compactions += any(name != "stored_summary" for name in prepared.plan.applied)
        request = LLMRequest(tuple(prepared.messages), self.tools)
        reply = (await self.found.provider.complete(request)).message
        self.sizes.append(self.counter.count(prepared.messages, self.tools))
        self.fitter.record(self.sizes[-1])
        self.messages.append(reply)


def _spec(case: Mapping[str, Any]) -> Mapping[str, Any]:
    return case.get("counter", _CHARS)


def _window_and_ratio(case: Mapping[str, Any]) -> tuple[int, float]:
    if "max_messages" in case:
        return case["max_messages"], 1.0
    if "trigger_chars" in case:
        return case["trigger_chars"], 0.25
    window = case.get("window", _WINDOW)
    budget = window - case.get("reserve_output", 0)
    if "threshold" in case:
        return window, case["threshold"] / budget
    return window, case.get("threshold_ratio", 0.85)


def run_turns(found: Found) -> None:
    """A conversation of several turns."""
    summarizer_of(found, _summaries(found.case))
    found.provider = ScriptedModel(found.case.get("provider") or _replies(found.case))
    session = Session(found)
    try:
        asyncio.run(_turns(session))
    except AaaError as error:
        found.error = error
    found.before = found.history = session.messages
    found.facts |= {
        "session": session,
        "state_chars": len(session.fitter.state.to_json()),
        "sizes": session.sizes,
        "plans": session.plans,
        "compactions": session.compactions,
        "budget": session.fitter.policy.settings(None).budget_tokens,
        "records": session.fitter.book.records,
    }


def _replies(case: Mapping[str, Any]) -> list[dict[str, str]]:
    """A reply for each call, of the size that a case asks for."""
    chars = 2 * case.get("each_turn_adds", 0) or 8
    count = case["turns"] + 1
    return [{"text": f"{n:<{chars}}"} for n in range(count)]


def _summaries(case: Mapping[str, Any]) -> Any:
    """Summaries of the size that makes each compaction end where a case says."""
    if "context_after_compaction" not in case:
        return None
    return [{"text": f"{size:<900}"} for size in case["context_after_compaction"]]


async def _turns(session: Session) -> None:
    case = session.case
    session.messages += _start(case)
    after = case.get("compact_after_turn", ())
    compact_after = [after] if isinstance(after, int) else list(after)
    for turn in range(1, case["turns"] + 1):
        session.messages += _said(case, turn)
        await session.ask()
        if turn in compact_after or case.get("hook") == "summarise_each_turn":
            await session.fitter.compact(session.messages, keep_recent=_kept(session), tools=session.tools)


def _kept(session: Session) -> int:
    case = session.case
    return groups_of(session.messages, case["keep_recent_messages"]) if "keep_recent_messages" in case else 1


def _start(case: Mapping[str, Any]) -> list[Message]:
    """What stands before the first turn."""
    messages = [Message("system", case["system"])] if "system" in case else []
    messages += format_of(case)[0].read(case["messages"]) if "messages" in case else []
    messages += [Message("user", text, pinned=True) for text in case.get("pinned", ())]
    if "context_start" in case:
        messages += _context(case)
    if "start_chars" in case:
        messages += _reads("start", case["start_chars"], case["result_chars"])
    if case.get("driver") == "tool_loop_without_user":
        messages.append(Message("user", "go on until it is done"))
    return messages


def _context(case: Mapping[str, Any]) -> list[Message]:
    """A context of a size; of one that compaction hardly makes smaller nearly all is what must stay."""
    fixed = case["context_start"] - 1000 if "context_after_compaction" in case else 400
    rest = case["context_start"] - fixed
    parts = 10
    talk = [Message("assistant", f"{n} " + "w" * (4 * rest // parts - 2)) for n in range(parts)]
    return [Message("system", "s" * 4 * fixed), Message("user", "task"), *talk]


def _reads(name: str, chars: int, each: int) -> list[Message]:
    messages: list[Message] = [Message("user", "read all of it")]
    for number in range(chars // each):
        messages += _read(f"{name}{number}", each)
    return messages


def _read(name: str, chars: int) -> list[Message]:
    call = ToolCall(f"c_{name}", "read", json.dumps({"path": f"src/{name}.txt"}))
    text = f"{name} " + "r" * (chars - len(name) - 1)
    return [Message("assistant", None, (call,)), Message("tool", text, tool_call_id=call.id)]


def _said(case: Mapping[str, Any], turn: int) -> list[Message]:
    """What comes before the model's reply in one turn."""
    if turn <= len(case.get("user_texts", ())):
        return [Message("user", case["user_texts"][turn - 1])]
    if "files_per_turn" in case:
        return [Message("user", f"turn {turn}"), *_touched(turn, case["files_per_turn"])]
    if "result_chars" in case:
        user = [] if case.get("driver") == "tool_loop_without_user" else [Message("user", f"turn {turn}")]
        return [*user, *_read(str(turn), case["result_chars"])]
    chars = case.get("each_turn_chars") or 2 * case.get("each_turn_adds", 0)
    text = f"turn {turn} "
    return [Message("user", text + "w" * max(chars - len(text), 0))]


def _touched(turn: int, files: int) -> list[Message]:
    """Files read and written in one turn; every fourth is written."""
    messages: list[Message] = []
    for number in range(files):
        tool = "write_file" if number % 4 == 0 else "read_file"
        path = f"src/module_{turn}/{tool[0]}{number}.py"
        call = ToolCall(f"f{turn}_{number}", tool, json.dumps({"path": path}))
        messages += [Message("assistant", None, (call,)), Message("tool", "ok", tool_call_id=call.id)]
    return messages


OPERATIONS = {"run_turn": run_turn, "run_turns": run_turns}
