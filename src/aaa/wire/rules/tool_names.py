"""Names of tools in calls and results, of the alphabet and length a provider takes.

    поиск        tool_5f0c1b2a            read.file     read_file_0a9d3e71

The stand-in depends on the name alone, and different names get different ones. The tools of a request are not ours to
rename (the model would call them by names that nobody serves); a bad name there is reported.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar

from msgspec.structs import replace

from aaa.messages import Message, ToolCall, ToolSpec
from aaa.wire.report import Violation, flagged
from aaa.wire.rewriting import with_call_name, with_result_name
from aaa.wire.rules.draft import Draft
from aaa.wire.rules.rule import Rule

__all__ = ["ToolNames"]

_KEPT = 40  # characters of the name in its stand-in, which is then shorter than any limit


@dataclass(frozen=True)
class ToolNames(Rule):
    """Every name matches `pattern` as a whole; a result may go without one."""

    name: ClassVar[str] = "tool_names"
    pattern: re.Pattern[str]
    tools: Sequence[ToolSpec] = ()

    def violations(self, messages: Sequence[Message]) -> list[Violation]:
        """Tools, then messages, that name a tool as the provider does not allow."""
        ours = (
            (place, tool) for place, tool in enumerate(self.tools) if '"type"' not in tool.extra
        )  # not the provider's
        bad = [place for place, tool in ours if not self.pattern.fullmatch(tool.name)]
        specs = [Violation(self.name, "invalid_tool", detail=f"tool {place}", is_repairable=False) for place in bad]
        return specs + flagged(self.name, messages, self._problem)

    def mend(self, draft: Draft) -> None:
        """Rename in calls and results."""
        draft.fix(self.name, self._problem, self._fixed)

    def _problem(self, message: Message) -> str | None:
        names = [call.name for call in message.tool_calls]
        if message.role == "tool" and message.name is not None:
            names.append(message.name)
        return None if all(map(self.pattern.fullmatch, names)) else "invalid_name"

    def _fixed(self, message: Message) -> Message:
        if message.role == "tool" and message.name is not None and not self.pattern.fullmatch(message.name):
            message = with_result_name(message, self._stand_in(message.name) if message.name else None)
        return replace(message, tool_calls=tuple(map(self._call, message.tool_calls)))

    def _call(self, call: ToolCall) -> ToolCall:
        return call if self.pattern.fullmatch(call.name) else with_call_name(call, self._stand_in(call.name))

    def _stand_in(self, name: str) -> str:
        mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        stem = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_")[:_KEPT]
        return f"{stem if stem[:1].isalpha() else f'tool_{stem}'.rstrip('_')}_{mark}"
