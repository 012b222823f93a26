"""A whole policy as one function."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack, overload

from aaa.context import ContextPolicy, Plan
from aimu.context.asking import TextModel
from aimu.context.counters import Counter
from aimu.context.fitter import Fitter, PolicySettings
from aimu.context.texts import MessageDict

__all__ = ["fit_messages"]


@overload
def fit_messages(
    messages: Sequence[MessageDict],
    max_tokens: int | ContextPolicy,
    *,
    tools: Sequence[Any] = (),
    client: TextModel | None = None,
    counter: Counter | None = None,
    plan: Literal[False] = False,
    **settings: Unpack[PolicySettings],
) -> list[MessageDict]: ...


@overload
def fit_messages(
    messages: Sequence[MessageDict],
    max_tokens: int | ContextPolicy,
    *,
    tools: Sequence[Any] = (),
    client: TextModel | None = None,
    counter: Counter | None = None,
    plan: Literal[True],
    **settings: Unpack[PolicySettings],
) -> Plan: ...


def fit_messages(
    messages: Sequence[MessageDict],
    max_tokens: int | ContextPolicy,
    *,
    tools: Sequence[Any] = (),
    client: TextModel | None = None,
    counter: Counter | None = None,
    plan: bool = False,
    **settings: Unpack[PolicySettings],
) -> list[MessageDict] | Plan:
    """A conversation made to fit `max_tokens` by a policy of `aaa`: nothing is done while it is small; then long
    results are cut, old ones cleared, and what is oldest is summarised (with a `client`) and dropped.

    System messages at the start and the first user message stay, and so do the newest groups. For a conversation that
    goes on use `aimu.Fitter`, which remembers: this function starts anew with every call, and pays for every summary.

    Args:
        messages: dicts in OpenAI's chat format, the whole conversation.
        max_tokens, client, counter, settings: as of `aimu.Fitter`.
        tools: specifications that go with the request; they count.
        plan: return the edits that would be made, as data, instead of what they make.

    Raises:
        ContextFloorError: it cannot be made to fit, with the sizes.
        ValueError: numbers that contradict each other.
        WireError: a message or tool that cannot be read, with its index.

    Shape: a new list; the caller's own dicts, and new ones that stand for others.
    """
    if not isinstance(max_tokens, ContextPolicy):
        settings = {"sticky": False, **settings}
    fitter = Fitter(max_tokens, client=client, counter=counter, **settings)
    fitted = fitter.fit(messages, tools=tools)
    return fitter.plan if plan and fitter.plan is not None else fitted
