"""The contract of `EventStore` as checks that every store must pass, ours and yours.

Each check is a coroutine function named by the sentence it holds, and takes one new, empty store. Under pytest:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_store(check):
        asyncio.run(on_new_store(check, open_my_store))

or without it: `asyncio.run(check_store(open_my_store))`. A failure is an `AssertionError` that begins with the
sentence.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from aaa.errors import AaaError, ConflictError, StoreError, SupersededError, UnknownRunError
from aaa.runtime.events import Event
from aaa.runtime.store import EventStore, read_to_replay, settled

__all__ = ["CHECKS", "Check", "OpenStore", "check_store", "on_new_store"]

Check = Callable[[EventStore], Awaitable[None]]
OpenStore = Callable[[], AbstractAsyncContextManager[EventStore]]
E = TypeVar("E", bound=AaaError)

_WAIT_SECONDS = 30.0
_WRITERS = 16
_ROUNDS = 8


async def check_store(open_store: OpenStore, checks: Sequence[Check] | None = None) -> None:
    """Run the checks, each on a new store.

    Raises:
        ExceptionGroup: of the `AssertionError`s, one for each check that failed.
    """
    failures: list[Exception] = []
    for check in CHECKS if checks is None else checks:
        try:
            await on_new_store(check, open_store)
        except AssertionError as error:
            failures.append(error)
    if failures:
        raise ExceptionGroup("the store breaks its contract", failures)


async def on_new_store(check: Check, open_store: OpenStore) -> None:
    """Run one check on a new store; whatever it raises becomes an `AssertionError` that begins with its sentence."""
    sentence = getattr(check, "__name__", "check").replace("_", " ")
    try:
        async with asyncio.timeout(_WAIT_SECONDS), open_store() as store:
            await check(store)
    except Exception as error:
        raise AssertionError(f"{sentence}: {error or type(error).__name__}") from error


async def a_submitted_run_reads_back_with_its_place(store: EventStore) -> None:
    """Run id, seq and epoch are filled in; all else is as given."""
    _expect(await store.submit("run", _event("s", "aaa.run.started", input="x")), True)
    _expect(await store.read("run"), [_placed(_event("s", "aaa.run.started", input="x"), "run", 1, 0)])


async def a_second_submit_is_false_and_changes_nothing(store: EventStore) -> None:
    """So that two processes may ask for one run."""
    await store.submit("run", _event("first"))
    _expect(await store.submit("run", _event("second")), False)
    _expect(_ids(await store.read("run")), ["first"])


async def a_claim_counts_the_epoch_up(store: EventStore) -> None:
    """Each driver has a number of its own."""
    await store.submit("run", _event("s"))
    _expect([await store.claim("run"), await store.claim("run")], [1, 2])


async def a_claim_with_a_token_makes_it_the_epoch(store: EventStore) -> None:
    """Dispatchers that number attempts hand their number down."""
    await store.submit("run", _event("s"))
    _expect(await store.claim("run", token=1 << 40), 1 << 40)
    _expect(await store.append("run", 1, 1 << 40, [_event("a")]), 2)


async def a_token_not_above_the_epoch_is_superseded(store: EventStore) -> None:
    """A process that was frozen must not take the run back."""
    await store.submit("run", _event("s"))
    await store.claim("run", token=7)
    for token in (6, 7):
        error = await _raised(SupersededError, store.claim("run", token=token))
        _expect((error.token, error.epoch), (token, 7))
    _expect(await store.append("run", 1, 7, [_event("a")]), 2)


async def an_append_returns_the_new_head_and_keeps_order(store: EventStore) -> None:
    """The head is what the next append names."""
    epoch = await _started(store)
    _expect(await store.append("run", 1, epoch, [_event("a"), _event("b")]), 3)
    _expect(await store.append("run", 3, epoch, [_event("c")]), 4)
    events = await store.read("run")
    _expect(
        [(event.seq, event.id, event.epoch) for event in events], [(1, "s", 0), (2, "a", 1), (3, "b", 1), (4, "c", 1)]
    )


async def an_append_at_another_head_is_a_conflict(store: EventStore) -> None:
    """What the writer did not see must not be written over."""
    epoch = await _started(store)
    await store.append("run", 1, epoch, [_event("a")])
    for expected in (0, 1, 3):
        error = await _raised(ConflictError, store.append("run", expected, epoch, [_event("late")]))
        _expect((error.expected_seq, error.head, error.current_epoch), (expected, 2, 1))
    _expect(_ids(await store.read("run")), ["s", "a"])


async def an_append_of_another_epoch_is_a_conflict_though_the_head_is_right(store: EventStore) -> None:
    """Else the slower of two drivers would lose, be it the right one."""
    old = await _started(store)
    new = await store.claim("run")
    for epoch in (old, new + 1):
        error = await _raised(ConflictError, store.append("run", 1, epoch, [_event("zombie")]))
        _expect((error.head, error.epoch, error.current_epoch), (1, epoch, new))
    _expect(await store.append("run", 1, new, [_event("a")]), 2)


async def a_writer_from_outside_is_bound_by_the_head_alone(store: EventStore) -> None:
    """Cancelling and sending need no claim."""
    epoch = await _started(store)
    _expect(await store.append("run", 1, None, [_event("cancel")]), 2)
    _expect((await store.read("run", after=1))[0].epoch, epoch)
    await _raised(ConflictError, store.append("run", 1, None, [_event("late")]))


async def an_append_of_nothing_only_compares(store: EventStore) -> None:
    """It tells whether the writer is still in force."""
    epoch = await _started(store)
    _expect(await store.append("run", 1, epoch, []), 1)
    await _raised(ConflictError, store.append("run", 0, epoch, []))


async def an_append_is_all_or_nothing(store: EventStore) -> None:
    """An event that cannot be stored takes those beside it with it."""
    epoch = await _started(store)
    await _raised(StoreError, store.append("run", 1, epoch, [_event("a"), _event("b", value=object())]))
    _expect(_ids(await store.read("run")), ["s"])
    _expect(await store.append("run", 1, epoch, [_event("c")]), 2)


async def of_appends_at_one_head_exactly_one_wins(store: EventStore) -> None:
    """Compare and set, not compare and then set."""
    epoch = await _started(store)
    appends = [store.append("run", 1, epoch, [_event(str(number))]) for number in range(_WRITERS)]
    results = await asyncio.gather(*appends, return_exceptions=True)
    _expect(sum(isinstance(result, ConflictError) for result in results), _WRITERS - 1)
    _expect(_ids(await store.read("run")), ["s", str(results.index(2))])


async def concurrent_writers_of_many_runs_leave_no_gap(store: EventStore) -> None:
    """Runs share the store and nothing else."""

    async def write(run_id: str) -> None:
        await store.submit(run_id, _event(f"{run_id}.1"))
        epoch = await store.claim(run_id)
        for seq in range(1, _ROUNDS):
            await store.append(run_id, seq, epoch, [_event(f"{run_id}.{seq + 1}")])

    run_ids = [f"run{number}" for number in range(_WRITERS)]
    await asyncio.gather(*(write(run_id) for run_id in run_ids))
    for run_id in run_ids:
        events = await store.read(run_id)
        _expect([event.seq for event in events], list(range(1, _ROUNDS + 1)))
        _expect(_ids(events), [f"{run_id}.{seq}" for seq in range(1, _ROUNDS + 1)])


async def an_append_is_settled_by_the_ids_of_its_events(store: EventStore) -> None:
    """How a writer learns what became of an append whose answer was lost."""
    epoch = await _started(store)
    ours = [_event("a"), _event("b")]
    _expect(await settled(store, "run", 1, ours), False)
    await store.append("run", 1, epoch, ours)
    await store.append("run", 3, epoch, [_event("c")])
    _expect(await settled(store, "run", 1, ours), True)
    _expect(await settled(store, "run", 1, [_event("a"), _event("other")]), False)
    _expect(await settled(store, "unknown", 0, ours), False)


async def read_after_a_seq_gives_the_rest(store: EventStore) -> None:
    """Catching up costs what is new."""
    await store.append("run", 1, await _started(store), [_event("a"), _event("b")])
    _expect(_ids(await store.read("run", after=1)), ["a", "b"])
    _expect(await store.read("run", after=3), [])


async def what_is_read_to_be_replayed_is_what_is_read(store: EventStore) -> None:
    """But for ids and times; a store that is no `ReplayStore` is read as ever."""
    epoch = await _started(store)
    messages = [{"role": "user", "content": "a\n\ue000é"}, {"role": "tool", "content": "c" * 100_000}]
    conv = {"delta": messages, "digests": ["d1", "d2"], "digest": "d", "length": 2}
    asked = [
        {"conv": conv},
        {"conv": {**conv, "prev": "0"}, "model": "m", "params": {"a": 1}},
        {"conv": {"delta": 1}},
        {},
    ]
    requests = [_event(f"{key}", "aaa.llm.requested", key=f"{key}", **data) for key, data in enumerate(asked)]
    await store.append("run", 1, epoch, [*requests, _event("t", key="9", value=[1, None])])
    found, expected = await read_to_replay(store, "run"), await store.read("run")
    _expect([(event.type, event.data) for event in found], [(event.type, event.data) for event in expected])
    _expect([_place(event) for event in found], [_place(event) for event in expected])
    await _raised(UnknownRunError, read_to_replay(store, "other"))


async def an_unknown_run_is_an_error(store: EventStore) -> None:
    """For ids that no store can hold as well."""
    for run_id in ("unknown", "\ud800"):
        await _raised(UnknownRunError, store.claim(run_id))
        await _raised(UnknownRunError, store.append(run_id, 0, None, [_event("a")]))
        await _raised(UnknownRunError, store.read(run_id))
        await _raised(UnknownRunError, _all(store.subscribe(run_id)))
        _expect(await store.delete(run_id), False)


async def what_is_read_shares_nothing_with_what_was_appended(store: EventStore) -> None:
    """Facts do not change."""
    inner = ["before"]
    await store.submit("run", _event("s", inner=inner))
    inner.append("after")
    (await store.read("run"))[0].data["inner"].append("reader")
    _expect((await store.read("run"))[0].data, {"inner": ["before"]})


async def every_text_comes_back_and_lone_surrogates_as_their_escape(store: EventStore) -> None:
    """Tools return every kind of text, cut anywhere."""
    texts = ["", "\0", "line\nline\u2028", "\U0001f600 é", "\\ud800", "</script>'\"--", "\ufeff\uffff"]
    await store.submit("run", _event("s", texts=texts, broken={"\udc80": ["a\ud800"]}))
    _expect((await store.read("run"))[0].data, {"texts": texts, "broken": {"\\udc80": ["a\\ud800"]}})


async def every_json_value_comes_back(store: EventStore) -> None:
    """With its type."""
    data: dict[str, Any] = {"none": None, "bool": True, "int": 2**63 - 1, "float": 0.1, "list": [[], {}], "": {"": ""}}
    await store.submit("run", _event("s", **data))
    _expect((await store.read("run"))[0].data, data)


async def large_data_comes_back(store: EventStore) -> None:
    """Pages and files are read by tools."""
    large, larger = "x" * 70_000, "é" * 1_000_000
    await store.append("run", 1, await _started(store), [_event("a", text=large), _event("b", text=larger)])
    events = await store.read("run", after=1)
    _expect([event.data["text"] == text for event, text in zip(events, (large, larger), strict=True)], [True, True])


async def the_version_of_an_event_is_kept(store: EventStore) -> None:
    """It says how its data is to be read."""
    await store.submit("run", Event(type="x", data={}, id="s", at=0.5, version=7))
    _expect([(event.version, event.at) for event in await store.read("run")], [(7, 0.5)])


async def the_status_follows_the_last_event(store: EventStore) -> None:
    """A listing must not need the logs."""
    epoch = await _started(store)
    _expect(await _statuses(store), ["running"])
    steps = (
        ("aaa.run.waiting", "waiting"),
        ("aaa.run.received", "waiting"),
        ("aaa.step.completed", "running"),
        ("aaa.run.completed", "out_of_turns"),
        ("aaa.run.cancel_requested", "out_of_turns"),
    )
    for seq, (type, status) in enumerate(steps, 1):
        await store.append("run", seq, epoch, [_event(str(seq), type, status=status)])
        _expect(await _statuses(store), [status])


async def runs_are_listed_oldest_first_and_by_status(store: EventStore) -> None:
    """Times are those of the events."""
    for run_id, at in (("b", 2.0), ("a", 3.0), ("c", 1.0)):
        await store.submit(run_id, Event(type="aaa.run.started", data={}, id=run_id, at=at))
    await store.append("b", 1, None, [Event(type="aaa.run.waiting", data={}, id="w", at=9.0)])
    _expect([info.run_id for info in await store.runs()], ["c", "b", "a"])
    _expect([info.run_id for info in await store.runs("running")], ["c", "a"])
    _expect(await store.runs("done"), [])
    [waiting] = await store.runs("waiting")
    _expect((waiting.run_id, waiting.head, waiting.epoch), ("b", 2, 0))
    _expect((waiting.started_at, waiting.updated_at), (2.0, 9.0))


async def a_subscriber_gets_what_is_there_and_what_comes(store: EventStore) -> None:
    """Wherever it begins, once and in order."""
    epoch = await _started(store)
    await store.append("run", 1, epoch, [_event("a")])
    subscribers = [asyncio.create_task(_all(store.subscribe("run", after=after))) for after in (0, 1, 2)]
    for seq in range(2, 6):
        await asyncio.sleep(0)
        await store.append("run", seq, epoch, [_event(str(seq))])
    await store.append("run", 6, epoch, [_event("end", "aaa.run.completed", status="done")])
    everything = ["s", "a", "2", "3", "4", "5", "end"]
    _expect(
        [_ids(events) for events in await asyncio.gather(*subscribers)], [everything, everything[1:], everything[2:]]
    )


async def a_subscription_to_a_finished_run_ends(store: EventStore) -> None:
    """Waiting for a run that has ended must not wait."""
    epoch = await _started(store)
    await store.append("run", 1, epoch, [_event("end", "aaa.run.completed", status="failed")])
    _expect([_ids(await _all(store.subscribe("run", after=after))) for after in (0, 1, 2)], [["s", "end"], ["end"], []])


async def a_subscription_can_be_cancelled(store: EventStore) -> None:
    """And leaves the store usable."""
    epoch = await _started(store)
    subscription = store.subscribe("run")
    _expect((await anext(subscription)).id, "s")
    waiting = asyncio.create_task(_next(subscription))
    await asyncio.sleep(0)
    waiting.cancel()
    _expect(isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError), True)
    _expect(await store.append("run", 1, epoch, [_event("a")]), 2)


async def a_deleted_run_is_unknown_and_its_id_is_free(store: EventStore) -> None:
    """Nothing of it is left."""
    await _started(store)
    await store.submit("other", _event("o"))
    _expect([await store.delete("run"), await store.delete("run")], [True, False])
    await _raised(UnknownRunError, store.read("run"))
    _expect([info.run_id for info in await store.runs()], ["other"])
    _expect(await store.submit("run", _event("again")), True)
    _expect(_ids(await store.read("run")), ["again"])


async def a_subscription_ends_with_an_error_when_its_run_is_deleted(store: EventStore) -> None:
    """Nothing will come any more."""
    await _started(store)
    subscription = store.subscribe("run")
    await anext(subscription)
    waiting = asyncio.create_task(_next(subscription))
    await asyncio.sleep(0)
    await store.delete("run")
    await _raised(UnknownRunError, waiting)


async def a_closed_store_refuses_and_may_be_closed_again(store: EventStore) -> None:
    """Rather than losing what it is given."""
    await _started(store)
    await store.close()
    await store.close()
    await _raised(StoreError, store.read("run"))
    await _raised(StoreError, store.runs())
    await _raised(StoreError, store.submit("new", _event("s")))
    await _raised(StoreError, store.claim("run"))
    await _raised(StoreError, store.append("run", 1, None, [_event("a")]))
    await _raised(StoreError, store.delete("run"))
    await _raised(StoreError, _all(store.subscribe("run")))


CHECKS: tuple[Check, ...] = (
    a_submitted_run_reads_back_with_its_place,
    a_second_submit_is_false_and_changes_nothing,
    a_claim_counts_the_epoch_up,
    a_claim_with_a_token_makes_it_the_epoch,
    a_token_not_above_the_epoch_is_superseded,
    an_append_returns_the_new_head_and_keeps_order,
    an_append_at_another_head_is_a_conflict,
    an_append_of_another_epoch_is_a_conflict_though_the_head_is_right,
    a_writer_from_outside_is_bound_by_the_head_alone,
    an_append_of_nothing_only_compares,
    an_append_is_all_or_nothing,
    of_appends_at_one_head_exactly_one_wins,
    concurrent_writers_of_many_runs_leave_no_gap,
    an_append_is_settled_by_the_ids_of_its_events,
    read_after_a_seq_gives_the_rest,
    what_is_read_to_be_replayed_is_what_is_read,
    an_unknown_run_is_an_error,
    what_is_read_shares_nothing_with_what_was_appended,
    every_text_comes_back_and_lone_surrogates_as_their_escape,
    every_json_value_comes_back,
    large_data_comes_back,
    the_version_of_an_event_is_kept,
    the_status_follows_the_last_event,
    runs_are_listed_oldest_first_and_by_status,
    a_subscriber_gets_what_is_there_and_what_comes,
    a_subscription_to_a_finished_run_ends,
    a_subscription_can_be_cancelled,
    a_deleted_run_is_unknown_and_its_id_is_free,
    a_subscription_ends_with_an_error_when_its_run_is_deleted,
    a_closed_store_refuses_and_may_be_closed_again,
)


def _expect(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


async def _raised(kind: type[E], awaitable: Awaitable[object]) -> E:
    try:
        result = await awaitable
    except kind as error:
        return error
    raise AssertionError(f"expected {kind.__name__}, got {result!r}")


async def _started(store: EventStore) -> int:
    """The epoch of a claimed run "run" with one event, "s"."""
    await store.submit("run", _event("s", "aaa.run.started"))
    return await store.claim("run")


async def _statuses(store: EventStore) -> list[str]:
    return [info.status for info in await store.runs()]


async def _all(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


def _event(id: str, type: str = "aaa.step.requested", **data: Any) -> Event:
    return Event(type=type, data=data, id=id, at=1.0)


def _placed(event: Event, run_id: str, seq: int, epoch: int) -> Event:
    return Event(type=event.type, data=event.data, id=event.id, at=event.at, run_id=run_id, seq=seq, epoch=epoch)


def _place(event: Event) -> tuple[str, int, int, int]:
    return event.run_id, event.seq, event.epoch, event.version


def _ids(events: Sequence[Event]) -> list[str]:
    return [event.id for event in events]
