"""Keys of effects: paths that are the same on every attempt, also in parallel branches.

    run.llm            "0"
    run.gather         "1"
      branch 0         "1.0.0"  "1.0.1"
      branch 1         "1.1.0"
    run.tools          "2"      each call "2.0", "2.1"

Outside `gather` one effect at a time: two at once would be numbered in an order that no replay repeats.
"""

from collections.abc import Iterable
from contextvars import ContextVar

__all__ = ["Scope", "current_scope", "is_recorded_from"]


class Scope:
    """One line of effects, numbered from 0."""

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._next = 0
        self._busy_with = ""

    def peek(self) -> str:
        """The key that the next effect gets."""
        return f"{self.path}{self._next}"

    def free(self, what: str) -> str:
        """The key that an effect gets if it begins now.

        Raises:
            RuntimeError: another is under way in this line.
        """
        if self._busy_with:
            raise RuntimeError(
                f"run.{what} while run.{self._busy_with} is under way: concurrent effects need run.gather(…)"
            )
        return f"{self.path}{self._next}"

    def skip(self) -> None:
        """Go past an effect that is recorded."""
        self._next += 1

    def enter(self, what: str) -> str:
        """Begin an effect; returns its key.

        Raises:
            RuntimeError: another is under way in this line.
        """
        key = self.free(what)
        self._next += 1
        self._busy_with = what
        return key

    def leave(self) -> None:
        """End the effect."""
        self._busy_with = ""


current_scope: ContextVar[tuple[str, Scope] | None] = ContextVar("aaa_scope", default=None)


def is_recorded_from(keys: Iterable[str], scope: Scope) -> bool:
    """Whether any of `keys` stands at the place that `scope` has come to, or after it: the run has passed there."""
    here = _numbers(scope.peek())
    return any(_is_behind(here, _numbers(key)) for key in keys if key[:1].isdigit())


def _is_behind(here: tuple[int, ...], key: tuple[int, ...]) -> bool:
    """Whether `key` is at or after `here` in its line, in one around it, or in a branch off these.

    One in a parallel branch is not. Effects stand at even places of a path, branches at odd ones.
    """
    for place, (mine, other) in enumerate(zip(here, key, strict=False)):
        if mine != other:
            return place % 2 == 0 and other > mine
    return len(key) >= len(here)


def _numbers(key: str) -> tuple[int, ...]:
    return tuple(map(int, key.split(".")))
