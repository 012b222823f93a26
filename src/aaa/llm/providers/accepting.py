"""SDK clients that a user hands in: whether they are of the right package, and of the right side."""

import inspect
from operator import attrgetter
from typing import Any

from aaa.errors import ClientSetupError

__all__ = ["accepted"]


def accepted(provider: str, sdk: Any, method: str, *, is_async: bool) -> Any:
    """`sdk`, which must have `method` (a dotted path) and wait exactly if `is_async`.

    What cannot be told (a stand-in that has nothing to close, say) is taken as it is.

    Raises:
        ClientSetupError: it is something else; nothing was sent.
    """
    try:
        attrgetter(method)(sdk)
    except AttributeError as error:
        problem = f"sdk must be a client of {provider}'s SDK, which has {method}; got {type(sdk).__name__}"
        raise ClientSetupError(problem) from error
    close = getattr(sdk, "aclose", None) or getattr(sdk, "close", None)
    if close is not None and inspect.iscoroutinefunction(close) is not is_async:
        wanted, given = ("an asynchronous", "a synchronous") if is_async else ("a synchronous", "an asynchronous")
        other = "aimu.client" if is_async else "aaa.llm.client"
        problem = f"sdk must be {wanted} client, and {type(sdk).__name__} is {given} one; {other} takes those"
        raise ClientSetupError(problem)
    return sdk
