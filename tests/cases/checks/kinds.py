"""Kinds of errors by the names that cases have for them."""

import re
from asyncio import CancelledError
from collections.abc import Callable

from aaa import errors
from aaa.errors import (
    AuthenticationError,
    BrokenReplyError,
    ContextFloorError,
    ContextOverflowError,
    InvalidRequestError,
    ServerError,
    StateError,
    SummaryError,
    ToolArgumentsError,
    UnreachableError,
    WireError,
)

__all__ = ["is_kind"]

_CLASSES: dict[str, tuple[type[BaseException], ...]] = {
    **dict.fromkeys(("cannot_fit", "floor", "fixed_too_large"), (ContextFloorError,)),
    **dict.fromkeys(("overflow", "context_overflow"), (ContextOverflowError,)),
    "summary_failed": (SummaryError,),
    "timeout": (UnreachableError, TimeoutError),
    "network": (UnreachableError,),
    **dict.fromkeys(("auth", "unauthorized", "permission"), (AuthenticationError,)),
    **dict.fromkeys(("overloaded", "unavailable"), (ServerError,)),
    **dict.fromkeys(("incomplete_reply", "truncated_reply"), (BrokenReplyError,)),
    "bad_request": (InvalidRequestError,),
    **dict.fromkeys(("bad_format", "malformed"), (WireError,)),
    "invalid_arguments": (ToolArgumentsError,),
    **dict.fromkeys(("corrupt_state", "bad_state"), (StateError,)),
    "cancelled": (CancelledError,),
    "value": (ValueError,),
    "type": (TypeError,),
}
_REASONS = {
    "summary_empty": "empty",
    "timeout": "timeout",
    "summary_timeout": "timeout",
    "summary_too_large": "too large",
    "summary_too_long": "too long",
    "summary_cut_off": "cut off",
    "summary_truncated": "cut off",
    "summary_tool_call": "tool call",
    "summary_error_text": "error text",
}


def is_kind(kind: str) -> Callable[[BaseException], bool] | None:
    """Whether an error is of a kind, or tells of one; None for a kind that is not known.

    Beside other names for it, a class of ours has its own in small letters, with and without "error".
    """
    if kind == "config_error":
        return _is_of_settings
    classes = _CLASSES.get(kind, ()) + tuple(
        getattr(errors, name) for name in errors.__all__ if _small(name) in (kind, f"{kind}_error")
    )
    if not classes and kind not in _REASONS:
        return None
    return lambda error: (
        isinstance(error, classes)
        or any(one.__name__ in str(error) for one in classes)
        or (isinstance(error, SummaryError) and error.reason == _REASONS.get(kind))
    )


def _is_of_settings(error: BaseException) -> bool:
    return isinstance(error, ValueError) or (isinstance(error, ContextFloorError) and not error.tail_tokens)


def _small(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
