"""The words that a repair puts where a provider wants some and the conversation has none."""

from aaa.messages import Message

__all__ = [
    "BRIDGE",
    "CONTINUE",
    "EMPTY_RESULT",
    "EMPTY_USER",
    "MISSING_RESULT",
    "OPENING",
    "SEE_DOCUMENT",
    "SHOWN_RESULTS",
    "bridge",
    "framed_as_system",
    "opening",
]

MISSING_RESULT = "[no result: the call was interrupted, or its result is lost]"
EMPTY_RESULT = "(no output)"
EMPTY_USER = "(empty message)"
OPENING = "(what came before is not shown)"
CONTINUE = "Continue."
BRIDGE = "(results received)"
SEE_DOCUMENT = "(see the document)"
SHOWN_RESULTS = "What the tool results above show:"


def opening() -> Message:
    """What a conversation begins with that would not begin with the user."""
    return Message("user", OPENING, kind="marker")


def bridge() -> Message:
    """What the assistant says between results and the user's next words."""
    return Message("assistant", BRIDGE, kind="marker")


def framed_as_system(text: str) -> str:
    """An instruction of the program in the user's turn, told from the user's words by its frame."""
    return f"<system>\n{text}\n</system>"
