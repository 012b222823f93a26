"""What the name of a model says about its generation. A name that says nothing gets the strictest of each rule.

claude-opus-4-8   us.anthropic.claude-sonnet-4-5-20250929-v1:0   claude-3-5-haiku-latest   anthropic/claude-opus-4.6
"""

import re
from typing import NamedTuple

__all__ = [
    "Claude",
    "claude_of",
    "is_claude",
    "is_mistral",
    "signs_calls",
    "splits_calls",
    "takes_prefill",
    "takes_system_messages",
    "thinks_bound",
]

_FAMILY_FIRST = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?!\d)")
_NUMBER_FIRST = re.compile(r"claude-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?-(?P<family>[a-z]+)")
_GEMINI = re.compile(r"gemini-(\d+)")
_MISTRAL = re.compile(r"mi[sx]tral|ministral|pixtral|codestral|devstral|magistral|voxtral|mathstral")
_MISTRAL_BEFORE_V5 = re.compile(r"open-mi[sx]tral|(?:mistral|codestral|mathstral|pixtral)\b.*-2(?:3\d\d|40\d|410)\b")


class Claude(NamedTuple):
    """A generation of Claude, (4, 6) for 4.6."""

    family: str
    version: tuple[int, int]


def claude_of(model: str | None) -> Claude | None:
    """The generation a model's name tells; None if it tells none."""
    name = (model or "").lower()
    found = _FAMILY_FIRST.search(name) or _NUMBER_FIRST.search(name)
    return Claude(found["family"], (int(found["major"]), int(found["minor"] or 0))) if found else None


def is_claude(model: str | None) -> bool:
    """Whether this is a model of Anthropic's, wherever it runs."""
    return "claude" in (model or "").lower()


def thinks_bound(model: str | None) -> bool:
    """Whether thinking is bound to all that stands before it: Fable from 5.1, others from 5.5; Mythos does not check.

    Source: Anthropic's guide to preserved thinking, November 2026. Later models are taken to go on so.
    """
    claude = claude_of(model)
    if claude is None:
        return True
    first = {"fable": (5, 1), "mythos": None}.get(claude.family, (5, 5))
    return first is not None and claude.version >= first


def takes_prefill(model: str | None) -> bool:
    """Whether the last message may be the assistant's: up to 4.5.

    Source: "This model does not support assistant message prefill" (4.6 and later).
    """
    claude = claude_of(model)
    return claude is not None and claude.version < (4, 6)


def takes_system_messages(model: str | None) -> bool:
    """Whether role "system" may stand among the messages: from 4.8 on."""
    claude = claude_of(model)
    return claude is not None and claude.version >= (4, 8)


def signs_calls(model: str | None) -> bool:
    """Whether Gemini asks for the signature of a call: from generation 3 on; Gemma never."""
    name = (model or "").lower()
    found = _GEMINI.search(name)
    return int(found[1]) >= 3 if found else "gemma" not in name


def is_mistral(model: str | None) -> bool:
    """Whether this is a model of Mistral's, wherever it runs."""
    return bool(_MISTRAL.search((model or "").lower()))


def splits_calls(model: str | None) -> bool:
    """Whether a model of Mistral's takes either content or calls, as those did whose tokenizer is older than the fifth.

    Source: mistral-common, `validator.py`; the models of 2023 and 2024 up to October.
    """
    return bool(_MISTRAL_BEFORE_V5.search((model or "").lower()))
