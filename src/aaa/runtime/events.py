"""Events: the facts of a run, in order. A run is its log; everything else is a fold of it.

| type | says | data |
|---|---|---|
| aaa.run.started | a run was asked for | algorithm, version, input, config, budget, parent |
| aaa.llm.requested | a model is about to be called | key, conv {prev, delta, digests, digest, length}, model, params |
| aaa.llm.retried | a try failed and another follows | key, attempt, error, wait_seconds |
| aaa.llm.completed | it replied | key, message, usage, model, cost, finish_reason; and what is below |
| | | by a policy sent, tokens, context, breaker; where it was made valid provider, repairs |
| aaa.llm.failed | it did not | key, error {type, message}; with a policy as above |
| aaa.tool.requested | a tool is about to run | key, call {id, name, arguments, digest} |
| aaa.tool.completed | it returned | key, content |
| aaa.tool.failed | it did not, and the model is told | key, content, error |
| aaa.step.requested, .completed, .failed | any other recorded effect | key, name, value or error |
| aaa.child.requested, .completed, .failed | a run of this run | key, name, run_id, input; outcome, spent |
| aaa.context.summary | a summary was written | key, record, tokens_spent, cost, breaker |
| aaa.context.rejected | one was not used | key, rejected, digests, tokens_spent, cost, breaker |
| aaa.context.edited | the edits of the prompt changed | key, removed, added |
| aaa.context.learned | a window showed to be smaller | key, model, window_tokens (of bytes: max_bytes), kind |
| aaa.run.waiting | the run waits | key, name, wake_at |
| aaa.run.received | somebody sent it something | name, data |
| aaa.run.cancel_requested | somebody wants it ended | |
| aaa.run.completed | it ended | status, value, error, spent |

`version` is that of the data's shape; old ones always load. Times are seconds since 1970, UTC.
"""

from typing import Any

import msgspec

__all__ = ["VERSION", "Event", "event_from_json", "event_to_json"]

VERSION = 1


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # JSON has no cycles
    """One fact. `seq` counts from 1 within its run and is 0 before it is stored; `id` tells a repeated append apart."""

    type: str
    data: dict[str, Any]
    id: str
    at: float
    run_id: str = ""
    seq: int = 0
    epoch: int = 0
    version: int = VERSION


def event_to_json(event: Event) -> str:
    """The event as JSON text."""
    return msgspec.json.encode(event).decode()


def event_from_json(text: str | bytes) -> Event:
    """Read an event of any version."""
    return msgspec.json.decode(text, type=Event)
