"""How large a list of messages is."""

from collections.abc import Mapping, Sequence
from typing import Any

from aimu.context.counters import Counter, is_token_counter, text_counter
from aimu.context.reading import read
from aimu.context.texts import estimate_of, joined, message_texts

__all__ = ["count_tokens"]


def count_tokens(messages: Sequence[Mapping[str, Any]], *, counter: Counter | None = None) -> int:
    """Tokens of `messages`: an estimate, unless `counter` knows the model's own.

    By default a quarter of the characters of the messages as JSON, brackets and keys included, since they are sent
    too; `timestamp`, `thinking` and `provenance` are not, and do not count. Good to some 20 or 30 %. What a model
    really counted is in `client.last_usage`, after the call.

    Args:
        messages: dicts in OpenAI's chat format.
        counter: a function of that text, or an object with `count(messages, tools)`, as the counters of `aaa.context`.

    Raises:
        WireError: a message that is no object or holds a value that is not JSON, with its index.

    Example:
        >>> count_tokens([{"role": "user", "content": "How far is it?"}])
        11
    """
    if is_token_counter(counter):
        return counter.count(read(messages), ())
    text = joined(message_texts(messages))
    if counter is None:
        return estimate_of(len(text))
    return text_counter(counter)(text)
