"""Running a caller's compaction, and telling of it.

What was dropped is found by content: the function may rebuild the messages it keeps.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from operator import is_

from aimu.agents.protocols import Compaction, EventSink
from aimu.context.texts import MessageDict, estimate_of, joined, message_texts
from aimu.events import ContextCompacted

__all__ = ["compacted"]

_log = logging.getLogger("aimu.agents")


def compacted(
    messages: Sequence[MessageDict], compaction: Compaction | None, *, agent: str, events: EventSink | None
) -> list[MessageDict]:
    """The conversation to go on with; if messages are gone, a warning is logged and `events` is told.

    Raises:
        TypeError: the function returned no messages; whatever it raises comes as it is.
    """
    if compaction is None:
        return list(messages)
    kept = _messages_of(compaction(list(messages)))
    event = _event(messages, kept, agent)
    if event is not None:
        _announce(event, events)
    return kept


def _messages_of(returned: object) -> list[MessageDict]:
    if isinstance(returned, str) or not isinstance(returned, Sequence):
        raise TypeError(f"compaction must return the messages to go on with, got {type(returned).__name__}")
    return list(returned)  # pyright: ignore[reportUnknownArgumentType] - what is in it, the client will see


def _event(before: Sequence[MessageDict], after: Sequence[MessageDict], agent: str) -> ContextCompacted | None:
    """What to tell; None if all that was there still is. Cost: nothing to speak of if the same objects came back."""
    if len(before) == len(after) and all(map(is_, before, after)):
        return None
    texts, left = message_texts(before), message_texts(after)
    dropped = (Counter(texts) - Counter(left)).total()
    if not dropped:
        return None
    return ContextCompacted(_tokens(texts), _tokens(left), dropped, agent)


def _tokens(texts: Sequence[str]) -> int:
    return estimate_of(len(joined(texts)))


def _announce(event: ContextCompacted, events: EventSink | None) -> None:
    _log.warning(
        "Compacted conversation for agent '%s': dropped %d message(s) (~%d -> ~%d tokens, AIMU's own estimate).",
        event.agent,
        event.dropped,
        event.before_tokens,
        event.after_tokens,
    )
    if events is not None:
        events(event)
