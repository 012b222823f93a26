"""What a provider limits apart from tokens: bytes, and the number of images."""

import json
from collections.abc import Sequence

import pytest

from aaa.context import ContextPolicy, PromptFitter
from aaa.messages import Message, OpaquePart, TextPart
from aaa.wire.rules import rules_for

TASK = Message("user", "watch the screen")


def shots(count: int, size: int) -> list[Message]:
    """Screenshots with an answer after each, of `size` characters."""
    return [message for n in range(count) for message in (_shot(n, size), Message("assistant", f"seen {n}"))]


def _shot(number: int, size: int) -> Message:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * size}
    part = OpaquePart("image", json.dumps({"type": "image", "source": source}), "anthropic")
    return Message("user", (TextPart(f"shot {number}"), part))


def kept(messages: Sequence[Message]) -> list[bool]:
    return [any(isinstance(p, OpaquePart) for p in m.content) for m in messages if isinstance(m.content, tuple)]


def fit(messages, fitter=None, provider="anthropic"):
    fitter = fitter or PromptFitter(ContextPolicy(1_000_000))
    return fitter.fit_sync([*messages, Message("user", "and now?")], provider=provider)


@pytest.mark.parametrize("sticky", [True, False])
def test_the_oldest_images_become_notes_where_the_request_has_too_many_bytes(sticky):
    prompt = fit([TASK, *shots(12, 4_000_000)], PromptFitter(ContextPolicy(1_000_000, sticky=sticky)))
    assert rules_for("anthropic").violations(prompt.messages) == []
    assert kept(prompt.messages) == [False] * 5 + [True] * 7
    assert "shot 0" in prompt.messages[1].text
    assert list(prompt.report["applied"]) == ["drop_media(5)"]
    assert [edit.index for edit in prompt.plan.edits] == [1, 3, 5, 7, 9]


def test_more_images_than_a_request_takes_become_notes_too():
    prompt = fit([TASK, *shots(110, 40)])
    assert rules_for("anthropic").violations(prompt.messages) == []
    assert kept(prompt.messages) == [False] * 25 + [True] * 85


def test_the_beginning_stays_while_images_come():
    """Whole parts of the limit are left out at once: most calls begin as the one before."""
    fitter, changes, before = PromptFitter(ContextPolicy(1_000_000)), 0, []
    messages = [TASK, *shots(26, 2_000_000)]
    for count in range(1, 27):
        now = list(fit(messages[: 2 * count + 1], fitter).messages)[:-1]
        changes += now[: len(before)] != before
        before = now
    assert changes == 3


def test_what_a_provider_takes_is_left_as_it_is():
    messages = [TASK, *shots(5, 1_000)]
    assert list(fit(messages).messages)[:-1] == messages
    assert list(fit([TASK, *shots(12, 4_000_000)], provider="openai").messages)[1:-1] == shots(12, 4_000_000)
