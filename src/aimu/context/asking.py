"""A model that takes a prompt and gives a text, as a client of `aaa`: what summaries are written with."""

from typing import Protocol

from aaa.messages import LLMRequest, LLMResponse, Message

__all__ = ["TextModel", "TextModelClient"]


class TextModel(Protocol):
    """Anything that answers a prompt: a client, or an agent seen as one."""

    def generate(self, prompt: str) -> str:
        """The text of the reply."""
        ...


class TextModelClient:
    """`LLMClient` over a `TextModel`; the request's messages become one prompt, its first one `instructions` if given.

    `failure` is what the model raised last: whoever writes summaries makes a note of a failure and goes on, and here
    it must come out.
    """

    def __init__(self, model: TextModel, instructions: str | None = None) -> None:
        self._model = model
        self._instructions = instructions
        self.failure: Exception | None = None

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """Ask; awaits nothing."""
        texts = [message.text for message in request.messages]
        if self._instructions is not None:
            texts[0] = self._instructions
        try:
            return LLMResponse(Message("assistant", _text(self._model.generate("\n\n".join(texts)))))
        except Exception as error:
            self.failure = error
            raise


def _text(reply: object) -> str:
    if not isinstance(reply, str):
        raise TypeError(f"generate(prompt) must return text, not {type(reply).__name__}")
    return reply
