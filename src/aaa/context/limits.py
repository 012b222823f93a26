"""What a server limits apart from tokens: the bytes of a request, and how many images and documents it has.

Forty screenshots are few tokens and too many bytes. The oldest become notes before anything else is done, since they
are what is refused; what is left may still be too much, and is the provider's to refuse.
"""

from typing import Any

from aaa.context.strategies.media import drop_oldest_media
from aaa.context.validity import Target
from aaa.context.work import Work
from aaa.messages import OpaquePart

__all__ = ["keep_bytes", "keep_limits"]

_ROOM = 4  # so many parts has a limit; whole ones are left out, so that many calls begin alike


def keep_bytes(work: Work, max_bytes: int) -> None:
    """Leave the oldest media out where a server was seen to take no more. Cost: O(messages)."""
    _drop(work, max_bytes, step=max(max_bytes // _ROOM, 1))


def keep_limits(work: Work, target: Target) -> None:
    """Leave the oldest media out where `target` takes no more. Cost: O(messages)."""
    contents = (message.content for message in work.messages)
    media = sum(isinstance(part, OpaquePart) for content in contents if isinstance(content, tuple) for part in content)
    if not media:
        return
    from aaa.wire.rules import rules_for  # many modules, that a policy without a provider does not need

    for limit in rules_for(target.provider, target.model, tools=work.measure.tools, params=target.params).limits:
        most = limit.largest - limit.besides
        step = max(limit.largest // _ROOM, 1)
        if limit.problem == "too_many_bytes":
            _drop(work, most, step=step)
        elif limit.problem == "too_much_media" and media > most:
            _drop(work, most, counted=limit.counted, step=step, also_linked=True)


def _drop(work: Work, most: int, **how: Any) -> None:
    work.strategy = "drop_media"
    dropped = drop_oldest_media(work, most, **how)
    if dropped:
        work.applied.append(f"drop_media({dropped})")
