"""Digests: golden values, what they cover, and that they are the same everywhere."""

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from aaa.messages import EMPTY_DIGEST, Message, OpaquePart, TextPart, ToolCall, chain, digest

IMAGE = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"x"}}')

# Stored summaries and edits are found by these values: a change makes every one of them void.
GOLDEN = [
    (Message("user", "hello"), "b5e1860f0f901f90fa352e189aa3f2cb"),
    (Message("assistant"), "3b502b3128afdb41a43afa381348146c"),
    (Message("assistant", ""), "f7aa8db582325eca96b843539f4bff3c"),
    (
        Message("assistant", None, (ToolCall("call_1", "read", '{"path": "a.py"}'),)),
        "4aa3006358f6945b87e61637db062b87",
    ),
    (Message("tool", "Grüße 🎈", tool_call_id="call_1", name="read"), "4c5ce2e780e9de4495ec0c8d6bed3c87"),
    (Message("user", (TextPart("look"), IMAGE)), "3eb8d3479d5fd3b40be382d01275686b"),
    (Message("user", "a\ud800b"), "6aa15e11415dfb25b4c94020963eed00"),
]
GOLDEN_CHAIN = "88ff09b53ec000d0c8bf0fe0c3cb8ca4"

FULL = Message("assistant", "text", (ToolCall("1", "read", '{"a":1}'),), tool_call_id="0", name="ann")


@pytest.mark.parametrize(("message", "expected"), GOLDEN)
def test_the_digest_of_a_message_never_changes(message, expected):
    assert digest(message) == expected


def test_the_digest_of_nothing_never_changes():
    assert EMPTY_DIGEST == "77fb5b9c93c93fd46fa0c918d8a561b0"


def test_the_digest_of_a_conversation_never_changes():
    assert chain(EMPTY_DIGEST, digest(GOLDEN[0][0])) == "2bd12534acd997f2b38e9b53a15b243d"
    so_far = EMPTY_DIGEST
    for message, _ in GOLDEN:
        so_far = chain(so_far, digest(message))
    assert so_far == GOLDEN_CHAIN


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_digests_are_the_same_in_another_process_with_other_hash_seeds(seed):
    code = (
        "from aaa.messages import Message, ToolCall, digest\n"
        "print(digest(Message('assistant', None, (ToolCall('call_1', 'read', '{\"path\": \"a.py\"}'),))))\n"
        "print(digest(Message('user', 'a\\ud800b')))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.split() == [GOLDEN[3][1], GOLDEN[6][1]]


@pytest.mark.parametrize(
    "changes",
    [
        {"role": "user"},
        {"content": "texT"},
        {"content": None},
        {"content": (TextPart("text"),)},
        {"tool_calls": ()},
        {"tool_calls": (ToolCall("2", "read", '{"a":1}'),)},
        {"tool_calls": (ToolCall("1", "write", '{"a":1}'),)},
        {"tool_calls": (ToolCall("1", "read", '{"a": 1}'),)},
        {"tool_calls": FULL.tool_calls * 2},
        {"tool_call_id": "1"},
        {"tool_call_id": None},
        {"name": "bob"},
        {"name": None},
    ],
    ids=str,
)
def test_the_digest_covers_what_a_provider_sees(changes):
    assert digest(replace(FULL, **changes)) != digest(FULL)


@pytest.mark.parametrize(
    "changes",
    [
        {"pinned": True},
        {"kind": "summary"},
        {"extra": '{"refusal":null}'},
        {"tool_calls": (ToolCall("1", "read", '{"a":1}', '{"index":0}'),)},
    ],
    ids=str,
)
def test_the_digest_does_not_cover_what_is_ours(changes):
    assert replace(FULL, **changes) != FULL
    assert digest(replace(FULL, **changes)) == digest(FULL)


def test_the_digest_does_not_cover_the_extra_of_a_text_part():
    with_mark = TextPart("look", '{"cache_control":{"type":"ephemeral"}}')
    assert digest(Message("user", (with_mark,))) == digest(Message("user", (TextPart("look"),)))


PARTS = [
    (TextPart("a"),),
    (TextPart("b"),),
    (TextPart("a"), TextPart("b")),
    (TextPart("b"), TextPart("a")),
    (TextPart("ab"),),
    (IMAGE,),
    (OpaquePart("image_url", "{}"),),
    (OpaquePart("file", "{}"),),
    (OpaquePart("", "{}"),),
    (OpaquePart("text", "{}"),),
    (TextPart("{}"),),
    (),
]


def test_contents_of_other_parts_have_other_digests():
    assert len({digest(Message("user", parts)) for parts in PARTS}) == len(PARTS)


def test_text_can_not_move_from_one_field_to_another_unnoticed():
    messages = [
        Message("user", "ab"),
        Message("user", "a", name="b"),
        Message("user", "a", tool_call_id="b"),
        Message("user", '["a","b"]'),
        Message("usera", "b"),
    ]
    assert len({digest(message) for message in messages}) == len(messages)


@pytest.mark.parametrize(
    "message",
    [
        Message("user", "\ud800"),
        Message("user", (TextPart("\ud800"), OpaquePart("file", '{"data":"\udfff"}'))),
        Message("assistant", None, (ToolCall("\ud800", "\ud800", "\ud800"),)),
        Message("tool", "x", tool_call_id="\ud800", name="\udfff"),
    ],
)
def test_lone_surrogates_have_a_digest(message):
    assert len(digest(message)) == 32


def test_other_lone_surrogates_have_another_digest():
    assert digest(Message("user", "\ud800")) != digest(Message("user", "\ud801"))


def test_the_digest_of_a_conversation_depends_on_every_message_and_their_order():
    a, b = digest(Message("user", "a")), digest(Message("user", "b"))
    chains = [
        EMPTY_DIGEST,
        chain(EMPTY_DIGEST, a),
        chain(EMPTY_DIGEST, b),
        chain(chain(EMPTY_DIGEST, a), b),
        chain(chain(EMPTY_DIGEST, b), a),
        chain(chain(EMPTY_DIGEST, a), a),
    ]
    assert len(set(chains)) == len(chains)
