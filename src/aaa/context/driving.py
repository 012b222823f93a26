"""Two drivers for one core: the steps of a plan, run with an event loop or without.

The core is a generator that yields what must be awaited (a strategy at work, a summary being written) and gets the
result sent in; it does no I/O itself.
"""

import asyncio
from collections.abc import Awaitable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from aaa.context.plan import Plan

__all__ = ["Steps", "finish", "finish_now"]

Steps = Generator[Awaitable[Any], Any, Plan]


async def finish(steps: Steps) -> Plan:
    """Run the steps in the caller's event loop."""
    try:
        step = next(steps)
        while True:
            step = steps.send(await step)
    except StopIteration as done:
        return done.value


def finish_now(steps: Steps) -> Plan:
    """Run the steps without an event loop; one is made only if there is something to await.

    Works inside a running loop too (notebooks): the steps then run in a thread of their own while the caller waits.
    """
    try:
        first = next(steps)
    except StopIteration as done:
        return done.value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_finish_from(first, steps))
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, _finish_from(first, steps)).result()


async def _finish_from(step: Awaitable[Any], steps: Steps) -> Plan:
    try:
        while True:
            step = steps.send(await step)
    except StopIteration as done:
        return done.value
