"""transformers: a model of a local folder, or one the program has loaded, in this process."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from aaa.errors import ClientSetupError
from aaa.llm.providers.local import LocalReplies, check_fits, chunks_of
from aaa.llm.providers.protocol import Connection
from aaa.llm.providers.transport import package
from aaa.messages import LLMRequest
from aaa.wire import openai_chat

__all__ = ["HF", "HFModel", "HFProvider"]

_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_MAX_NEW_TOKENS = 512


class HFModel(NamedTuple):
    """A loaded model and its tokenizer, which needs a chat template."""

    model: Any
    tokenizer: Any

    @property
    def window(self) -> int | None:
        """The tokens the model's positions reach; None if its configuration does not say."""
        config = self.model.config
        names = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
        return next((value for name in names if isinstance(value := getattr(config, name, None), int)), None)


class HFProvider(LocalReplies):
    """`generate` of a transformers model. Calls are read where the model writes `<tool_call>{…}</tool_call>`, as most
    templates with tools have it."""

    name = "hf"

    def connect(self, connection: Connection) -> HFModel:
        """Load model and tokenizer; what is on this machine is used, nothing is fetched."""
        transformers = package("transformers", extra="hf")
        try:
            model = transformers.AutoModelForCausalLM.from_pretrained(connection.model, local_files_only=True)
            tokenizer = transformers.AutoTokenizer.from_pretrained(connection.model, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ClientSetupError(f"there is no transformers model {connection.model!r} on this machine") from error
        return HFModel(model, tokenizer)

    def call(self, sdk: Any, request: LLMRequest, *, stream: bool) -> Any:
        """Check the prompt, then run the model."""
        loaded = HFModel(*sdk)
        body = openai_chat.request_to_body(request)
        inputs = loaded.tokenizer.apply_chat_template(
            body["messages"],
            tools=body.get("tools"),
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        check_fits(self.name, int(inputs["input_ids"].shape[-1]), loaded.window)
        so_far = sum(len(message.tool_calls) for message in request.messages)
        answer = _generate(loaded, inputs, dict(request.params), so_far)
        return chunks_of(answer) if stream else answer


def _generate(loaded: HFModel, inputs: Any, params: dict[str, Any], calls_so_far: int) -> dict[str, Any]:
    tokens = int(inputs["input_ids"].shape[-1])
    limit = params.pop("max_new_tokens", None) or params.pop("max_tokens", None) or _MAX_NEW_TOKENS
    room = loaded.window - tokens if loaded.window is not None else limit
    length = min(limit, room)
    output = loaded.model.generate(**inputs, max_new_tokens=length, **params)[0][tokens:]
    message = _message(loaded.tokenizer.decode(output, skip_special_tokens=True), calls_so_far)
    is_cut = len(output) >= length
    reason = "tool_calls" if "tool_calls" in message else "length" if is_cut else "stop"
    usage = {"prompt_tokens": tokens, "completion_tokens": len(output), "total_tokens": tokens + len(output)}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}


def _message(text: str, calls_so_far: int) -> dict[str, Any]:
    """The reply, with the calls that stand in its text taken out of it."""
    calls = [call for found in _CALL.findall(text) if (call := _call(found)) is not None]
    if not calls:
        return {"role": "assistant", "content": text}
    return {
        "role": "assistant",
        "content": _CALL.sub("", text).strip() or None,
        "tool_calls": _numbered(calls, calls_so_far),
    }


def _call(text: str) -> dict[str, Any] | None:
    try:
        call = json.loads(text)
    except ValueError:
        return None
    return call if isinstance(call.get("name"), str) else None


def _numbered(calls: Sequence[dict[str, Any]], first: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call.get("arguments", {}))},
        }
        for index, call in enumerate(calls, first)
    ]


HF = HFProvider()
