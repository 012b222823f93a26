"""A run that dies where it is told to, and the process after it that goes on. A program: see `main`.

    python crashing.py FOLDER       {"sticky": false, "places": ["model"], "every": 1} on standard input

For each place, for "before" and "after", for n = 1, 2, … (of which every `every`-th) until the run no longer gets that
far: one process starts the run and ends itself with `os._exit` at the n-th visit of the place; another recovers it.
What happened is printed, one JSON object a line; the first line is the run that nobody disturbed.

    write     an append, claim or submit of the store        tool      a tool's function
    model     a call of the model                            summary   a call of the summarizer
"""

import asyncio
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from pathlib import Path

import msgspec

from aaa.algos import ToolLoop
from aaa.context import ContextPolicy, HeuristicCounter
from aaa.errors import UnknownRunError
from aaa.llm import FakeLLMClient, LLMHandler
from aaa.llm.fake import text, together, tool_call
from aaa.messages import LLMResponse, Usage
from aaa.runtime import Engine, SQLiteEventStore
from aaa.tools import ToolContext, ToolHandler, ToolRegistry, tool

RUN = "run"
STEPS = 12
WINDOW = 3_300
DIED = 77
WAIT_SECONDS = 60


class Death:
    """Counts the visits of each place, keeps a journal that survives, and ends the process where it is told to."""

    def __init__(self, folder: Path, attempt: int, point: tuple[str, int, str] | None) -> None:
        self.attempt = attempt
        self.point = point
        self.visits: Counter[str] = Counter()
        self._journal = os.open(folder / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    @contextlib.contextmanager
    def visit(self, place: str, key: str):
        self.visits[place] += 1
        number = self.visits[place]
        if self.point == (place, number, "before"):
            os._exit(DIED)
        if place != "write":
            self._note(place, key)
        yield
        if self.point == (place, number, "after"):
            os._exit(DIED)

    def _note(self, place: str, key: str) -> None:
        os.write(self._journal, json.dumps([self.attempt, place, key]).encode() + b"\n")


class Hasty(sqlite3.Connection):
    """Does not wait for the disk: what a process has written outlives it, only a power failure would undo it."""

    def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:
        return super().execute(sql.replace("synchronous = FULL", "synchronous = OFF"), *parameters)


def hasty(path: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False, factory=Hasty)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


class DyingStore(SQLiteEventStore):
    """A store that visits "write" whenever it is to write."""

    def __init__(self, path: Path, death: Death, connect=hasty) -> None:
        super().__init__(path, connect=connect)
        self._death = death

    async def submit(self, run_id, started):
        with self._death.visit("write", ""):
            return await super().submit(run_id, started)

    async def claim(self, run_id, token=None):
        with self._death.visit("write", ""):
            return await super().claim(run_id, token)

    async def append(self, run_id, expected_seq, epoch, events):
        with self._death.visit("write", ""):
            return await super().append(run_id, expected_seq, epoch, events)


def fingerprint(request) -> str:
    """Of every byte that a provider would see."""
    sent = [msgspec.to_builtins([*request.messages]), msgspec.to_builtins([*request.tools]), request.model]
    return blake2b(msgspec.json.encode(sent), digest_size=16).hexdigest()


def next_step(request) -> LLMResponse:
    """What the model does: a function of the last message, so that any process replies the same."""
    found = re.search(r"step (\d+)", request.messages[-1].text)
    step = int(found[1]) + 1 if found else 1
    if step > STEPS:
        return text(f"All {STEPS} steps are done.")
    if step % 3 == 0:
        return together(tool_call("look", step=step), tool_call("fetch", step=step))
    return tool_call("look" if step % 2 else "fetch", step=step)


def client_of(death: Death) -> FakeLLMClient:
    """A model whose provider counts more tokens than the heuristic does."""

    def reply(request):
        with death.visit("model", fingerprint(request)):
            reply = next_step(request)
            usage = Usage(int(1.3 * HeuristicCounter().count(request.messages, request.tools)), 20)
            return msgspec.structs.replace(reply, usage=usage)

    return FakeLLMClient(reply)


def summarizer_of(death: Death) -> FakeLLMClient:
    """Writes summaries that tell what they were made of."""

    def summary(request):
        with death.visit("summary", fingerprint(request)):
            return text(f"The record so far has the fingerprint {fingerprint(request)}.")

    return FakeLLMClient(summary)


def registry_of(death: Death) -> ToolRegistry:
    """One tool that runs in the loop, one that runs in a thread."""

    @tool
    async def look(step: int, context: ToolContext) -> str:
        """Look at a step."""
        with death.visit("tool", context.idempotency_key):
            return f"looked at step {step}: " + "lorem ipsum " * 90

    @tool
    def fetch(step: int, context: ToolContext) -> str:
        """Fetch a step."""
        with death.visit("tool", context.idempotency_key):
            return f"fetched step {step}: " + "dolor sit amet " * 70

    return ToolRegistry([look, fetch])


async def go_on(folder: Path, attempt: int, point: tuple[str, int, str] | None, sticky: bool, connect=hasty) -> dict:
    """Bring the run to its end from wherever it is, or die."""
    death = Death(folder, attempt, point)
    client, registry = client_of(death), registry_of(death)
    async with DyingStore(folder / "runs.db", death, connect) as store:
        before = await recorded(store)
        async with Engine(store) as engine:
            policy = ContextPolicy(WINDOW, reserve_output=0, summarizer=summarizer_of(death), sticky=sticky)
            LLMHandler(client, context=policy).attach(engine)
            ToolHandler(registry).attach(engine)
            loop = ToolLoop(registry, system="Do one step after the other.")
            handles = await engine.recover([loop])
            handle = handles[0] if handles else await engine.start(loop, {"task": "do all steps"}, run_id=RUN)
            outcome = await asyncio.wait_for(handle.result(), WAIT_SECONDS)
        log = await recorded(store)
    return {
        "before": before,
        "log": log,
        "outcome": msgspec.to_builtins(outcome),
        "prompts": [fingerprint(request) for request in client.requests],
    }


async def recorded(store: SQLiteEventStore) -> list:
    """The log: position, id, type, key, and what the run had spent at its end."""
    try:
        events = await store.read(RUN)
    except UnknownRunError:
        return []
    return [[e.seq, e.id, e.type, e.data.get("key"), e.data.get("spent")] for e in events]


def in_process(folder: Path, attempt: int, point: tuple[str, int, str] | None, sticky: bool) -> dict | None:
    """What `go_on` returns in a process of its own; None if that died where it was told to."""
    answer = folder / f"answer-{attempt}"
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                answer.write_text(json.dumps(asyncio.run(go_on(folder, attempt, point, sticky))))
                os._exit(0)
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    else:
        arguments = json.dumps([attempt, point, sticky])
        code = subprocess.run([sys.executable, __file__, str(folder), arguments], check=False).returncode
    if code not in (0, DIED):
        raise SystemExit(f"attempt {attempt} of {point} ended with {code}")
    return json.loads(answer.read_text()) if code == 0 else None


def journal_of(folder: Path, attempt: int) -> list:
    """What an attempt did: (place, key)."""
    lines = map(json.loads, (folder / "journal").read_text().splitlines())
    return [[place, key] for by, place, key in lines if by == attempt]


def crash(folder: Path, point: tuple[str, int, str], sticky: bool) -> dict | None:
    """Die there, then go on in another process; None if the run ended without getting there."""
    folder.mkdir()
    if in_process(folder, 1, point, sticky) is not None:
        return None
    after = in_process(folder, 2, None, sticky)
    return {"point": point, **after, "first": journal_of(folder, 1), "second": journal_of(folder, 2)}


def main(folder: Path) -> None:
    """All crashes that are asked for on standard input."""
    asked = json.load(sys.stdin)
    warm, whole = folder / "warm", folder / "whole"
    warm.mkdir()
    whole.mkdir()
    asyncio.run(go_on(warm, 1, None, asked["sticky"]))  # what is loaded on first use need not be loaded by each child
    undisturbed = in_process(whole, 1, None, asked["sticky"])
    say({**undisturbed, "first": journal_of(whole, 1)})
    for place in asked["places"]:
        for offset, when in enumerate(("before", "after")):
            number = 1 + offset % asked["every"]
            while done := crash(folder / f"{place}-{when}-{number}", (place, number, when), asked["sticky"]):
                say(done)
                number += asked["every"]


def say(value: dict) -> None:
    """One line of output."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        attempt, point, sticky = json.loads(sys.argv[2])
        folder = Path(sys.argv[1])
        result = asyncio.run(go_on(folder, attempt, tuple(point) if point else None, sticky))
        (folder / f"answer-{attempt}").write_text(json.dumps(result))
    else:
        main(Path(sys.argv[1]))
