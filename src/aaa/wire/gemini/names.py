"""The two spellings of Gemini's field names.

The API reads `functionCall` and `function_call` alike, and clients write both. We read the first; which names of an
object were spelled the second way is noted, so that it is written as it came. Values are never looked into: the keys of
arguments and schemas are the user's.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aaa.wire.lossless import Fields

__all__ = ["camel", "snake"]

_NAMES = (
    "systemInstruction",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "thoughtSignature",
    "mimeType",
    "fileUri",
    "displayName",
    "partialArgs",
    "willContinue",
    "functionDeclarations",
    "parametersJsonSchema",
)


def _snake_name(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


_CAMEL = {_snake_name(name): name for name in _NAMES}
_SNAKE = {name: other for other, name in _CAMEL.items()}


def camel(fields: Mapping[str, Any]) -> tuple[Fields, list[str]]:
    """The fields by the names we know, and which of these names were spelled with underscores.

    A name that is there in both spellings is left alone.
    """
    renamed = [name for other, name in _CAMEL.items() if other in fields and name not in fields]
    if not renamed:
        return dict(fields), []
    return {_CAMEL[key] if _CAMEL.get(key) in renamed else key: value for key, value in fields.items()}, renamed


def snake(fields: Fields, names: Iterable[str]) -> Fields:
    """The fields with these names spelled with underscores: what `camel` has read."""
    spelled = {name: _SNAKE[name] for name in names if name in _SNAKE}
    return {spelled.get(key, key): value for key, value in fields.items()} if spelled else fields
