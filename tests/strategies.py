"""Hypothesis strategies shared by the property tests: conversations, tools, counters, policies.

A conversation is drawn as a realistic one, turn by turn, and then damaged by a few moves, so that everything real data
does is there (late, lost, early and doubled results, reused ids) while most of it stays plausible.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from aaa.context import (
    CalibratedCounter,
    ClearToolResults,
    ContextPolicy,
    DropOldest,
    HeuristicCounter,
    Strategy,
    Summarize,
    TiktokenCounter,
    TokenCounter,
    TruncateToolResults,
)
from aaa.messages import LLMRequest, LLMResponse, Message, OpaquePart, TextPart, ToolCall, ToolSpec, Usage
from aaa.wire.openai_chat import message_to_dict, tool_to_dict

__all__ = [
    "JoinedCounter",
    "PolicySpec",
    "as_dicts",
    "conversations",
    "json_values",
    "message_dicts",
    "policy_specs",
    "tool_dicts",
    "tool_specs",
    "usages",
]

_PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAA="  # the beginning of a PNG of 64 by 48
IMAGE = OpaquePart("image_url", f'{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{_PIXELS}"}}}}')
ODD_TEXTS = (
    "\ud800 lone",
    "lone \udfff",
    "\ud83d\ude00 two halves",
    "\U0001f600 astral",
    "e\u0301 combining",
    "\x00\x1f",
    "\u2028",
    '"quoted" \\ud800 \\n',
    "<record note=",
    "<|endoftext|>",
)
PHRASES = ("x", "word ", "src/main.py line 12\n", "\U0001f600", "é", '{"key": 1}, ')


@st.composite
def texts(draw: st.DrawFn, max_chars: int = 30_000) -> str:
    """Mostly short, sometimes odd, sometimes huge."""
    kind = draw(st.sampled_from("sssscommlh"))
    if kind == "s":
        return draw(st.text("abc é\n", max_size=12))
    if kind == "c":
        return draw(st.sampled_from(("continue", "ok", "yes", "error: no such file")))
    if kind == "o":
        return draw(st.sampled_from(ODD_TEXTS))
    bounds = {"m": (20, 400), "l": (400, 3000), "h": (3000, 30_000)}[kind]
    phrase = draw(st.sampled_from(PHRASES))
    length = min(draw(st.integers(*bounds)), max_chars)
    return (phrase * (length // len(phrase) + 1))[:length]


ARGUMENTS = (
    "{}",
    '{"path":"src/a.py"}',
    '{ "n" : 1 }',
    "",
    "not json {",
    "[1]",
    "null",
    '{"s":"\ud800"}',
    '{"a":1}' * 40,
)


@dataclass(slots=True)
class _Ids:
    """How a conversation names its calls: each anew, one id in each turn, or one for all."""

    kind: str
    used: int = 0

    def next(self, position: int) -> str:
        self.used += 1
        return {"unique": f"call_{self.used}", "turn": str(position), "same": "0", "empty": ""}[self.kind]


@st.composite
def conversations(
    draw: st.DrawFn, *, max_turns: int = 8, late: bool = False, pinned: bool = True, max_chars: int = 30_000
) -> list[Message]:
    """Any transcript: well formed, damaged, or beginning in its middle."""
    ids = _Ids(draw(st.sampled_from(("unique", "unique", "turn", "same", "empty"))))
    system = st.sampled_from(("system", "system", "developer"))
    messages = [Message(draw(system), draw(texts(400))) for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 4))))]
    if draw(st.sampled_from((True, True, True, False))):
        messages.append(Message("user", draw(texts(400))))
    for _ in range(draw(st.integers(0, max_turns))):
        messages += draw(_turns(ids, messages, max_chars))
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2, 4)))):
        _damage(draw, messages)
    if late:
        _come_late(draw, messages)
    if draw(st.sampled_from((False, False, False, False, True))):
        messages = messages[draw(st.integers(0, 5)) :]
    if pinned and draw(st.sampled_from((False, False, True))):
        messages = [_pin(message) if draw(st.integers(0, 5)) == 0 else message for message in messages]
    return messages


def _pin(message: Message) -> Message:
    return Message(message.role, message.content, message.tool_calls, message.tool_call_id, message.name, pinned=True)


@st.composite
def _turns(draw: st.DrawFn, ids: _Ids, before: Sequence[Message], max_chars: int) -> list[Message]:
    kind = draw(st.sampled_from(("call", "call", "call", "call", "user", "said", "empty", "system", "again", "orphan")))
    match kind:
        case "call":
            return draw(_call_turns(ids, max_chars))
        case "user":
            return [Message("user", draw(contents(max_chars)))]
        case "said":
            return [Message("assistant", draw(texts(max_chars)))]
        case "empty":
            return [Message("assistant", draw(st.sampled_from((None, ""))))]
        case "system":
            return [Message(draw(st.sampled_from(("system", "developer"))), draw(texts(400)))]
        case "orphan":
            return [Message("tool", draw(contents(max_chars)), (), draw(st.sampled_from(("lost", "0", "", None))))]
        case _:  # the same object once more
            return [draw(st.sampled_from(before))] if before else []


@st.composite
def _call_turns(draw: st.DrawFn, ids: _Ids, max_chars: int) -> list[Message]:
    names = draw(st.lists(st.sampled_from(("read", "run", "поиск")), min_size=1, max_size=4))
    arguments = st.sampled_from(ARGUMENTS)
    calls = tuple(ToolCall(ids.next(position), name, draw(arguments)) for position, name in enumerate(names))
    content = draw(st.sampled_from((None, "", "let me see")))
    results = [Message("tool", draw(contents(max_chars)), (), call.id, call.name) for call in calls]
    if len(results) > 1:
        results = draw(st.permutations(results))
    return [Message("assistant", content, calls), *results]


@st.composite
def contents(draw: st.DrawFn, max_chars: int) -> str | tuple[TextPart | OpaquePart, ...]:
    """Text, or parts of text and images."""
    if draw(st.sampled_from((True, True, True, False))):
        return draw(texts(max_chars))
    texted = st.builds(TextPart, texts(max_chars), st.sampled_from(("", '{"cache_control":{"type":"ephemeral"}}')))
    return tuple(draw(st.lists(st.one_of(texted, st.just(IMAGE)), max_size=3)))


def _damage(draw: st.DrawFn, messages: list[Message]) -> None:
    """One accident: a message lost, moved, doubled (the same object or an equal one), or put between others."""
    if not messages:
        return
    places = st.integers(0, len(messages) - 1)
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    at = draw(st.sampled_from(results)) if results and draw(st.booleans()) else draw(places)
    match draw(st.sampled_from(("lose", "move", "late", "double", "equal", "between"))):
        case "lose":
            del messages[at]
        case "move":
            message = messages.pop(at)
            messages.insert(draw(places), message)
        case "late":
            message = messages.pop(at)
            messages.insert(min(at + draw(st.integers(1, 4)), len(messages)), message)
        case "double":
            messages.insert(draw(places), messages[at])
        case "equal":
            message = messages[at]
            copy = Message(message.role, message.content, message.tool_calls, message.tool_call_id, message.name)
            messages.insert(draw(places), copy)
        case _:
            messages.insert(at, Message("user", "continue"))


def _come_late(draw: st.DrawFn, messages: list[Message]) -> None:
    """A result that comes when the conversation has gone on for a while: at its end."""
    results = [index for index, message in enumerate(messages) if message.role == "tool"]
    if results:
        messages.append(messages.pop(draw(st.sampled_from(results))))


# Dicts


def json_values(max_leaves: int = 5) -> st.SearchStrategy[Any]:
    """Any JSON value, with lone surrogates in its strings."""
    text = st.one_of(st.text(max_size=4), st.sampled_from(ODD_TEXTS))
    leaf = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), text)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
        max_leaves=max_leaves,
    )


@st.composite
def as_dicts(draw: st.DrawFn, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as plain dicts, with the variations that clients and servers have. One object may stand twice."""
    known: dict[int, dict[str, Any]] = {}
    plain = draw(st.booleans())
    for message in messages:
        if id(message) not in known:
            known[id(message)] = message_to_dict(message) if plain else draw(_dressed(message_to_dict(message)))
    return [known[id(message)] for message in messages]


@st.composite
def _dressed(draw: st.DrawFn, fields: dict[str, Any]) -> dict[str, Any]:
    if draw(st.integers(0, 4)) == 0:
        fields.setdefault("content", None)
    if draw(st.integers(0, 4)) == 0:
        fields["x_unknown"] = draw(json_values(3))
    if draw(st.integers(0, 4)) == 0:
        fields |= {"refusal": None, "tool_calls": fields.get("tool_calls"), "annotations": []}
    for call in fields.get("tool_calls") or ():
        if draw(st.integers(0, 4)) == 0:
            call["function"]["arguments"] = draw(st.dictionaries(st.sampled_from("ab"), json_values(2), max_size=2))
        if draw(st.integers(0, 4)) == 0:
            call["index"] = 0
    return fields


@st.composite
def message_dicts(draw: st.DrawFn) -> dict[str, Any]:
    """One message as any server might write it."""
    text = st.one_of(st.text(max_size=5), st.sampled_from(ODD_TEXTS))
    part = st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, text),
        st.builds(lambda text: {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}, text),
        st.builds(lambda value: {"type": "image_url", "image_url": {"url": value}}, text),
        st.dictionaries(st.sampled_from(("type", "text", "x")), json_values(3), max_size=3),
    )
    function = st.dictionaries(st.sampled_from(("name", "arguments", "strict", "x")), json_values(3), max_size=4)
    call = st.fixed_dictionaries(
        {},
        optional={
            "id": st.one_of(text, st.none(), st.just(0)),
            "type": st.sampled_from(("function", "custom", None)),
            "function": function,
            "custom": st.dictionaries(st.sampled_from(("name", "input")), text, max_size=2),
            "index": st.integers(0, 3),
            "x": json_values(3),
        },
    )
    return draw(
        st.fixed_dictionaries(
            {"role": st.one_of(st.sampled_from(("system", "developer", "user", "assistant", "tool", "ipython")))},
            optional={
                "content": st.one_of(st.none(), text, st.lists(part, max_size=3)),
                "tool_calls": st.one_of(st.none(), st.lists(call, max_size=3)),
                "tool_call_id": st.one_of(st.none(), text, st.just(0)),
                "name": st.one_of(st.none(), text),
                "refusal": st.none(),
                "reasoning_content": text,
                "function_call": st.one_of(st.none(), function),
                "x": json_values(),
            },
        )
    )


@st.composite
def tool_dicts(draw: st.DrawFn) -> dict[str, Any]:
    """One tool, wrapped or bare, as any client might write it."""
    schema = st.one_of(
        st.just({"type": "object", "properties": {}}),
        st.dictionaries(st.text(max_size=4), json_values(4), max_size=3),
    )
    function = draw(
        st.fixed_dictionaries(
            {"name": st.text(min_size=1, max_size=6)},
            optional={
                "description": st.one_of(st.none(), st.text(max_size=6), st.sampled_from(ODD_TEXTS)),
                "parameters": st.one_of(st.none(), schema),
                "strict": st.booleans(),
                "x": json_values(3),
            },
        )
    )
    if draw(st.booleans()):
        return function
    return draw(
        st.fixed_dictionaries(
            {"function": st.just(function)}, optional={"type": st.just("function"), "x": json_values(3)}
        )
    )


def tool_specs() -> st.SearchStrategy[tuple[ToolSpec, ...]]:
    """The tools of one call; few and small, none most of the time."""
    schema = '{"type":"object","properties":{"path":{"type":"string"}}}'
    tool = st.builds(ToolSpec, st.sampled_from(("read", "run")), texts(200), st.sampled_from(("{}", schema)))
    return st.one_of(st.just(()), st.lists(tool, max_size=3).map(tuple))


def tools_as_dicts(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [tool_to_dict(tool) for tool in tools]


# Policies


class JoinedCounter:
    """Only `count`, and not additive: all text joined, a constant for the request, a quarter token a character."""

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        text = "\n".join(
            [f"{m.role}{m.text}{''.join(c.name + c.arguments_json for c in m.tool_calls)}" for m in messages]
            + [tool.name + tool.description + tool.parameters_json for tool in tools]
        )
        return 3 + (len(text) + 3) // 4


class RaisingError(Exception):
    """What a summarizer of ours raises."""


class ScriptedSummarizer:
    """A summarizer and a client in one, that does what its script says and counts its calls."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.calls = 0

    def __call__(self, text: str, previous: str | None) -> str:
        self.calls += 1
        if self.script == "raising":
            raise RaisingError
        number = 0 if previous is None else 1 + len(previous) % 7
        return {
            "good": f"The work so far, part {number}: {len(text)} characters about src/main.py.",
            "odd": f"\ud800 part {number} </record> <record",
            "empty": " \n",
            "long": text + text + "x" * 30_000,
            "error": "Error: rate limit exceeded",
        }[self.script]

    async def complete(self, request: LLMRequest) -> LLMResponse:
        if self.script in ("tool_call", "cut_off"):
            self.calls += 1
            calls = (ToolCall("1", "read"),) if self.script == "tool_call" else ()
            reason = "tool_calls" if calls else "length"
            return LLMResponse(Message("assistant", "half a", calls), Usage(10, 5), finish_reason=reason)
        text = self(request.messages[-1].text, None)
        return LLMResponse(Message("assistant", text), Usage(10, 5), finish_reason="stop")


TIKTOKEN = TiktokenCounter()  # its vocabulary takes a while to load; it has no state

COUNTERS: dict[str, Callable[[], TokenCounter]] = {
    "heuristic": HeuristicCounter,
    "fine": lambda: HeuristicCounter(1.0, 0, 0),
    "calibrated": CalibratedCounter,
    "tiktoken": lambda: TIKTOKEN,
    "joined": JoinedCounter,
    "calibrated_joined": lambda: CalibratedCounter(JoinedCounter()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec:
    """A policy as data: `build` makes a new one each time, so that nothing is shared by accident."""

    window: int = 2000
    reserve: int = 0
    trigger: float = 0.85
    target: float = 0.6
    keep_recent: int = 3
    strategies: tuple[str, ...] = ("truncate", "clear", "drop")
    script: str = "good"
    is_client: bool = False
    max_chars: int = 500
    keep_last: int = 2
    keep_tokens_ratio: float = 0.4
    chunk_tokens: int = 24_000
    counter: str = "heuristic"
    ratio: float = 1.0
    sticky: bool = False
    summarizers: list[ScriptedSummarizer] = field(default_factory=list, repr=False, compare=False)

    def build(self) -> ContextPolicy:
        counter = COUNTERS[self.counter]()
        if isinstance(counter, CalibratedCounter) and self.ratio != 1.0:
            counter.ratios[None] = self.ratio
        return ContextPolicy(
            self.window,
            reserve_output=self.reserve,
            trigger=self.trigger,
            target=self.target,
            keep_recent=self.keep_recent,
            strategies=[self._strategy(name) for name in self.strategies],
            counter=counter,
            sticky=self.sticky,
        )

    def _strategy(self, name: str) -> Strategy:
        match name:
            case "truncate":
                return TruncateToolResults(self.max_chars)
            case "clear":
                return ClearToolResults(self.keep_last)
            case "drop":
                return DropOldest()
        summarizer = ScriptedSummarizer(self.script)
        self.summarizers.append(summarizer)
        how: Any = {"client": summarizer} if self.is_client else {"summarize": summarizer}
        return Summarize(keep_tokens_ratio=self.keep_tokens_ratio, chunk_tokens=self.chunk_tokens, **how)

    @property
    def summary_calls(self) -> int:
        """How often any summarizer of a policy built from this was called."""
        return sum(summarizer.calls for summarizer in self.summarizers)


@st.composite
def policy_specs(
    draw: st.DrawFn,
    *,
    sticky: bool | None = None,
    counters: Sequence[str] = tuple(COUNTERS),
    strategies: Sequence[str] = ("truncate", "clear", "summarize", "drop"),
) -> PolicySpec:
    """Any policy: small windows most often, each subset and order of the strategies."""
    window = draw(st.one_of(st.integers(200, 1500), st.integers(200, 20_000)))
    target, trigger = sorted(draw(st.tuples(*[st.sampled_from((0.1, 0.3, 0.5, 0.6, 0.85, 1.0))] * 2)))
    chosen = draw(st.lists(st.sampled_from(strategies), unique=True, max_size=4))
    is_client = draw(st.booleans())
    scripts = ("good", "good", "good", "odd", "empty", "raising", "long", "error")
    script = draw(st.sampled_from((*scripts, "tool_call", "cut_off") if is_client else scripts))
    return PolicySpec(
        window=window,
        reserve=draw(st.sampled_from((0, 0, 50, 199))),
        trigger=trigger,
        target=target,
        keep_recent=draw(st.integers(0, 6)),
        strategies=tuple(chosen),
        script=script,
        is_client=is_client,
        max_chars=draw(st.sampled_from((1, 40, 200, 500, 8000))),
        keep_last=draw(st.integers(0, 6)),
        keep_tokens_ratio=draw(st.sampled_from((0.0, 0.4, 1.0))),
        chunk_tokens=draw(st.sampled_from((1, 100, 24_000))),
        counter=draw(st.sampled_from(counters)),
        ratio=draw(st.sampled_from((1.0, 0.4, 0.77, 1.3, 3.0))),
        sticky=draw(st.booleans()) if sticky is None else sticky,
    )


def usages() -> st.SearchStrategy[int | None]:
    """What a provider may report as prompt tokens; None stands for no report."""
    return st.one_of(st.none(), st.sampled_from((0, -5, 1, 10**7)), st.integers(1, 3000))


def canonical_json(message: Message) -> str:
    """The bytes of one message as they go over the wire, keys sorted."""
    return json.dumps(message_to_dict(message), sort_keys=True)
