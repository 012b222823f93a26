"""What a handler may do to the run it works for.

Handlers of model and tool calls stand below the runtime and apart from each other; this is all they see of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aaa.messages.client import Delta
from aaa.messages.message import Message

__all__ = ["Effects", "Handler", "Host"]


class Effects(Protocol):
    """One effect of one run, seen from its handler.

    `key` is the effect's place in the run ("4", "4.1"), the same on every attempt; `attempt` counts from 1 and is
    above 1 when an earlier attempt was interrupted, so its outcome is not known.
    """

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def key(self) -> str:
        """The effect's place in the run."""
        ...

    @property
    def attempt(self) -> int:
        """Which try at this effect it is."""
        ...

    @property
    def idempotency_key(self) -> str:
        """`run_id:key`: what makes a repeated call recognisable to whoever receives it."""
        ...

    @property
    def memory(self) -> dict[str, Any]:
        """What the handlers of this run keep between its effects; rebuilt by `replay` on resume."""
        ...

    @property
    def conversation(self) -> str:
        """Which conversation of the run a model call belongs to: the key of the first call of it."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of a model call, as the runtime keeps them: their digests are known."""
        ...

    @property
    def parent_conversation(self) -> str:
        """Which conversation this one forked off from; "" if none."""
        ...

    @property
    def is_watched(self) -> bool:
        """Whether anybody would see what is shown."""
        ...

    def show(self, delta: Delta) -> None:
        """Hand a piece of the reply to whoever watches the run; it is in no log."""
        ...

    def note(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event to the run's log together with the effect's result."""
        ...

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event to the run's log now; durable on return."""
        ...


class Handler(Protocol):
    """Performs one kind of effect ("llm", "tool")."""

    async def handle(self, effects: Effects, request: Any) -> dict[str, Any]:
        """Do it; the result is the data of the `…completed` event, or of `…failed` if it has the key `error`.

        An exception becomes `…failed` too, and is raised into the algorithm as `EffectError`.
        """
        ...

    def replay(self, effects: Effects, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Take note of an effect that is recorded: `events` are (type, data) of what was logged under its key.

        The first of them says what was asked.
        """
        ...


class Host(Protocol):
    """What a handler attaches itself to."""

    def attach(self, kind: str, handler: Handler) -> None:
        """Let `handler` perform the effects of `kind`; replaces an earlier one."""
        ...
