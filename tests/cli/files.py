"""Small conversations and the files that hold them."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aaa.cli import main

__all__ = ["RAW", "conversation", "long_conversation", "run_json", "write", "write_lines"]

Message = dict[str, Any]
RAW = b"(raw)"  # bytes that begin so are written without it and never gzipped


def conversation(calls: int = 2, result: str = "a result") -> list[Message]:
    """A task, and `calls` tool calls with their results; the next call is open."""
    messages: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Do the task."}]
    for number in range(calls):
        function = {"name": "look", "arguments": f'{{"page": {number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return messages


def long_conversation(calls: int = 12) -> list[Message]:
    """One that a window of 2,000 tokens does not hold: results of about 300 tokens."""
    return conversation(calls, "word " * 200)


def write(path: Path, data: Any) -> str:
    """Write JSON, text or bytes; gzipped if the name ends so. Returns the path as an argument."""
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data)).encode()
    is_to_zip = path.suffix == ".gz" and not data.startswith((b"\x1f\x8b", RAW))
    path.write_bytes(gzip.compress(data, mtime=0) if is_to_zip else data.removeprefix(RAW))
    return str(path)


def write_lines(path: Path, values: Sequence[Any]) -> str:
    """Write values as JSON lines."""
    return write(path, "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values))


def run_json(capsys: Any, *arguments: str, status: int = 0) -> dict[str, Any]:
    """Run a command with `--json`, check its exit status, and return the document."""
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)
