"""What stands in a conversation for items that OpenAI keeps, whose calls and reasoning are not seen here."""

from aaa.messages import Message, OpaquePart

__all__ = ["points_elsewhere"]


def points_elsewhere(message: Message) -> bool:
    """Whether the message stands for an item that OpenAI keeps, which may be a call."""
    parts = message.content if isinstance(message.content, tuple) else ()
    return any(isinstance(part, OpaquePart) and part.type == "item_reference" for part in parts)
