"""An end for what may never end by itself."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Overdue", "time_limit"]


class Overdue(Exception):
    """Something took far too long. No `TimeoutError`, which the code under test might take for its own."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `Overdue` after `seconds` even in code that gives no event loop a turn.

    Without effect outside of the main thread, and where there are no such signals.
    """

    def ring(_: int, frame: FrameType | None) -> None:
        raise Overdue(f"no end after {seconds} s, in {frame.f_code.co_qualname if frame else '?'}")

    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
