"""Every conversation of a few messages, written as a word of one letter a message.

    U user   A assistant   C calls a   D calls a and b   R result of a   T result of b   S system   P user, pinned

All words of up to five letters are there, and of the six-letter words those without S and P. Any order is there:
results without a call, calls without a result, results that come late or twice, ids that are used again.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product

from aaa.messages import Message, ToolCall

__all__ = ["LETTERS", "TIERS", "message_of", "words"]

TIERS = ((0, 5, "UACDRTSP"), (6, 6, "UACDRT"))
"""(shortest, longest, letters): all words of so many of these letters."""

_ARGUMENTS = '{"path":"src/where/the/file/is.py","lines":"from the first to the last of them"}'


def _calling(text: str, *ids: str) -> Message:
    return Message("assistant", text, tuple(ToolCall(call_id, "read", _ARGUMENTS) for call_id in ids))


LETTERS: Mapping[str, Callable[[str], Message]] = {
    "U": lambda text: Message("user", text),
    "A": lambda text: Message("assistant", text),
    "C": lambda text: _calling(text, "a"),
    "D": lambda text: _calling(text, "a", "b"),
    "R": lambda text: Message("tool", text, tool_call_id="a"),
    "T": lambda text: Message("tool", text, tool_call_id="b"),
    "S": lambda text: Message("system", text),
    "P": lambda text: Message("user", text, pinned=True),
}


@cache
def message_of(letter: str, place: int) -> Message:
    """The message of a letter at a place: its text is like no other's, and longer than what stands for it."""
    return LETTERS[letter](f"<{letter}{place}> " + "what was said here, in more words than a placeholder has. " * 2)


def words(letters: str, *, longest: int, shortest: int = 0, prefix: str = "") -> Iterator[str]:
    """All words of these letters that begin with `prefix`, from `shortest` to `longest` letters."""
    for more in range(max(shortest - len(prefix), 0), longest - len(prefix) + 1):
        for rest in product(letters, repeat=more):
            yield prefix + "".join(rest)
