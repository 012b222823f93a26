"""A synchronous client: a model, and the conversation with it as a plain list.

client.chat("question") ──▶ messages + question ──▶ provider ──▶ messages + question + reply
                                    └── fails ──▶ messages as they were
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from aaa.llm.exchange import Exchange
from aaa.llm.providers import Provider
from aaa.llm.providers.dialects import dialect_of
from aaa.messages import Delta, LLMRequest, LLMResponse, Message, ToolSpec, Usage
from aaa.wire.openai_chat import tool_from_dict
from aaa.wire.rules import Repair, rules_for
from aimu.context.texts import fields_of
from aimu.models.cuts import SilentCuts
from aimu.models.dicts import messages_of, reply_dict
from aimu.models.parameters import params_of

__all__ = ["BaseModelClient"]

_log = logging.getLogger("aimu")


class BaseModelClient:
    """One conversation with one model.

    `messages` is the conversation, dicts in OpenAI's chat format, yours to read and to replace; it only grows by what
    was said. `system` is put in front when a chat begins, if no system message is there. `generate_kwargs` go with
    every request. `last_usage` is what the provider counted for the last call, `last_repairs` what had to be changed
    in the request to make it valid for the provider (as data; `messages` keeps what was there). A server that cuts the
    conversation without a word is found out by its usage: a warning, or with `strict=True` a `ContextOverflowError`.
    """

    def __init__(
        self,
        provider: Provider,
        sdk: Any,
        *,
        model: str,
        system: str | None = None,
        generate_kwargs: Mapping[str, Any] | None = None,
        strict: bool = False,
        dialect: str | None = None,
    ) -> None:
        self.provider = provider
        self.sdk = sdk
        self.model = model
        self.system = system
        self.generate_kwargs = dict(generate_kwargs or {})
        self.strict = strict
        self.dialect = dialect or dialect_of(provider, sdk)
        self.messages: list[dict[str, Any]] = []
        self.last_usage: Usage | None = None
        self.last_finish_reason: str | None = None
        self.last_repairs: tuple[Repair, ...] = ()
        self._cuts = SilentCuts(provider.name, strict=strict)

    def __repr__(self) -> str:
        return f"BaseModelClient({self.provider.name}:{self.model}, {len(self.messages)} messages)"

    def chat(
        self,
        user_message: str | None = None,
        *,
        tools: Sequence[Any] = (),
        show: Callable[[Delta], None] | None = None,
    ) -> dict[str, Any]:
        """Say something (None: go on from where the conversation is) and return the reply, which is appended.

        `tools` are specifications: `ToolSpec`, dicts in OpenAI's format, or tools made by `@tool`. With `show` the
        reply is streamed to it.

        Raises:
            ContextOverflowError: the conversation does not fit; `messages` is as before the call.
            ProviderError: as of `aaa.llm.ModelClient.complete`; `messages` is as before the call.
        """
        added = [{"role": "user", "content": user_message}] if user_message is not None else []
        head = self._missing_system()
        request = self._request([*head, *self.messages, *added], tools)
        response = self._ask(request, show)
        self._cuts.check(request, response)
        reply = reply_dict(response.message)
        self.messages[:0] = head
        self.messages += [*added, reply]
        return reply

    def generate(self, prompt: str) -> str:
        """The text of a reply to `prompt` alone; `messages` takes no part in it.

        Raises:
            ContextOverflowError, ProviderError: as `chat`.
        """
        return self._ask(self._request([{"role": "user", "content": prompt}], ()), None).message.text

    def close(self) -> None:
        """Close the SDK client's connections."""
        _close(self.sdk)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _missing_system(self) -> list[dict[str, Any]]:
        if self.system is None or any(map(_is_system, self.messages)):
            return []
        return [{"role": "system", "content": self.system}]

    def _request(self, dicts: Sequence[Mapping[str, Any]], tools: Sequence[Any]) -> LLMRequest:
        specs = [_spec_of(tool) for tool in tools]
        params = params_of(self.provider.name, self.generate_kwargs)
        messages = self._valid(messages_of(dicts), params)
        return LLMRequest(tuple(messages), tuple(specs), self.model, params)

    def _valid(self, messages: list[Message], params: Mapping[str, Any]) -> list[Message]:
        repaired, repairs = rules_for(self.dialect, self.model, params=params).repair(messages)
        self.last_repairs = tuple(repairs)
        if repairs:
            names = ", ".join(sorted({repair.rule for repair in repairs}))
            _log.warning("%d change(s) made the request valid for %s: %s", len(repairs), self.provider.name, names)
        return repaired

    def _ask(self, request: LLMRequest, show: Callable[[Delta], None] | None) -> LLMResponse:
        exchange = Exchange(self.provider, request)
        with exchange.errors():
            response = exchange.finished(self._whole(exchange) if show is None else self._streamed(exchange, show))
        self.last_usage = response.usage
        self.last_finish_reason = response.finish_reason
        return response

    def _whole(self, exchange: Exchange) -> LLMResponse:
        return self.provider.response(self.provider.call(self.sdk, exchange.request, stream=False))

    def _streamed(self, exchange: Exchange, show: Callable[[Delta], None]) -> LLMResponse:
        reply = self.provider.reply_stream()
        items = self.provider.call(self.sdk, exchange.request, stream=True)
        try:
            for item in items:
                for delta in exchange.feed(reply, item):
                    show(delta)
        finally:
            _close(items)
        return reply.response()


def _is_system(message: Mapping[str, Any]) -> bool:
    return fields_of(message).get("role") in ("system", "developer")


def _spec_of(tool: Any) -> ToolSpec:
    if isinstance(tool, ToolSpec):
        return tool
    spec = getattr(tool, "spec", None)
    return spec if isinstance(spec, ToolSpec) else tool_from_dict(tool)


def _close(resource: Any) -> None:
    close = getattr(resource, "close", None)
    if close is not None:
        close()
