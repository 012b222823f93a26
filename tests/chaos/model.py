"""The model and its provider: answers as a script of the test servers, counts in its own way, and goes wrong.

request ─▶ a fault? ─▶ too large? refused in one of the known wordings, or cut without a word ─▶ a reply
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.chaos.plan import RunPlan
from tests.chaos.texts import WORDINGS, Sizes, Wording
from tests.servers import replies
from tests.servers.replies import Call, Reply, Spec
from tests.servers.turn import Refused, Turn

__all__ = ["SECRET", "Refusal", "WildModel"]

SECRET = "quietsecret7"  # stands in every task and tool result, and may stand in no error
_STATUSES = (400, 400, 400, 400, 413, 422, 500)
_ASKED_OUTPUT = 256
_SMALLEST_WINDOW = 2_048
_BYTES_IN_PART = 120
_TRANSIENT = ("rate limit", "rate limit, no time", "500", "502 page", "503", "529", "half", "malformed", "object")
_TERMINAL = ("empty", "cut text", "cut call", "filter", "bad request", "key", "slow rate limit")


@dataclass
class Refusal:
    """An overflow as it was served."""

    wording: Wording | None
    sizes: Sizes


@dataclass
class WildModel:
    """One model at one provider, for one run; `served` counts what it did, `refusal` is the last answer if it was one.

    It calls tools until it has replied `steps` times, then gives its answer.
    """

    plan: RunPlan
    served: Counter[str] = field(default_factory=Counter)
    wordings: set[int] = field(default_factory=set)
    refusal: Refusal | None = None
    was_cut: bool = False
    was_fault: str = ""
    replies: int = 0
    server: Any = None
    _turn: Turn | None = None
    _refusals: int = 0
    _fallback: int | None = None
    prompt_tokens: int = 0
    reported_tokens: int = 0

    def __post_init__(self) -> None:
        self.chance: Random = self.plan.random("model")

    def receive(self, turn: Turn) -> None:
        """Take in a request that broke no rule, and count it."""
        self._turn = turn
        count = sum(len(piece.encode("utf-8", "replace")) for piece in turn.pieces)
        self.prompt_tokens = max(int(count / 4 * self.plan.ratio), 1)
        if self.plan.falls_at is not None and self._fallback is None and self.replies >= self.plan.falls_at:
            self._fallback = max(int(self.prompt_tokens * self.plan.fall), _SMALLEST_WINDOW)
        self.reported_tokens = self.prompt_tokens

    def loses_connection(self) -> bool:
        """Whether there is no connection this time; asked before a request comes in, where there is no socket."""
        self.refusal, self.was_cut, self.was_fault = None, False, ""
        if self.chance.random() < self.plan.fault_rate / len(_TRANSIENT):
            self._note("no connection")
            return True
        return False

    def __call__(self, body: Any) -> Spec:
        self.refusal, self.was_cut, self.was_fault = None, False, ""
        fault = self._fault()
        if fault is not None:
            return fault
        if self.prompt_tokens > self._window:
            if not self.plan.is_silent:
                return self._refuse()
            self._cut()
        self.replies += 1
        return self._reply()

    @property
    def _window(self) -> int:
        """What the model of the moment takes."""
        assert self._turn is not None
        asked = (self._turn.body.get("options") or {}).get("num_ctx")
        times = self.replies // self.plan.shrinks_every if self.plan.shrinks_every else 0
        window = max(int(self.plan.window * 0.9 ** min(times, 6)), _SMALLEST_WINDOW)
        window = min(window, self._fallback or window)
        return min(window, asked or window)

    def _note(self, kind: str) -> None:
        self.served[kind] += 1
        self.was_fault = kind

    def _fault(self) -> Spec | None:
        plan, chance = self.plan, self.chance
        if plan.storm_at is not None and plan.storm_at <= self.replies < plan.storm_at + 1:
            self._note("storm")
            return replies.server_error(503)
        if chance.random() < plan.hang_rate:
            self._note("hang")
            return replies.hang()
        if chance.random() < plan.fault_rate:
            return self._transient(chance.choice(_TRANSIENT))
        if chance.random() < plan.end_rate:
            return self._terminal(chance.choice(_TERMINAL))
        return None

    def _transient(self, kind: str) -> Spec:
        self._note(kind)
        match kind:
            case "rate limit":
                return replies.rate_limit(self.chance.choice([0.01, 1, 20]))
            case "rate limit, no time":
                return replies.raw(429, self._error("Too many requests"))
            case "500":
                return replies.server_error(500)
            case "502 page":
                return replies.not_json(502)
            case "503":
                return replies.server_error(503)
            case "529":
                return replies.overloaded()
            case "malformed":
                return replies.raw(200, self.chance.choice([b'{"choices": [{"mess', b"", b"\xff\xfe\x00", b"null"]))
            case "object":
                return replies.raw(200, self.chance.choice([b"{}", b"[]", b'{"choices": []}', b'"text"', b"7"]))
        return replies.half_stream()

    def _terminal(self, kind: str) -> Spec:
        self._note(kind)
        match kind:
            case "empty":
                return replies.empty()
            case "cut text":
                return replies.cut("I was about to sa")
            case "cut call":
                return replies.cut(Reply("", (self._call(),)))
            case "filter":
                return replies.raw(400, self._error("The response was filtered: content management policy"))
            case "key":
                return replies.auth_error()
            case "slow rate limit":
                return replies.rate_limit(3600)
        return replies.raw(400, self._error(f"Invalid value: '{self._said_last()}'. Expected something else."))

    def _said_last(self) -> str:
        """The end of the prompt, which providers like to quote; long enough to be recognised as a quotation."""
        assert self._turn is not None
        return f"{SECRET} " * 8 + self._turn.pieces[-1][-80:].replace("'", " ").replace('"', " ")

    def _error(self, message: str, code: str | None = None) -> bytes:
        """An error in the provider's shape."""
        error: Any = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        match self.plan.provider:
            case "anthropic":
                return _json({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
            case "ollama":
                return _json({"error": message})
            case "gemini":
                error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
        return _json({"error": error})

    def _sizes(self) -> Sizes:
        assert self._turn is not None
        characters = sum(map(len, self._turn.pieces))
        return Sizes(
            window=self._window,
            prompt=self.prompt_tokens,
            output=min(_ASKED_OUTPUT, self._window // 4),
            tools=min(_BYTES_IN_PART, self.prompt_tokens // 10),
            characters=characters,
            byte_count=characters + 500,
        )

    def _refuse(self) -> Spec:
        """The next of the wordings: each run begins with another, so that all of them come."""
        index = (self.plan.number + self._refusals) % len(WORDINGS)
        self._refusals += 1
        self._note("overflow")
        self.wordings.add(index)
        wording, sizes = WORDINGS[index], self._sizes()
        self.refusal = Refusal(wording, sizes)
        return self._wrapped(wording.said(sizes))

    def _wrapped(self, text: str) -> Spec:
        """The text in one of the shapes in which it travels."""
        chance = self.chance.random()
        if chance < 0.08:
            return replies.raw(self.chance.choice(_STATUSES), text, content_type="text/plain")
        if chance < 0.16:
            return self._in_a_reply(text)
        if chance < 0.24:
            inner = {"raw": self._error(text).decode(), "provider_name": "upstream"}
            body = {"error": {"message": "Provider returned error", "code": 400, "metadata": inner}}
            return replies.raw(400, _json(body))
        return replies.raw(self.chance.choice(_STATUSES), self._error(text))

    def _in_a_reply(self, text: str) -> Spec:
        """The text in an answer of status 200, or in the stream that was asked for."""
        if not self.plan.is_watched:
            return replies.raw(200, self._error(text))
        frames = b"".join(self.server.error_frames(Refused(400, text, type="invalid_request_error")))
        return replies.raw(200, frames, content_type=self.server.stream_type)

    def _cut(self) -> None:
        """Read only a part of the prompt and say nothing; Ollama keeps half, others fill the window."""
        self._note("silent cut")
        self.was_cut = True
        self.reported_tokens = self._window // 2 + 3 if self.plan.provider == "ollama" else self._window - 1

    def _reply(self) -> Reply:
        if self.replies > self.plan.steps:
            return replies.text("All of it is done.")
        chance = self.chance.random()
        calls = tuple(self._call() for _ in range(1 if chance < 0.7 else self.chance.choice([2, 3])))
        return Reply("" if chance < 0.4 else f"Step {self.replies}: I look further.", calls)

    def _call(self) -> Call:
        name = self.chance.choices(
            ["read", "table", "compute", "pay", "breaks", "slow", "no_such_tool"], [40, 20, 15, 10, 10, 2, 3]
        )[0]
        seed = self.chance.randrange(10**6)
        arguments: dict[str, Any] = {"seed": seed} if self.chance.random() < 0.97 else {"sead": str(seed)}
        return Call(name, arguments)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
