"""Results: what a tool returned or raised, as the text a model reads and the data that is recorded.

completed   {"content": text}
failed      {"content": "Error: …", "error": {"type": …, "message": …}}
"""

import dataclasses
import json
from collections.abc import AsyncGenerator, Generator
from enum import Enum
from typing import Any

import msgspec

from aaa.tools.failure import ToolFailure

__all__ = ["NO_OUTPUT", "as_text", "completed", "failed", "failed_with"]

NO_OUTPUT = "(no output)"  # some providers refuse a result without text
_MAX_MESSAGE_CHARACTERS = 2_000


def completed(text: str) -> dict[str, Any]:
    """The data of a call that went well."""
    return {"content": text}


def failed(kind: str, message: str, *, prefix: str = "") -> dict[str, Any]:
    """The data of a call that did not; the message is cut to 2,000 characters."""
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        message = f"{message[:_MAX_MESSAGE_CHARACTERS]}… [cut, {len(message):,} characters]"
    return {"content": f"Error: {prefix}{message}", "error": {"type": kind, "message": message}}


def failed_with(error: BaseException) -> dict[str, Any]:
    """The data of a call that raised `error`: class and message, no traceback."""
    if isinstance(error, ToolFailure):
        return failed(error.kind, error.message)
    kind = type(error).__name__
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception whose text cannot be made must not hide that it was raised
        message = ""
    return failed(kind, message or "(no message)", prefix=f"{kind}: ")


def as_text(value: object) -> str:
    """What a tool returned, as text: strings as they are, data as compact JSON, anything else by `str`.

    Raises:
        ToolFailure: bytes, a generator, or data that cannot be written as JSON.
    """
    match value:
        case None:
            return NO_OUTPUT
        case Enum():
            return as_text(value.value)
        case str():
            return str(value) if value and not value.isspace() else NO_OUTPUT
        case bytes() | bytearray() | memoryview():
            raise _unfit("the tool returned bytes; it must return text or data")
        case Generator() | AsyncGenerator():
            raise _unfit("the tool returned a generator; it must return text or data")
        case _:
            text = _as_json(value) if _is_data(value) else str(value)
            return text or NO_OUTPUT


def _is_data(value: object) -> bool:
    if isinstance(value, bool | int | float | dict | list | tuple | set | frozenset | msgspec.Struct):
        return True
    kind = type(value)
    return dataclasses.is_dataclass(kind) or hasattr(kind, "__pydantic_serializer__")


def _as_json(value: object) -> str:
    from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

    try:
        return to_json(value, fallback=_plain).decode()
    except PydanticSerializationError:
        pass  # most often a lone surrogate, as in the names of files; the slower way escapes it
    try:
        return json.dumps(to_jsonable_python(value, fallback=_plain), separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise _unfit(f"what the tool returned cannot be written as JSON: {error}") from error


def _plain(value: Any) -> Any:
    """For what pydantic does not know: structs and attrs classes as data, the rest as text."""
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        return str(value)


def _unfit(problem: str) -> ToolFailure:
    return ToolFailure(problem, kind="ToolResultError")
