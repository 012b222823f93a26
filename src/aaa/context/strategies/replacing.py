"""What strategies share that replace messages one by one."""

from collections.abc import Callable

from aaa.context.work import Work
from aaa.messages import Message

__all__ = ["replace_old"]


def replace_old(work: Work, name: str, change: Callable[[Message], Message]) -> None:
    """Let `change` (which returns what it leaves alone) have every message before the recent tail that may be touched,
    and record under `name` how many it replaced."""
    replaced = 0
    for index in range(work.head, work.tail):
        message = work.messages[index]
        changed = message if work.is_protected(index) else change(message)
        if changed is not message:
            work.messages[index] = changed
            replaced += 1
    if replaced:
        work.applied.append(f"{name}({replaced})")
