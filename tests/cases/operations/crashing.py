"""crash_matrix, compact_save_load: what is there after a crash, and after a restart."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aaa.context import ContextPolicy, FitterState, PromptFitter, Summarize
from aaa.errors import StoreError, UnknownRunError
from aaa.messages import Message
from aaa.runtime import Engine, MemoryEventStore, SQLiteEventStore
from tests.cases.found import Found
from tests.cases.notation import ScriptedModel
from tests.cases.operations.compacting import groups_of, summarizer_of
from tests.runtime.making import Given, failing_from

__all__ = ["OPERATIONS"]

_WINDOW = 200_000
_WRITES = ("BEGIN IMMEDIATE", "INSERT INTO events", "COMMIT")
_NEVER = 1_000_000


def crash_matrix(found: Found) -> None:
    """A run that compacts and dies at each statement of each write, wherever the case would have it die."""
    found.before = found.given_format.read(found.case["messages"])
    found.facts["old"] = [message.text for message in found.before]
    with TemporaryDirectory() as folder:
        states = asyncio.run(_crashed_anywhere(found, Path(folder)))
    found.facts["states"] = states


async def _crashed_anywhere(found: Found, folder: Path) -> dict[str, list[str]]:
    """The prompts by where the run died: what the log has then, and what there is when another process ended it."""
    states = {"after_commit": (await _crashed(found, folder / "whole", _WRITES[-1], _NEVER))[0]}
    for statement in _WRITES:
        for number in count(1):
            path = folder / f"{statement}{number}"
            left, has_died = await _crashed(found, path, statement, number)
            if not has_died:
                break
            states[f"{statement} {number}"] = left
            states[f"{statement} {number}, gone on"] = (await _crashed(found, path, statement, _NEVER))[0]
    return states


async def _crashed(found: Found, path: Path, statement: str, number: int) -> tuple[list[str], bool]:
    """The prompt that a log leads to whose n-th such statement failed for good, and whether there was one."""
    connect = failing_from(number, statement, "the process died", is_for_good=True)
    has_died = False
    try:
        async with SQLiteEventStore(path, connect=connect) as store, Engine(store) as engine:
            await engine.run(Given(_compacting(found)), None, run_id="r")
    except StoreError:
        has_died = True
    return await _prompt(found, await _recorded(path)), has_died


def _compacting(found: Found) -> Any:
    case = found.case

    async def work(run: Any, _: Any) -> str:
        fitter = _fitter(ScriptedModel(case["summarizer"]))
        return await run.step("compact", lambda: _compacted(fitter, found.before, case["keep_recent_messages"]))

    return work


async def _recorded(path: Path) -> str | None:
    """The last state in the log."""
    try:
        async with SQLiteEventStore(path) as store:
            events = await store.read("r")
    except UnknownRunError:
        return None
    return next((event.data["value"] for event in reversed(events) if event.type == "aaa.step.completed"), None)


async def _prompt(found: Found, state: str | None) -> list[str]:
    fitter = _fitter(ScriptedModel(None), state)
    return [message.text for message in (await fitter.fit(found.before)).messages]


def _fitter(summarizer: ScriptedModel, state: str | None = None) -> PromptFitter:
    policy = ContextPolicy(_WINDOW, strategies=[Summarize(summarizer)])
    return PromptFitter(policy, FitterState.from_json(state) if state else None)


def compact_save_load(found: Found) -> None:
    """What a program knows beside the conversation, after a compaction and a restart; and the prompt then."""
    summarizer_of(found)
    found.before = found.given_format.read(found.case["messages"])
    found.facts["state"], saved = asyncio.run(_resumed(found, found.case["state"]))
    fitter = _fitter(found.summarizer, saved)
    found.after = list(asyncio.run(fitter.fit(found.before, **found.target)).messages)


async def _resumed(found: Found, state: Mapping[str, Any]) -> Any:
    store, keep = MemoryEventStore(), found.case["keep_recent_messages"]
    is_under_way = asyncio.Event()

    async def work(run: Any, _: Any) -> Any:
        known = await run.step("state", lambda: json.loads(json.dumps(state)))
        saved = await run.step("compact", lambda: _compacted(_fitter(found.summarizer), found.before, keep))
        if not is_under_way.is_set():
            is_under_way.set()
            await asyncio.Event().wait()
        return [known, saved]

    engine = Engine(store)
    await engine.start(Given(work), None, run_id="r")
    await is_under_way.wait()
    await engine.close()
    async with Engine(store) as again:
        outcome = await (await again.resume("r", Given(work))).result()
    return outcome.value


async def _compacted(fitter: PromptFitter, messages: Sequence[Message], keep: int) -> str:
    await fitter.compact(messages, keep_recent=groups_of(messages, keep))
    return fitter.state.to_json()


OPERATIONS = {"crash_matrix": crash_matrix, "compact_save_load": compact_save_load}
