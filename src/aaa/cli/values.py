"""The JSON values of one input, each with its line: the lines of JSON lines, or the items of one JSON document.

    lines       value        document   [ value,      document   value
                value                     value ]
                …

A document's items are decoded one after the other, so that a long list is never in memory as objects.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from aaa.cli.problems import Problem
from aaa.cli.source import Source

__all__ = ["Value", "Values"]

Lines = Iterable[tuple[int, bytes]]
_LINES = re.compile(r"\.(jsonl|ndjson)(\.gz)?$", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Value:
    """One JSON value and the line on which it begins."""

    line: int
    json: Any


class Values:
    """The values of `source`, and what could not be read, in order; to be read once.

    `is_document` tells what they were read from, `is_list` whether that document is a list; known with the first value.
    """

    def __init__(self, source: Source) -> None:
        self.is_document = False
        self.is_list = False
        self._source = source

    def __iter__(self) -> Iterator[Value | Problem]:
        lines = ((number, line) for number, line in self._source.lines() if line.strip())
        start = list(islice(lines, 2))
        if not start and not self._source.problem:
            yield Problem(self._source.name, "only blank lines" if self._source.line else "empty file")
        if start and not _is_utf8(start[0][1]):
            yield Problem(self._source.name, "not UTF-8 text", start[0][0])
            return
        if start:
            yield from self._undamaged(self._all(start, chain(start, lines)))
        if self._source.problem:
            line = self._source.line + 1 if self._source.bytes_read else None
            yield Problem(self._source.name, self._source.problem, line)

    def _undamaged(self, values: Iterable[Value | Problem]) -> Iterator[Value | Problem]:
        """The same without problems just before damage, which are its doing: gzip finds it only some lines later."""
        held: list[Problem] = []
        for value in values:
            if isinstance(value, Problem) and self._source.is_gzip:
                held.append(value)
                continue
            yield from held
            held.clear()
            yield value
        if not self._source.problem:
            yield from held

    def _all(self, start: list[tuple[int, bytes]], lines: Lines) -> Iterator[Value | Problem]:
        self.is_document = not _are_lines(self._source.name, start)
        if self.is_document:
            yield from self._document(lines)
            return
        for number, line in lines:
            yield self._value(number, line)

    def _value(self, number: int, line: bytes) -> Value | Problem:
        try:
            return Value(number, json.loads(line.decode()))
        except (ValueError, RecursionError) as error:
            return Problem(self._source.name, _what(error), number)

    def _document(self, lines: Lines) -> Iterator[Value | Problem]:
        first, text = 1, ""
        try:
            numbered = list(lines)
            first = numbered[0][0]
            text = _text(numbered)
            self.is_list = text.lstrip().startswith("[")
            yield from _items(text, first) if self.is_list else _single(text, first)
        except (ValueError, RecursionError) as error:
            yield Problem(self._source.name, _what(error), _line_of(error, first))


def _are_lines(name: str, start: list[tuple[int, bytes]]) -> bool:
    """Whether an input that begins with these two lines is JSON lines."""
    if _LINES.search(name):
        return True
    if len(start) < 2:
        return False
    first, second = (_error_in(line) for _, line in start)
    if not isinstance(first, json.JSONDecodeError):
        return True
    is_broken = first.pos < len(first.doc.rstrip())  # it cannot go on in the next line either
    return is_broken and second is None


def _error_in(line: bytes) -> Exception | None:
    try:
        json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return error
    return None


def _text(numbered: list[tuple[int, bytes]]) -> str:
    """The lines as one text, blank lines back in their places so that line numbers hold."""
    pieces: list[bytes] = []
    for number, line in numbered:
        pieces += [b""] * (number - numbered[0][0] - len(pieces))
        pieces.append(line)
    return b"\n".join(pieces).decode()


def _single(text: str, first: int) -> Iterator[Value]:
    yield Value(first, json.loads(text))


def _items(text: str, line: int) -> Iterator[Value]:
    """The items of the list that `text` is."""
    at = _after_space(text, _after_space(text, 0) + 1)
    counted, mark = 0, "]" if text.startswith("]", at) else ","
    while mark == ",":
        item, end = _decode(text, at)
        line, counted = line + text.count("\n", counted, at), at
        yield Value(line, item)
        at = _after_space(text, end)
        mark = text[at : at + 1]
        at = _after_space(text, at + 1) if mark == "," else at
    if mark != "]":
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    if _after_space(text, at + 1) != len(text):
        raise json.JSONDecodeError("Extra data", text, _after_space(text, at + 1))


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _what(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"invalid JSON: {error.msg} (column {error.colno})"
        case UnicodeDecodeError():
            return "not UTF-8 text"
        case RecursionError():
            return "JSON nested too deeply"
        case _:
            return "invalid JSON: a number is too long"


def _line_of(error: Exception, first: int) -> int:
    match error:
        case json.JSONDecodeError():
            return first + error.lineno - 1
        case UnicodeDecodeError():
            return first + error.object.count(b"\n", 0, error.start)
        case _:
            return first
