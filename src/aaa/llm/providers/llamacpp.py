"""llama-cpp-python: a GGUF model in this process."""

from collections.abc import Mapping
from typing import Any

from aaa.llm.providers.local import LocalReplies, check_fits
from aaa.llm.providers.protocol import Connection
from aaa.llm.providers.transport import package
from aaa.messages import LLMRequest
from aaa.wire import openai_chat

__all__ = ["LLAMACPP", "LlamaCppProvider"]

_PER_MESSAGE = 4  # tokens of a template around a message, where the model brings none


class LlamaCppProvider(LocalReplies):
    """A `llama_cpp.Llama`; the model's name is the path of its file."""

    name = "llamacpp"

    def connect(self, connection: Connection) -> Any:
        """Load the model, with the window it was trained with."""
        llama_cpp = package("llama_cpp", extra="llamacpp")
        return llama_cpp.Llama(model_path=connection.model, n_ctx=0, verbose=False)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Check the prompt, then run the model."""
        body = openai_chat.request_to_body(request)
        body.pop("model", None)
        check_fits(self.name, _tokens(sdk, body), sdk.n_ctx())
        return sdk.create_chat_completion(**body, stream=stream)


def _tokens(sdk: Any, body: Mapping[str, Any]) -> int:
    """The tokens of the prompt as the model's own template renders it."""
    metadata: dict[str, Any] = getattr(sdk, "metadata", None) or {}
    template = metadata.get("tokenizer.chat_template")
    if template:
        formats = package("llama_cpp.llama_chat_format", extra="llamacpp")
        eos, bos = (sdk.detokenize([token]).decode(errors="ignore") for token in (sdk.token_eos(), sdk.token_bos()))
        render = formats.Jinja2ChatFormatter(template=template, eos_token=eos, bos_token=bos)
        prompt = render(messages=body["messages"], tools=body.get("tools")).prompt
        return len(sdk.tokenize(prompt.encode(), add_bos=False, special=True))
    texts = [str(message.get("content") or "") for message in body["messages"]]
    return sum(len(sdk.tokenize(text.encode(), add_bos=False)) + _PER_MESSAGE for text in texts)


LLAMACPP = LlamaCppProvider()
