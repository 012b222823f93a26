"""Every Python block of the README runs as it stands, against a stand-in for the provider's client."""

import re
from pathlib import Path
from types import SimpleNamespace

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


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_loop_of_the_readme_outlives_its_window():
    completions = ScriptedCompletions(turns=40)
    space = {
        "client": SimpleNamespace(chat=SimpleNamespace(completions=completions)),
        "model": "any",
        "tools": [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}],
        "run_tool": lambda call: LONG,
    }
    (loop,) = blocks()
    exec(compile(loop, "README.md", "exec"), space)
    assert len(completions.prompts) == 41
    assert len(str(space["messages"])) // 3 > 2 * 128_000
    assert space["prompt"].messages[0] is space["messages"][0]


def test_the_loop_has_about_fifteen_lines():
    (loop,) = blocks()
    assert len(loop.splitlines()) <= 17
