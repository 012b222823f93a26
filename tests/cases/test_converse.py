"""Bedrock's Converse is read as what Anthropic's format says in its place."""

import pytest

from tests.cases.converse import plain_tools, plain_turns
from tests.cases.formats import format_of

CONVERSE, _, _ = format_of({"format": "bedrock"})
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}}


def blocks_of(*blocks):
    return plain_turns([{"role": "user", "content": list(blocks)}])[0]["content"]


@pytest.mark.parametrize(
    ("block", "plain"),
    [
        ({"text": "a"}, {"type": "text", "text": "a"}),
        ({"image": {"format": "png", "source": {"bytes": "iVBOR"}}}, PNG),
        (
            {"document": {"format": "pdf", "name": "n", "source": {"bytes": "JVBE"}}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
                "title": "n",
            },
        ),
        (
            {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b"}}}},
            {"type": "video", "source": {"type": "url", "url": "s3://a/b"}},
        ),
        (
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"type": "thinking", "thinking": "hm", "signature": "s"},
        ),
        ({"reasoningContent": {"redactedContent": "x"}}, {"type": "redacted_thinking", "data": "x"}),
        (
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        ),
        (
            {"toolResult": {"toolUseId": "t", "status": "error", "content": [{"json": {"v": 1}}]}},
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "text", "text": '{"v":1}'}],
                "is_error": True,
            },
        ),
    ],
)
def test_each_block_is_that_of_anthropic(block, plain):
    assert blocks_of(block) == [plain]


def test_a_cache_point_marks_what_stands_before_it():
    assert blocks_of({"cachePoint": {"type": "default"}}, {"text": "a"}, {"cachePoint": {"type": "default"}}) == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    ]


def test_a_content_that_is_a_string_is_one_text():
    assert [message.text for message in CONVERSE.read([{"role": "user", "content": "words"}])] == ["words"]


def test_a_tool_has_its_schema_where_anthropic_wants_it():
    spec = {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}

    assert plain_tools([{"toolSpec": spec}, {"cachePoint": {"type": "default"}}]) == [
        {
            "name": "f",
            "description": "d",
            "input_schema": {"type": "object"},
            "cache_control": {"type": "ephemeral"},
        }
    ]
    assert CONVERSE.request([{"role": "user", "content": [{"text": "a"}]}], [{"toolSpec": spec}]).tools[0].name == "f"


def test_a_block_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="not read here"):
        blocks_of({"hologram": {}})
