"""Every Python block of the README runs as it stands, against a stand-in for the provider's client."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from tests.servers.anthropic import AnthropicServer
from tests.servers.ollama import OllamaServer
from tests.servers.replies import calls

README = Path(__file__).parent.parent / "README.md"
LONG = "compiling module " * 2_000


class ScriptedCompletions:
    """Asks for a tool `turns` times, then answers; refuses what is above the window, as a provider would."""

    def __init__(self, turns: int) -> None:
        self.left = turns
        self.prompts: list[list[dict]] = []

    def create(self, *, model, messages, tools):
        self.prompts.append(messages)
        size = len(str(messages)) // 3
        assert size < 128_000
        self.left -= 1
        call = SimpleNamespace(id=f"call_{self.left}")
        fields = {"role": "assistant", "content": "done" if self.left < 0 else None}
        if self.left >= 0:
            function = {"name": "run", "arguments": "{}"}
            fields["tool_calls"] = [{"id": call.id, "type": "function", "function": function}]
        message = SimpleNamespace(
            tool_calls=[call] if self.left >= 0 else None,
            model_dump=lambda exclude_none: {k: v for k, v in fields.items() if v is not None},
        )
        return SimpleNamespace(usage=SimpleNamespace(prompt_tokens=size), choices=[SimpleNamespace(message=message)])


def blocks(language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_loop_of_the_readme_outlives_its_window():
    completions = ScriptedCompletions(turns=40)
    space = {
        "client": SimpleNamespace(chat=SimpleNamespace(completions=completions)),
        "model": "any",
        "tools": [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}],
        "run_tool": lambda call: LONG,
    }
    exec(compile(blocks()[0], "README.md", "exec"), space)
    assert len(completions.prompts) == 41
    assert len(str(space["messages"])) // 3 > 2 * 128_000
    assert space["prompt"].messages[0] is space["messages"][0]


def test_the_loop_has_about_fifteen_lines():
    assert len(blocks()[0].splitlines()) <= 17


# What stands above the block on durable runs: a client that searches three times, and takes the process down with it
# when there is a file `die`; an archive that writes down what it was asked.
STANDINS = """
import os
from pathlib import Path
from aaa.context import ContextPolicy
from aaa.llm import FakeLLMClient
from aaa.llm.fake import text, tool_call

def reply(request):
    searches = sum(message.role == "tool" for message in request.messages)
    if searches == 2 and Path("die").exists():
        os._exit(3)
    print("model", flush=True)
    return tool_call("search", query=f"lighthouse {searches}") if searches < 3 else text("Ann Lee.")

class archive:
    def search(query):
        print("search", query, flush=True)
        return "nothing " * 50

client, policy = FakeLLMClient(reply), ContextPolicy(2_000, reserve_output=0)
"""


def start(folder: Path) -> tuple[int, list[str]]:
    """Start the program of the second block; its exit status, and what it printed."""
    command = [sys.executable, "-W", "error", "-c", STANDINS + blocks()[1]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_durable_run_of_the_readme_goes_on_where_its_process_died(tmp_path):
    (tmp_path / "die").touch()
    assert start(tmp_path) == (3, ["model", "search lighthouse 0", "model", "search lighthouse 1"])
    (tmp_path / "die").unlink()
    end = "done {'text': 'Ann Lee.'}"
    assert start(tmp_path) == (0, ["model", "search lighthouse 2", "model", end])
    assert start(tmp_path) == (0, [end])


def test_the_client_of_the_readme_asks_its_server_for_the_window(monkeypatch):
    with AnthropicServer([], window=50_000) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", str(server.key))
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        space = {}
        exec(compile(blocks()[2], "README.md", "exec"), space)
        assert space["policy"].settings("claude-sonnet-5-5").window_tokens >= 50_000


def test_the_agent_of_the_readme_answers(monkeypatch, capsys):
    def search(query: str) -> str:
        """Search the archive."""
        return f"{query}: Ann Lee"

    with OllamaServer([calls(("search", {"query": "lighthouse"})), "Ann Lee."]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        space = {"search": search}
        exec(compile(blocks()[3], "README.md", "exec"), space)
        space["client"].close()
        assert capsys.readouterr().out == "Ann Lee.\n"
        assert not server.refused


def test_the_commands_of_the_readme_are_commands():
    lines = [line for block in blocks("console") for line in block.splitlines() if line.startswith("aaa ")]
    assert {shlex.split(line)[1] for line in lines} == {"fit", "count", "demo", "runs", "show", "delete"}
    for line in lines:
        command, *arguments = shlex.split(line, comments=True)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "aaa.cli", command, *arguments, "--help"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, line
        assert all(option in done.stdout for option in arguments if option.startswith("--"))


def test_the_links_of_the_documents_lead_somewhere():
    for document in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"):
        text = (README.parent / document).read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        assert [link for link in links if not os.path.exists(README.parent / link)] == []
