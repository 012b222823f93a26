"""Replacing the older part of a conversation by a summary that a model writes.

    system  user assistant … │ user assistant        system  Summary of earlier conversation: … │ user assistant
            ── older ─────── │ ── tail ─────   ──▶                                              │ ── tail ─────

What is read, cut into chunks, folded and checked is the work of `aaa.context`; here it is asked for at once.
"""

from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from aaa.context import HeuristicCounter, SummaryRecord
from aaa.context.summaries import summary_message
from aaa.context.summarizing import PendingSummary, Summarizer, chunks_of, model_summarizer, write
from aaa.errors import ContextError
from aaa.messages import Message
from aimu.context.asking import TextModel, TextModelClient
from aimu.context.layout import layout_of
from aimu.context.reading import read
from aimu.context.texts import MessageDict, fields_of

__all__ = ["SUMMARY_PREFIX", "is_own_summary", "summarize_messages"]

T = TypeVar("T")

SUMMARY_PREFIX = "Summary of earlier conversation:\n"


def summarize_messages(
    client: TextModel,
    messages: Sequence[MessageDict],
    *,
    keep_last: int = 2,
    prompt: str | None = None,
    chunk_tokens: int = 24_000,
) -> list[MessageDict]:
    """All but system messages and the last ones replaced by one summary, as a system message of its own.

    A summary made here before is folded into the new one. What is summarised goes to the model fenced, as a record and
    not as orders; very long messages are cut in their middle for it.

    Args:
        client: anything with `generate(prompt) -> str`; called once for each chunk, and never if there is nothing old.
        messages: dicts in OpenAI's chat format.
        keep_last: how many messages at the end stay at least, and the groups they are in, as in `trim_messages`.
        prompt: instructions instead of ours; the earlier summary and the conversation follow them.
        chunk_tokens: how much the model reads at a time, in estimated tokens; what is longer is folded bit by bit.

    Raises:
        ContextError: the model wrote nothing, or what reads like an error; whatever `client` raises comes as it is.
        ValueError: keep_last below 0, or chunk_tokens below 1.
        WireError: a message that cannot be read, with its index.

    Shape: a new list; system messages in their order, the summary, then the caller's own dicts.
    """
    if chunk_tokens < 1:
        raise ValueError(f"chunk_tokens must be at least 1, got {chunk_tokens}")
    layout = layout_of(messages, keep_last=keep_last)
    if not layout.older:
        return list(messages)
    front = [messages[index] for index in layout.front]
    earlier = [_text_of(fields)[len(SUMMARY_PREFIX) :] for fields in front if is_own_summary(fields)]
    span = read(messages, layout.older)
    text = _written(TextModelClient(client, prompt), span, "\n\n".join(earlier), chunk_tokens)
    summary = {"role": "system", "content": SUMMARY_PREFIX + text}
    kept = [fields for fields in front if not is_own_summary(fields)]
    return [*kept, summary, *(messages[index] for index in layout.tail)]


def is_own_summary(fields: Mapping[str, Any]) -> bool:
    """Whether a message is a summary made by `summarize_messages`: it is known by how it begins."""
    return fields_of(fields).get("role") == "system" and _text_of(fields).startswith(SUMMARY_PREFIX)


def _text_of(fields: Mapping[str, Any]) -> str:
    content = fields_of(fields).get("content")
    return content if isinstance(content, str) else ""


def _written(client: TextModelClient, span: Sequence[Message], earlier: str, chunk_tokens: int) -> str:
    pending = PendingSummary(
        start=0,
        stop=len(span),
        upto=len(span),
        span=tuple(span),
        chunks=chunks_of(span, HeuristicCounter().count_message, chunk_tokens),
        previous=earlier or None,
        earlier_identifiers=(),
        max_tokens=0,
        summarize=partial(_fencing, model_summarizer(client, None, 0)),
    )
    outcome = _awaited(write(pending))
    if client.failure is not None:
        raise client.failure
    if outcome.problem:
        raise ContextError(
            f"the summary of {len(span)} messages was rejected: {outcome.problem}. Nothing was changed; "
            "try again, with another model or another prompt, or use trim_messages."
        )
    return outcome.text


def _fencing(summarize: Summarizer, text: str, previous: str | None) -> Any:
    return summarize(_fenced(text), _fenced(previous) if previous else None)


def _fenced(text: str) -> str:
    """As a record, by the fence of `aaa.context`: what tools returned may read like orders."""
    return summary_message(SummaryRecord(0, "", text)).text


def _awaited(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that has nothing to wait for; so it needs no event loop, and runs inside one too."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a synchronous client cannot wait")
