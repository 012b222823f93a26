"""What an agent needs of others: a client, and functions of the caller's."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from aimu.context.texts import MessageDict
from aimu.events import ContextCompacted

__all__ = ["Compaction", "EventSink", "ModelClient"]

Compaction = Callable[[list[MessageDict]], Sequence[MessageDict]]
"""From the conversation to the one to go on with; called before every turn of the model."""

EventSink = Callable[[ContextCompacted], object]
"""Is told of every compaction that dropped something."""


class ModelClient(Protocol):
    """A model and the conversation with it, as `aimu.models.BaseModelClient`.

    `messages` are dicts in OpenAI's chat format; the list may be replaced by another one. `last_finish_reason` is
    "length" after a reply that was cut at its output limit.
    """

    messages: list[MessageDict]
    system: str | None
    generate_kwargs: dict[str, Any]

    @property
    def last_usage(self) -> Any:
        """What the provider counted for the last call, if it did."""
        ...

    @property
    def last_finish_reason(self) -> str | None:
        """Why the last reply ended."""
        ...

    def chat(self, user_message: str | None = None, *, tools: Sequence[Any] = ()) -> MessageDict:
        """Send the conversation, with one more message of the user if given; the reply is appended and returned.

        If it fails, `messages` is as before.
        """
        ...

    def generate(self, prompt: str) -> str:
        """The text of a reply to `prompt` alone; `messages` takes no part in it."""
        ...
