"""Messages in a log that nobody has looked at: the JSON text that they are kept in.

A run that is resumed asks for what its log holds already. Told by the text of both, nothing of it has to be read.
"""

from collections.abc import Sequence
from typing import Any, cast, overload

import msgspec

from aaa.messages import Message

__all__ = ["UnreadMessages"]


class UnreadMessages(Sequence[Any]):
    """The messages of a log as plain data, read when the first of them is asked for."""

    __slots__ = ("_messages", "_text")

    def __init__(self, text: msgspec.Raw) -> None:
        self._text = text
        self._messages: list[Any] | None = None

    def is_text_of(self, messages: Sequence[Message]) -> bool:
        """Whether these messages are written as this very text. If not, they may be the same nevertheless."""
        try:
            return msgspec.json.encode(messages) == bytes(self._text)
        except UnicodeEncodeError:  # a lone surrogate, which the log has escaped
            return False

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == (list(cast("Sequence[Any]", other)) if isinstance(other, Sequence) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as a list

    def _read(self) -> list[Any]:
        if self._messages is None:
            self._messages = msgspec.json.decode(self._text, type=list[Any])
        return self._messages
