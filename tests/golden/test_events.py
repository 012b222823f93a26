"""Events as version 1 wrote them, one file a type. They stand for the logs that users have: none is ever changed."""

import asyncio
import json
import re
from pathlib import Path

import msgspec
import pytest

import aaa.runtime.events
from aaa.context.edits import Edit
from aaa.context.summaries import SummaryRecord
from aaa.messages import Message, Usage
from aaa.runtime.budget import Spent
from aaa.runtime.events import Event, event_from_json, event_to_json
from aaa.runtime.outcome import Outcome
from aaa.runtime.stores import MemoryEventStore, SQLiteEventStore

FOLDER = Path(__file__).parent / "events" / "v1"
FILES = sorted(FOLDER.glob("*.json"))


def loaded(type: str) -> Event:
    return event_from_json((FOLDER / f"{type}.json").read_bytes())


def types_in_the_table() -> set[str]:
    """The types that the first column of the table of events names; `.completed` continues the name before it."""
    names: set[str] = set()
    for cell in re.findall(r"^\| (aaa\.[^|]*?) \|", aaa.runtime.events.__doc__ or "", re.MULTILINE):
        first, *rest = cell.split(", ")
        names |= {first, *(first.rpartition(".")[0] + ending for ending in rest)}
    return names


def test_every_type_has_its_file():
    assert types_in_the_table() - {path.stem for path in FILES} == set()
    assert len(types_in_the_table()) >= 16


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_event_of_version_1_loads_whole(path):
    text = path.read_text(encoding="utf-8")
    event = event_from_json(text)
    assert (event.type, event.version, event.run_id) == (path.stem, 1, "run-1")
    written = json.loads(text)
    assert {name: getattr(event, name) for name in Event.__struct_fields__} == written
    assert event_from_json(event_to_json(event)) == event


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_event_with_fields_of_a_later_release_loads(path):
    written = json.loads(path.read_text(encoding="utf-8"))
    later = {**written, "version": 2, "trace": "later", "data": {**written["data"], "later": [1]}}
    event = event_from_json(json.dumps(later))
    assert (event.version, event.data["later"]) == (2, [1])


@pytest.mark.parametrize("name", ["memory", "sqlite"])
def test_both_stores_give_back_every_event_as_it_was(tmp_path, name):
    given = [event_from_json(path.read_bytes()) for path in FILES]

    async def scenario():
        async with MemoryEventStore() if name == "memory" else SQLiteEventStore(tmp_path / "runs.db") as store:
            await store.submit("run-1", given[0])
            epoch = await store.claim("run-1")
            await store.append("run-1", 1, epoch, given[1:])
            return await store.read("run-1")

    for seq, (stored, event) in enumerate(zip(asyncio.run(scenario()), given, strict=True), 1):
        assert stored == msgspec.structs.replace(event, seq=seq, epoch=min(seq - 1, 1))


def test_the_data_is_still_understood():
    completed = loaded("aaa.llm.completed").data
    message = msgspec.convert(completed["message"], Message)
    assert (message.text, message.tool_calls[0].arguments["text"]) == ("It returns 41; the test wants 42.", "42")
    assert msgspec.convert(completed["usage"], Usage) == Usage(1200, 34, 1234, 1024, reasoning_tokens=12)
    delta = msgspec.convert(loaded("aaa.llm.requested").data["conv"]["delta"], list[Message])
    assert [message.role for message in delta] == ["assistant", "tool"]
    record = msgspec.convert(loaded("aaa.context.summary").data["record"], SummaryRecord)
    assert (record.upto, record.identifiers) == (40, ("src/app.py", "tests/test_app.py"))
    edits = msgspec.convert([edit for _, edit in loaded("aaa.context.edited").data["added"]], list[Edit])
    assert [edit.action for edit in edits] == ["replace", "drop"]
    outcome = Outcome.of(loaded("aaa.run.completed"))
    assert (outcome.status, outcome.value, outcome.error and outcome.error["type"]) == (
        "out_of_turns",
        "so far",
        "OutOfTurnsError",
    )


def test_what_was_spent_is_still_counted():
    spent = Spent()
    for path in FILES:
        spent.fold(event_from_json(path.read_bytes()))
    assert (spent.tokens, spent.steps, round(spent.cost, 6)) == (1234 + 5000 + 2100 + 120, 1 + 3, 0.0271)
