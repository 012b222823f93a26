"""The handler: tools run, and nothing they do raises."""

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading

import pytest

from aaa.tools import ToolContext, ToolFailure, ToolHandler, ToolRegistry, handler, tool
from tests.tools.fakes import WAIT_SECONDS, FakeEffects, call, call_text, handle

SHORT_SECONDS = 0.05  # a time-out that is meant to expire


def greet(name: str, times: int = 1) -> str:
    return f"hello {name}" * times


async def greet_later(name: str, times: int = 1) -> str:
    await asyncio.sleep(0)
    return f"hello {name}" * times


class FakeHost:
    def __init__(self) -> None:
        self.handlers: dict[str, object] = {}

    def attach(self, kind: str, handler: object) -> None:
        self.handlers[kind] = handler


def test_it_attaches_itself_for_tools():
    host = FakeHost()
    tools = ToolHandler(ToolRegistry())
    tools.attach(host)
    assert host.handlers == {"tool": tools}


@pytest.mark.parametrize("function", [greet, greet_later])
def test_a_tool_runs_with_coerced_arguments(function):
    assert handle(function, call(function.__name__, name="ann", times="2")) == {"content": "hello annhello ann"}


def test_a_sync_tool_runs_in_a_thread_and_an_async_one_in_the_loop():
    def where() -> str:
        return str(threading.current_thread() is threading.main_thread())

    async def where_async() -> str:
        return where()

    assert handle(where)["content"] == "False"
    assert handle(where_async)["content"] == "True"


def test_a_plain_function_around_a_coroutine_function_is_awaited():
    @functools.wraps(greet_later)
    def wrapper(*args, **kwargs):
        return greet_later(*args, **kwargs)

    assert handle(wrapper, call("greet_later", name="ann")) == {"content": "hello ann"}


def test_context_variables_are_carried_over():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    def read() -> str:
        return variable.get("nothing")

    async def read_async() -> str:
        return variable.get("nothing")

    async def run(function) -> str:
        variable.set("mine")
        data = await ToolHandler(ToolRegistry([function])).handle(FakeEffects(), call(function.__name__))
        return data["content"]

    assert [asyncio.run(run(read)), asyncio.run(run(read_async))] == ["mine", "mine"]


@pytest.mark.parametrize("is_optional", [False, True])
def test_the_context_is_handed_to_the_tool(is_optional):
    seen: list[ToolContext | None] = []

    def note(text: str, context: ToolContext) -> str:
        seen.append(context)
        return text

    def note_optional(text: str, context: ToolContext | None = None) -> str:
        seen.append(context)
        return text

    function = note_optional if is_optional else note
    handle(function, call(function.__name__, text="x"), attempt=2)
    assert seen == [ToolContext("run", 2, "run:4", "call_1")]


def test_a_model_cannot_pass_the_context():
    def note(text: str, context: ToolContext) -> str: ...

    assert "context: there is no such parameter" in handle(note, call("note", text="x", context={}))["content"]


def test_an_unknown_tool_is_told_the_known_ones():
    registry = ToolRegistry([greet, greet_later])
    data = asyncio.run(ToolHandler(registry).handle(FakeEffects(), call("greeet")))
    problem = "there is no tool 'greeet'. The tools are: greet, greet_later."
    assert data == {"content": f"Error: {problem}", "error": {"type": "UnknownTool", "message": problem}}
    data = asyncio.run(ToolHandler(ToolRegistry()).handle(FakeEffects(), call("x" * 10_000)))
    assert data["error"]["message"].endswith("The tools are: none.")
    assert len(data["content"]) < 200


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name":1}', '{"nam":"x"}', '{"name":"\ud800"}', "[" * 100_000])
def test_arguments_that_do_not_fit_are_a_failed_result(text):
    data = handle(greet, call_text("greet", text))
    assert data["error"]["type"] == "ToolArgumentsError"
    assert data["content"] == "Error: " + data["error"]["message"]


def test_a_tool_added_later_is_found():
    registry = ToolRegistry()
    tools = ToolHandler(registry)
    registry.add(greet)
    assert asyncio.run(tools.handle(FakeEffects(), call("greet", name="x"))) == {"content": "hello x"}


class OddError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "content", "kind"),
    [
        (OddError("broken"), "Error: OddError: broken", "OddError"),
        (ToolFailure("No such user."), "Error: No such user.", "ToolFailure"),
        (TimeoutError("of its own"), "Error: TimeoutError: of its own", "TimeoutError"),
        (SystemExit(3), "Error: SystemExit: 3", "SystemExit"),
        (ExceptionGroup("many", [ValueError("x")]), "Error: ExceptionGroup: many (1 sub-exception)", "ExceptionGroup"),
        (RecursionError(), "Error: RecursionError: (no message)", "RecursionError"),
        (asyncio.CancelledError(), "Error: tool 'fail' cancelled itself", "CancelledError"),
    ],
)
def test_what_a_tool_raises_is_a_failed_result(error, content, kind):
    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    for function in (fail, tool(name="fail")(fail_async)):
        data = handle(function)
        assert (data["content"], data["error"]["type"]) == (content, kind)


def test_stop_iteration_is_a_failed_result():
    def fail() -> None:
        raise StopIteration

    async def fail_async() -> None:
        raise StopIteration

    assert handle(fail)["error"] == {"type": "RuntimeError", "message": "the function raised StopIteration"}
    assert handle(fail_async)["error"] == {"type": "RuntimeError", "message": "coroutine raised StopIteration"}


@pytest.mark.parametrize("value", [b"x", (x for x in "ab"), {"x": b"\xff"}])
def test_a_result_of_a_wrong_type_is_a_failed_result(value):
    def give():
        return value

    async def give_async():
        return value

    assert handle(give)["error"]["type"] == handle(give_async)["error"]["type"] == "ToolResultError"


def test_a_huge_result_passes_as_it_is():
    text = "x" * 50_000_000
    assert handle(tool(name="big")(lambda: text))["content"] is text


def test_parallel_calls_run_at_the_same_time():
    count = 8
    barrier = threading.Barrier(count)
    meeting = asyncio.Barrier(count)

    def meet(number: int) -> int:
        barrier.wait(WAIT_SECONDS)
        return number

    async def meet_async(number: int) -> int:
        await meeting.wait()
        return number

    async def run(name: str) -> list[str]:
        tools = ToolHandler(ToolRegistry([meet, meet_async]))
        async with asyncio.timeout(WAIT_SECONDS):
            calls = (tools.handle(FakeEffects(), call(name, number=number)) for number in range(count))
            return [data["content"] for data in await asyncio.gather(*calls)]

    assert asyncio.run(run("meet")) == asyncio.run(run("meet_async")) == [str(number) for number in range(count)]


def test_a_sync_tool_that_hangs_times_out_and_its_slot_is_free_again():
    release = threading.Event()

    @tool(timeout_seconds=SHORT_SECONDS)
    def hang() -> None:
        release.wait(WAIT_SECONDS)

    async def run() -> list[dict]:
        tools = ToolHandler(ToolRegistry([hang, greet]), max_threads=1)
        async with asyncio.timeout(WAIT_SECONDS):
            return [
                await tools.handle(FakeEffects(), call("hang")),
                await tools.handle(FakeEffects(), call("hang")),
                await tools.handle(FakeEffects(), call("greet", name="x")),
            ]

    try:
        first, second, third = asyncio.run(run())
    finally:
        release.set()
    problem = "tool 'hang' timed out after 0.05 seconds; it may still be running, so its outcome is unknown"
    assert first == second == {"content": f"Error: {problem}", "error": {"type": "TimeoutError", "message": problem}}
    assert third == {"content": "hello x"}


def test_an_async_tool_that_hangs_is_cancelled_and_may_clean_up():
    cleaned: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append("yes")

    data = handle(hang, timeout_seconds=SHORT_SECONDS)
    assert data["error"] == {
        "type": "TimeoutError",
        "message": "tool 'hang' timed out after 0.05 seconds; it was cancelled",
    }
    assert cleaned == ["yes"]


def test_an_async_tool_that_ignores_its_cancellation_is_left_behind(monkeypatch):
    monkeypatch.setattr(handler, "_CLEANUP_SECONDS", SHORT_SECONDS)

    async def run() -> dict:
        release = asyncio.Event()

        async def hang() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        tools = ToolHandler(ToolRegistry([hang]), timeout_seconds=SHORT_SECONDS)
        async with asyncio.timeout(WAIT_SECONDS):
            data = await tools.handle(FakeEffects(), call("hang"))
        release.set()
        return data

    assert asyncio.run(run())["error"]["type"] == "TimeoutError"


def test_the_time_out_of_the_tool_comes_before_that_of_the_handler():
    async def patient() -> str:
        for _ in range(100):
            await asyncio.sleep(0)
        return "done"

    at_once = 1e-9
    assert "error" in handle(patient, timeout_seconds=at_once)
    assert handle(tool(timeout_seconds=WAIT_SECONDS)(patient), timeout_seconds=at_once) == {"content": "done"}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_cancellation_from_outside_passes_through(is_async):
    release = threading.Event()
    ended: list[str] = []

    async def run() -> None:
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hang() -> None:
            loop.call_soon_threadsafe(started.set)
            release.wait(WAIT_SECONDS)

        async def hang_async() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("yes")

        function = hang_async if is_async else hang
        tools = ToolHandler(ToolRegistry([function]))
        task = asyncio.create_task(tools.handle(FakeEffects(), call(function.__name__)))
        async with asyncio.timeout(WAIT_SECONDS):
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    try:
        asyncio.run(run())
    finally:
        release.set()
    assert ended == (["yes"] if is_async else [])


_HANGS = """
import asyncio, threading
from aaa.messages import ToolCall
from aaa.tools import ToolHandler, ToolRegistry

class Effects:
    run_id, key, attempt, idempotency_key, memory = "r", "1", 1, "r:1", {}

def hang() -> None:
    threading.Event().wait()

handler = ToolHandler(ToolRegistry([hang]), timeout_seconds=0.05)
print(asyncio.run(handler.handle(Effects(), ToolCall("c", "hang")))["error"]["type"])
"""


def test_a_tool_that_never_returns_does_not_keep_the_interpreter_from_exiting():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", _HANGS], check=False, capture_output=True, text=True, timeout=WAIT_SECONDS
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "TimeoutError\n", "")


def test_a_tool_that_is_not_repeatable_runs_on_the_first_attempt_only():
    paid: list[int] = []

    @tool(repeatable=False)
    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    request = call("pay", amount=5)
    assert handle(pay, request) == {"content": "paid"}
    data = handle(pay, request, attempt=2)
    assert paid == [5]
    assert data["error"]["type"] == "OutcomeUnknown"
    assert "an earlier attempt to run 'pay' was interrupted and its outcome is unknown" in data["content"]


def test_a_repeatable_tool_runs_again():
    assert handle(greet, call("greet", name="x"), attempt=7) == {"content": "hello x"}


def test_replay_does_nothing():
    effects = FakeEffects()
    tools = ToolHandler(ToolRegistry([greet]))
    assert tools.replay(effects, [("aaa.tool.completed", {"content": "x"})]) is None
    assert effects.memory == {}


def test_one_handler_serves_several_loops():
    tools = ToolHandler(ToolRegistry([greet]), max_threads=1)
    for _ in range(3):
        assert asyncio.run(tools.handle(FakeEffects(), call("greet", name="x"))) == {"content": "hello x"}


@pytest.mark.parametrize("settings", [{"timeout_seconds": 0}, {"timeout_seconds": -1}, {"max_threads": 0}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match="must be"):
        ToolHandler(ToolRegistry(), **settings)
