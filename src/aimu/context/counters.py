"""What may count: nothing given (the estimate), a function of a text, or a counter of `aaa`.

The estimate is also a counter in the form that `aaa` takes, so that a policy and `count_tokens` use one measure.
"""

from collections.abc import Callable, Sequence
from math import ceil
from numbers import Real
from typing import TypeGuard, cast

from aaa.context import TokenCounter
from aaa.context.counters.protocol import tools_text
from aaa.messages import Message, OpaquePart, ToolSpec
from aaa.wire.media import media_of
from aaa.wire.openai_chat import message_to_dict
from aimu.context.texts import joined, message_text, message_texts

__all__ = ["Counter", "EstimateCounter", "TextCounter", "is_token_counter", "text_counter", "token_counter"]

Counter = Callable[[str], int] | TokenCounter
"""A function from text to tokens, such as `lambda text: len(encoder.encode(text))`, or a counter of `aaa`."""


class EstimateCounter:
    """The estimate of `count_tokens`, message by message, each rounded up: the sum is never below it.

    The bytes of images and files inside a message count nothing here, as with every counter of `aaa`.
    """

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Estimated tokens of `messages` and `tools` together."""
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        """Estimated tokens of one message, and of the line break that follows it."""
        return ceil((len(message_text(message_to_dict(message))) - _media_chars(message) + 1) / 4)

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Estimated tokens of the tool specifications; 0 for none."""
        return ceil(len(tools_text(tools)) / 4)


class TextCounter:
    """A function of a text as a counter of whole conversations; not additive, since a text is not its parts."""

    def __init__(self, count_text: Callable[[str], int]) -> None:
        self._count_text = count_text

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of the text of `messages` and `tools` together."""
        texts = message_texts([message_to_dict(message) for message in messages])
        return self._count_text(joined([*texts, tools_text(tools)] if tools else texts))


def token_counter(counter: Counter) -> TokenCounter:
    """`counter` in the form that `aaa` takes.

    Raises:
        TypeError: neither a function nor a counter.
    """
    return counter if is_token_counter(counter) else TextCounter(text_counter(counter))


def is_token_counter(counter: object) -> TypeGuard[TokenCounter]:
    """Whether it counts messages; the class of a counter and a text have a `count` too, and do not."""
    return isinstance(counter, TokenCounter) and not isinstance(counter, type | str)


def text_counter(counter: object) -> Callable[[str], int]:
    """`counter`, a function of a text, which must return a number.

    Raises:
        TypeError: it is no function; when called, that it returned none, as an encoder's own function does.
    """
    if not callable(counter) or isinstance(counter, type):
        raise TypeError(f"counter must be a function of a text or have count(messages, tools), got {counter!r}")
    return lambda text: _number(counter(text))


def _number(tokens: object) -> int:
    if isinstance(tokens, Real):
        return cast("int", tokens)  # or the like
    raise TypeError(
        f"counter must return how many tokens a text has, got {type(tokens).__name__}; "
        "with an encoder, pass lambda text: len(encoder.encode(text))"
    )


def _media_chars(message: Message) -> int:
    parts = message.content if isinstance(message.content, tuple) else ()
    media = (media_of(part) for part in parts if isinstance(part, OpaquePart))
    return sum(len(item.data or "") for item in media if item)
