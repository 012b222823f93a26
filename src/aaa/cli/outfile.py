"""JSON lines written completely or not at all: to a file beside the goal, which takes its place at the end."""

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

__all__ = ["OutFile", "refusal"]


def refusal(out: str, inputs: Sequence[str]) -> str:
    """Why `out` must not be written, "" if it may be."""
    path = Path(out)
    if path.exists() and not path.is_file():
        return f"{out}: not a regular file"
    if not path.resolve().parent.is_dir():
        return f"{out}: no such folder"
    if any(_is_same(path, Path(name)) for name in inputs):
        return f"{out}: is an input too; write to another file"
    return ""


def _is_same(out: Path, other: Path) -> bool:
    return out.resolve() == other.resolve() or (out.exists() and other.exists() and out.samefile(other))


class OutFile:
    """A file of JSON lines; gzipped if its name ends so. Left as it was if the block ends with an exception."""

    def __init__(self, out: str) -> None:
        self._goal = Path(out).resolve()
        self._made = self._goal.with_name(f".{self._goal.name}.{os.getpid()}.part")
        self._raw: IO[bytes] = self._made.open("xb")
        self._stream: IO[bytes] = self._raw
        if out.lower().endswith(".gz"):
            self._stream = gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0)  # pyright: ignore[reportAttributeAccessIssue]

    def write(self, value: dict[str, Any]) -> None:
        """Add one line."""
        self._stream.write(_line(value))

    def __enter__(self) -> "OutFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._stream.close()
            self._raw.close()
            if kind is None:
                os.replace(self._made, self._goal)
        finally:
            self._raw.close()
            self._made.unlink(missing_ok=True)


def _line(value: dict[str, Any]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold and JSON's escapes can
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"
