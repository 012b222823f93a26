"""Arguments of calls: a JSON object, where a provider or the template behind it reads them.

    {"path": "a.p                ──▶   {"INVALID_JSON": "{\"path\": \"a.p"}

Nothing of what the model wrote is lost. The key is the one in Anthropic's guide to fine-grained tool streaming
(November 2026), and what our own formats write. Source for servers that read text: "Failed to parse tool call
arguments as JSON" (llama-server, status 500, measured November 2026).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, ToolCall
from aaa.wire.arguments import object_in, object_or_wrapped
from aaa.wire.lossless import compact
from aaa.wire.report import Violation, flagged
from aaa.wire.rewriting import with_arguments
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["Arguments"]


@dataclass(frozen=True)
class Arguments(Rule):
    """Every call has a JSON object; with `may_be_empty` no text at all is one, because the format writes {} for it.

    The input of a custom tool is any text, in a format that `has_custom` tools.
    """

    name: ClassVar[str] = "arguments"
    may_be_empty: bool
    has_custom: bool = False

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Calls whose arguments are no object."""
        return flagged(self.name, messages, self._problem)

    def mend(self, draft: Draft) -> None:
        """Put what is no object inside one."""
        draft.fix(self.name, self._problem, self._fixed)

    def _problem(self, message: Message) -> str | None:
        return None if all(map(self._is_good, message.tool_calls)) else "invalid_arguments"

    def _is_good(self, call: ToolCall) -> bool:
        if self.has_custom and '"custom"' in call.extra:
            return True
        if not call.arguments_json:
            return self.may_be_empty
        return object_in(call.arguments_json) is not None

    def _fixed(self, message: Message) -> Message:
        return replace(message, tool_calls=tuple(map(self._call, message.tool_calls)))

    def _call(self, call: ToolCall) -> ToolCall:
        if self._is_good(call):
            return call
        text = call.arguments_json
        return with_arguments(call, compact(object_or_wrapped(text)))
