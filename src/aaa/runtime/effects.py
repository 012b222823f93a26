"""One effect: recorded before it happens and after, so that nothing recorded is done again.

completed or failed is recorded    the result comes from the log
only requested is recorded         an attempt was interrupted: done again, under the same key
nothing is recorded                requested, done, completed
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from aaa.errors import EffectError, NonDeterminismError, StoreError, UnavailableError, error_data
from aaa.messages import Delta, Message
from aaa.runtime.events import Event
from aaa.runtime.identity import Identity, identity_of
from aaa.runtime.log import RunLog
from aaa.runtime.watching import Watching

__all__ = ["EffectContext", "Perform", "perform", "require_same", "usable"]

Perform = Callable[["EffectContext"], Awaitable[Mapping[str, Any]]]


class EffectContext(msgspec.Struct):
    """One effect of one run, seen from its handler (`aaa.messages.Effects`)."""

    log: RunLog
    key: str
    memory: dict[str, Any]
    conversation: str = ""
    parent_conversation: str = ""
    messages: Sequence[Message] = ()
    attempt: int = 1
    watching: Watching | None = None

    @property
    def run_id(self) -> str:
        """The run."""
        return self.log.run_id

    @property
    def idempotency_key(self) -> str:
        """What makes a repeated call recognisable to whoever receives it."""
        return f"{self.run_id}:{self.key}"

    def note(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event together with the effect's result."""
        self.log.note(type, {"key": self.key, **data})

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event to the run's log now."""
        await self.log.write(type, {"key": self.key, **data})

    @property
    def is_watched(self) -> bool:
        """Whether anybody would see what is shown."""
        return self.watching is not None and self.watching.is_watched(self.run_id)

    def show(self, delta: Delta) -> None:
        """Hand a piece of the reply to whoever watches the run."""
        if self.watching is not None:
            self.watching.show(self.run_id, self.key, delta)


def usable(key: str, result: Event) -> dict[str, Any]:
    """The data of the result of the effect `key`.

    Raises:
        EffectError: it failed, and has no content to go on with.
    """
    if result.type.endswith(".failed") and "content" not in result.data:
        error: dict[str, str] = result.data["error"]
        raise EffectError(key, kind=error["type"], problem=error["message"])
    return result.data


async def perform(
    log: RunLog, kind: str, context: EffectContext, asked: Mapping[str, Any] | None, do: Perform
) -> dict[str, Any]:
    """Do an effect that has no result yet, and record it. `asked` None: the request is noted already.

    Raises:
        EffectError: it failed, and has no content to go on with.
    """
    earlier = log.recorded.get(context.key)
    if earlier:
        context.attempt = max(log.epoch - earlier[0].epoch + 1, 2)
    elif asked is not None:
        await log.write(f"{kind}.requested", {"key": context.key, **asked})
    try:
        result = _ending(log, kind, context, await do(context))
    except (StoreError, NonDeterminismError, UnavailableError) as error:
        log.fail(error)  # nothing is to be recorded: the run stops here, and is resumed later
        raise
    except Exception as error:  # noqa: BLE001 - recorded here, and raised into the algorithm by `usable`
        result = _ending(log, kind, context, {"error": error_data(error)})
    return usable(context.key, log.note_event(result))


def _ending(log: RunLog, kind: str, context: EffectContext, data: Mapping[str, Any]) -> Event:
    ending = "failed" if data.get("error") else "completed"
    return log.new(f"{kind}.{ending}", {"key": context.key, **data})


def require_same(log: RunLog, kind: str, key: str, asked: Identity) -> bool:
    """Whether the effect is recorded; what is `asked` now must be what was asked then.

    Raises:
        NonDeterminismError: the log records another effect under this key.
    """
    recorded = log.recorded.get(key)
    if not recorded:
        return False
    log.visited.add(key)
    found_kind, found = recorded[0].type.rpartition(".")[0], identity_of(recorded[0].data)
    if found_kind != kind or found != asked:
        names = [found.described(found_kind), asked.described(kind)]
        error = NonDeterminismError(log.run_id, key=key, recorded=names[0], requested=names[1])
        log.fail(error)
        raise error
    return True
