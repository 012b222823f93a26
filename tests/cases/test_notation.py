"""Generators that only look like one, and what scripted models reply."""

import asyncio

import pytest

from aaa.messages import LLMRequest, Message
from tests.cases.notation import ScriptedModel, expanded


def reply_of(**reply):
    request = LLMRequest((Message("user", "a"),))
    return asyncio.run(ScriptedModel([reply]).complete(request)).message


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"bytes": "iVBOR"}, {"bytes": "iVBOR"}),
        ({"bytes": "AAAA"}, {"bytes": "AAAA"}),
        ({"bytes": {"repeat": ["A", 4]}}, {"bytes": "AAAA"}),
        ({"bytes": "41", "repeat": 2}, "AA"),
    ],
)
def test_bytes_are_a_generator_only_with_a_count(written, value):
    assert expanded(written) == value


@pytest.mark.parametrize(
    "thought",
    [
        {"type": "thinking", "thinking": "hmm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "reasoning", "text": "hmm"},
        {"text": "hmm", "thought": True},
    ],
)
def test_a_thought_in_a_reply_is_no_text(thought):
    assert reply_of(parts=[thought]).text == ""
    assert reply_of(parts=[thought, {"type": "text", "text": "S"}]).text == "S"


def test_a_part_without_a_type_is_a_text():
    assert reply_of(parts=[{"text": "a"}, {"text": "b"}]).text == "ab"
