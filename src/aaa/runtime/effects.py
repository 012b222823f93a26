"""One effect: recorded before it happens and after, so that nothing recorded is done again.

completed or failed is recorded    the result comes from the log
only requested is recorded         an attempt was interrupted: done again, under the same key
nothing is recorded                requested, done, completed
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aaa.errors import EffectError, NonDeterminismError, StoreError
from aaa.runtime.conversations import Placed
from aaa.runtime.events import Event
from aaa.runtime.log import RunLog

__all__ = ["EffectContext", "Perform", "described", "perform", "require_same"]

Perform = Callable[["EffectContext"], Awaitable[Mapping[str, Any]]]


class EffectContext:
    """One effect of one run, seen from its handler (`aaa.messages.Effects`)."""

    def __init__(self, log: RunLog, key: str, memory: dict[str, Any], placed: Placed | None = None) -> None:
        self.run_id = log.run_id
        self.key = key
        self.attempt = 1
        self.conversation = placed.name if placed else ""
        self.parent_conversation = placed.parent if placed else ""
        self.memory = memory
        self._log = log

    @property
    def idempotency_key(self) -> str:
        """What makes a repeated call recognisable to whoever receives it."""
        return f"{self.run_id}:{self.key}"

    def note(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event together with the effect's result."""
        self._log.note(type, {"key": self.key, **data})

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:
        """Append an event to the run's log now."""
        await self._log.write(type, {"key": self.key, **data})


async def perform(
    log: RunLog, kind: str, context: EffectContext, asked: Mapping[str, Any] | None, do: Perform
) -> dict[str, Any]:
    """The data of the effect's result, from the log or from doing it. `asked` None: the request is noted already.

    Raises:
        EffectError: it failed, now or as recorded, and has no content to go on with.
    """
    result = log.result(kind, context.key)
    if result is None:
        result = await _do(log, kind, context, asked, do)
    if result.type.endswith(".failed") and "content" not in result.data:
        error: dict[str, str] = result.data["error"]
        raise EffectError(context.key, kind=error["type"], problem=error["message"])
    return result.data


async def _do(log: RunLog, kind: str, context: EffectContext, asked: Mapping[str, Any] | None, do: Perform) -> Event:
    earlier = log.recorded.get(context.key)
    if earlier:
        context.attempt = max(log.epoch - earlier[0].epoch + 1, 2)
    elif asked is not None:
        await log.write(f"{kind}.requested", {"key": context.key, **asked})
    try:
        data = await do(context)
    except StoreError:
        raise  # nothing can be recorded: the run stops here, and is resumed later
    except Exception as error:  # noqa: BLE001 - recorded here, and raised into the algorithm by `perform`
        data = {"error": {"type": type(error).__name__, "message": str(error)}}
    ending = "failed" if data.get("error") else "completed"
    return log.note(f"{kind}.{ending}", {"key": context.key, **data})


def require_same(log: RunLog, kind: str, key: str, said: str) -> bool:
    """Whether the effect is recorded; `said` is what identifies it, as `described` makes it from its request.

    Raises:
        NonDeterminismError: the log records another effect under this key.
    """
    recorded = log.recorded.get(key)
    if not recorded:
        return False
    log.visited.add(key)
    found_kind = recorded[0].type.rpartition(".")[0]
    found = described(recorded[0].data)
    if (found_kind, found) != (kind, said):
        names = [name.removeprefix("aaa.") for name in (found_kind, kind)]
        recorded_as, requested = f"{names[0]} {found}".strip(), f"{names[1]} {said}".strip()
        log.failure = NonDeterminismError(log.run_id, key=key, recorded=recorded_as, requested=requested)
        raise log.failure
    return True


def described(data: Mapping[str, Any]) -> str:
    """What identifies an effect, from the data of its request: no message text, no tool specs, no model."""
    if "conv" in data:
        return f"with a conversation of {data['conv']['length']} messages, digest {data['conv']['digest'][:12]}"
    if "call" in data:
        return f"{data['call']['name']} with arguments of digest {data['call']['digest'][:12]}"
    return f"{data.get('name', '')!r}"
