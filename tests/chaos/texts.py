"""Refusals of prompts that are too large: every text that is known, with the real sizes of the request in it.

A `Wording` is one text; `said` fills it in. Those of `EXACT` are made of their templates; those that the tests of the
recogniser have get their numbers replaced, where each of them can be found.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aaa.wire.overflow_texts import EXACT, Kind
from tests.wire.test_overflow import TEXTS

__all__ = ["WORDINGS", "Sizes", "Wording"]


@dataclass(frozen=True)
class Sizes:
    """One request in the provider's own count. Units: tokens; `characters` and `byte_count` of its body."""

    window: int
    prompt: int
    output: int
    tools: int
    characters: int
    byte_count: int

    @property
    def byte_limit(self) -> int:
        """As far below the bytes that were sent as the window is below the tokens."""
        return max(self.byte_count * self.window // self.prompt, 1)

    def fields(self, template: str, kind: Kind) -> Mapping[str, int]:
        """What the fields of a template stand for."""
        if kind == "bytes":
            return {"limit": self.byte_limit, "prompt": self.byte_count}
        return {
            "limit": self.window,
            "prompt": self.prompt - (self.tools if "{tools}" in template else 0),
            "tools": self.tools,
            "output": self.output,
            "total": self.prompt + self.output,
            "excess": self.prompt - self.window,
            "number": self.characters,
        }


@dataclass(frozen=True)
class Wording:
    """A text with fields in braces; `tells_limit` says that the window must be read out of it."""

    template: str
    kind: Kind

    @property
    def tells_limit(self) -> bool:
        return "{limit}" in self.template

    def said(self, sizes: Sizes) -> str:
        """The text about one request."""
        fields = sizes.fields(self.template, self.kind)
        return re.sub(r"\{(\w+)\}", lambda field: str(fields[field[1]]), self.template.replace("…", " as you sent it "))


def _of_recorded() -> list[Wording]:
    found = [_templated(text, expected) for text, expected in TEXTS]
    return [wording for wording in found if wording is not None]


def _templated(text: str, expected) -> Wording | None:
    """The text with fields for its numbers; None if one of them does not stand in it."""
    numbers = {"limit": expected.limit, "output": expected.output}
    numbers["total" if expected.counts_output else "prompt"] = expected.requested
    if expected.excess is not None:
        numbers = {"excess": expected.excess, "limit": expected.limit}
    for name, number in numbers.items():
        shown = [] if number is None else [form for form in (f"{number}", f"{number:,}") if _stands(form, text)]
        if number is not None and not shown:
            return None
        for form in shown:
            text = re.sub(rf"(?<![\d,]){form}(?![\d,]*\d)", f"{{{name}}}", text)
    return Wording(text, expected.kind)


def _stands(form: str, text: str) -> bool:
    return re.search(rf"(?<![\d,]){form}(?![\d,]*\d)", text) is not None


WORDINGS: tuple[Wording, ...] = tuple(
    dict.fromkeys([*(Wording(row.template, row.kind) for row in EXACT), *_of_recorded()])
)
"""Each known text once."""
