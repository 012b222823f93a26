"""A run driven once more from its log without the end: it must come to the same, and call nothing."""

from typing import Any

from aaa.llm import FakeLLMClient, LLMHandler
from aaa.runtime import Engine, MemoryEventStore
from tests.chaos.driving import Driven, algorithm_of, policy_of

__all__ = ["replay_problems"]


async def replay_problems(driven: Driven) -> list[str]:
    """What is different when the log is replayed."""
    events, run_id = driven.events, driven.plan.name
    store = MemoryEventStore()
    await store.submit(run_id, events[0])
    epoch = await store.claim(run_id)
    if events[1:-1]:
        await store.append(run_id, 1, epoch, events[1:-1])
    ran = driven.tools.ran.copy()
    async with Engine(store) as engine:
        client = FakeLLMClient([])  # has no reply
        LLMHandler(client, context=policy_of(driven.plan, FakeLLMClient([]))).attach(engine)
        registry = driven.tools.registry()
        driven.tools.handler(registry).attach(engine)
        outcome: Any = await (await engine.resume(run_id, algorithm_of(driven.plan, registry))).result()
    return [
        *([f"replayed to {outcome}, not {driven.outcome}"] if outcome != driven.outcome else []),
        *(["a replay called the model"] if client.requests else []),
        *(["a replay ran tools"] if driven.tools.ran != ran else []),
    ]
