"""Conversations out of files: JSON or JSON lines, plain or gzipped.

a value is            it is
{"messages": [...]}   a conversation, perhaps with tools, id and model
[message, ...]        a conversation
[conversation, ...]   several
message, message, …   one conversation, if the values of a file are messages
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from aaa.cli.problems import Problem
from aaa.cli.source import Source
from aaa.cli.values import Value, Values
from aaa.errors import WireError
from aaa.messages import Message, ToolSpec
from aaa.wire.openai_chat import message_from_dict, messages_from_dicts, tool_from_dict

__all__ = ["Conversation", "conversations"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One recorded conversation, where it came from, and its name: its own, or file and number."""

    file: str
    line: int
    id: str
    messages: list[Message]
    tools: list[ToolSpec]
    model: str | None = None


def conversations(source: Source) -> Iterator[Conversation | Problem]:
    """What `source` holds, one after the other; at least one thing. A problem ends only what it is about."""
    values = Values(source)
    stream = iter(values)
    problems = list[Problem]()
    for value in stream:
        if isinstance(value, Problem):
            problems.append(value)
            continue
        is_one = _is_message(value.json) or (values.is_list and not _is_conversation(value.json))
        rest = chain(problems, [value], stream)
        yield from _one(source.name, rest, values.is_document) if is_one else _many(source.name, rest)
        return
    yield from problems or [Problem(source.name, "no conversation in it")]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "messages" not in value


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and "messages" in value)


def _many(file: str, values: Iterable[Value | Problem]) -> Iterator[Conversation | Problem]:
    """Each value a conversation, or a list of some."""
    number = 0
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        for fields in _listed(value.json):
            number += 1
            yield _conversation(file, value.line, number, fields)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return items if items and _is_conversation(items[0]) else [items]
    return [value]


def _conversation(file: str, line: int, number: int, fields: Any) -> Conversation | Problem:
    if isinstance(fields, list):
        fields = {"messages": cast("list[Any]", fields)}
    if not isinstance(fields, dict):
        return Problem(file, f"not a conversation but {type(fields).__name__}", line)
    try:
        return _read(file, line, number, cast("dict[str, Any]", fields))
    except WireError as error:
        return Problem(file, str(error), line)
    except RecursionError:
        return Problem(file, "a message is nested too deeply", line)


def _read(file: str, line: int, number: int, fields: dict[str, Any]) -> Conversation:
    messages = fields.get("messages")
    if not isinstance(messages, list):
        problem = "`messages` must be a list" if "messages" in fields else "neither a message nor a conversation"
        raise WireError(f"{problem} (an object with `messages`)" if "messages" not in fields else problem)
    name, model = fields.get("id"), fields.get("model")
    return Conversation(
        file,
        line,
        f"{file}#{number}" if name is None else str(name),
        messages_from_dicts(cast("list[Any]", messages)),
        _tools(fields.get("tools")),
        model if isinstance(model, str) else None,
    )


def _tools(value: Any) -> list[ToolSpec]:
    if not isinstance(value, list | None):
        raise WireError("`tools` must be a list")
    tools: list[ToolSpec] = []
    for index, fields in enumerate(cast("list[Any]", value or [])):
        try:
            tools.append(tool_from_dict(fields))
        except WireError as error:
            raise WireError(f"tool {index}: {error.problem}") from error
    return tools


def _one(file: str, values: Iterable[Value | Problem], is_document: bool) -> Iterator[Conversation | Problem]:
    """All values together one conversation; a document with a bad message is none, in JSON lines only the line goes."""
    messages: list[Message] = []
    is_whole, line, index = True, 1, -1
    for value in values:
        index += isinstance(value, Value)
        read = value if isinstance(value, Problem) else _message(file, value, index)
        if isinstance(read, Message):
            line = line if messages else getattr(value, "line", 1)
            messages.append(read)
        else:
            is_whole = False
            yield read
    if messages and (is_whole or not is_document):
        yield Conversation(file, line, f"{file}#1", messages, [])


def _message(file: str, value: Value, index: int) -> Message | Problem:
    if _is_conversation(value.json):
        return Problem(file, f"message {index}: a conversation among messages", value.line)
    try:
        return message_from_dict(value.json, index=index)
    except WireError as error:
        return Problem(file, str(error), value.line)
    except RecursionError:
        return Problem(file, f"message {index}: nested too deeply", value.line)
