"""Docstrings: what a tool does, and what each of its parameters means.

Read are the parameter sections of Google style (`Args:`), of NumPy style (`Parameters` underlined) and reST fields
(`:param x:`). Everything else, such as what is returned, stays in the description, because a model can use it.
"""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Docstring", "read_docstring"]

_GOOGLE_HEADER = re.compile(r"((keyword|other) )?(args|arguments|parameters|params):\s*$", re.IGNORECASE)
_GOOGLE_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+)(\s*\(.*?\))?\s*:(\s+(?P<text>.*)|$)")
_NUMPY_HEADER = re.compile(r"(other )?parameters\s*$", re.IGNORECASE)
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(\s*,\s*\*{0,2}\w+)*)\s*(:(?P<text>)\s.*|:?$)")
_REST_ENTRY = re.compile(
    r":(param|parameter|arg|argument|key|keyword)\s+([^:]*\s)?(?P<names>\*{0,2}\w+)\s*:(?P<text>.*)"
)
_REST_TYPE = re.compile(r":type\s+\*{0,2}\w+\s*:")
_UNDERLINE = re.compile(r"-{3,}\s*$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """`description` lacks the parameter section, which is `parameters`: name to text, on one line each."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Take a docstring apart; without one both parts are empty."""
    lines = inspect.cleandoc(text or "").splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    position = 0
    while position < len(lines):
        end, found = _section(lines, position)
        if end == position:
            kept.append(lines[position])
            end += 1
        parameters.update(found)
        position = end
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in kept)).strip()
    return Docstring(description, parameters)


def _section(lines: Sequence[str], start: int) -> tuple[int, dict[str, str]]:
    """Where the parameter section that starts here ends, and what it says; `start` where none does."""
    line = lines[start]
    after = start + 1
    if _GOOGLE_HEADER.match(line) and (end := _indented(lines, after)) > after:
        return end, _entries(inspect.cleandoc("\n" + "\n".join(lines[after:end])).splitlines(), _GOOGLE_ENTRY)
    if _NUMPY_HEADER.match(line) and after < len(lines) and _UNDERLINE.match(lines[after]):
        end = _numpy_end(lines, after + 1)
        return end, _entries(lines[after + 1 : end], _NUMPY_ENTRY)
    if _REST_ENTRY.match(line):
        end = _indented(lines, after)
        return end, _entries(lines[start:end], _REST_ENTRY)
    if _REST_TYPE.match(line):
        return _indented(lines, after), {}
    return start, {}


def _indented(lines: Sequence[str], start: int) -> int:
    """The end of the lines from `start` that are indented, blank ones between them included."""
    end = start
    for index in range(start, len(lines)):
        if lines[index].strip():
            if not lines[index][0].isspace():
                break
            end = index + 1
    return end


def _numpy_end(lines: Sequence[str], start: int) -> int:
    """The end of a NumPy section: the next header, or text at the margin that is no entry."""
    for index in range(start, len(lines)):
        line = lines[index]
        is_header = index + 1 < len(lines) and bool(_UNDERLINE.match(lines[index + 1]))
        is_margin = bool(line) and not line[0].isspace()
        if is_header or (is_margin and not _NUMPY_ENTRY.match(line)):
            return index
    return len(lines)


def _entries(lines: Sequence[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Name to text; a line that starts no entry goes on with the one before."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if match := pattern.match(line):
            names = [name.strip().lstrip("*") for name in match["names"].split(",")]
            found.update({name: [(match["text"] or "").strip()] for name in names})
        else:
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}
