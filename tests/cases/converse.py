"""Bedrock's Converse as Anthropic's Messages: its blocks differ in their names, and in where a cache point stands.

    {"toolUse": {"toolUseId", …}}   {"reasoningContent": …}   {"text"} {"cachePoint"}
    {"type": "tool_use", "id", …}   {"type": "thinking", …}   {"type": "text", "cache_control"}

Source: the API reference of Converse, ContentBlock, November 2026.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["plain_tools", "plain_turns"]

Fields = dict[str, Any]

_MIME_TYPES = {
    **dict.fromkeys(("csv", "html", "md", "txt"), "text/plain"),
    "pdf": "application/pdf",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_CACHED = {"cache_control": {"type": "ephemeral"}}


def plain_turns(turns: Sequence[Mapping[str, Any]]) -> list[Fields]:
    """The turns of a body, as Anthropic has them; a content that is no list stays for its reader to judge.

    Raises:
        ValueError: a block that is not known.
    """
    return [{**turn, "content": _blocks(turn.get("content"))} for turn in turns]


def plain_tools(tools: Sequence[Mapping[str, Any]]) -> list[Fields]:
    """The tools of a body, as Anthropic has them."""
    return _cached(list(map(_tool, tools)))


def _blocks(content: Any) -> Any:
    return _cached(list(map(_block, content))) if isinstance(content, list) else content


def _cached(blocks: list[Fields]) -> list[Fields]:
    """Each cache point as a key of what stands before it; one that stands first says nothing."""
    made: list[Fields] = []
    for block in blocks:
        if "cachePoint" not in block:
            made.append(block)
        elif made:
            made[-1] |= _CACHED
    return made


def _tool(tool: Mapping[str, Any]) -> Fields:
    match tool:
        case {"toolSpec": spec}:
            schema = spec.get("inputSchema", {}).get("json", {"type": "object"})
            kept = {key: spec[key] for key in ("name", "description", "strict") if key in spec}
            return {**kept, "input_schema": schema}
    return dict(tool)


def _block(block: Mapping[str, Any]) -> Fields:
    match block:
        case {"type": str()} | {"cachePoint": _}:
            return dict(block)
        case {"text": text} | {"guardContent": {"text": {"text": text}}}:
            return {"type": "text", "text": text}
        case {"json": value}:
            return {"type": "text", "text": json.dumps(value, ensure_ascii=False, separators=(",", ":"))}
        case {"citationsContent": {"content": [*said]}}:
            return {"type": "text", "text": "".join(part.get("text", "") for part in said)}
        case {"toolUse": use}:
            return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use.get("input", {})}
        case {"toolResult": result}:
            return _result(result)
        case {"reasoningContent": thought}:
            return _thought(thought)
        case {"image": media} | {"document": media} | {"video": media}:
            return _media(next(iter(block)), media)
    raise ValueError(f"a block of Converse that is not read here: {sorted(block)}")


def _result(result: Mapping[str, Any]) -> Fields:
    failed = {"is_error": True} if result.get("status") == "error" else {}
    content = _blocks(result.get("content", []))
    return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content} | failed


def _thought(thought: Mapping[str, Any]) -> Fields:
    if "redactedContent" in thought:
        return {"type": "redacted_thinking", "data": thought["redactedContent"]}
    said = thought["reasoningText"]
    signature = {"signature": said["signature"]} if "signature" in said else {}
    return {"type": "thinking", "thinking": said["text"], **signature}


def _media(kind: str, media: Mapping[str, Any]) -> Fields:
    title = {"title": media["name"]} if "name" in media else {}
    return {"type": kind, "source": _source(kind, media.get("format", ""), media["source"]), **title}


def _source(kind: str, name: str, source: Mapping[str, Any]) -> Fields:
    match source:
        case {"bytes": data}:
            mime_type = _MIME_TYPES.get(name, "text/plain") if kind == "document" else f"{kind}/{name}"
            return {"type": "base64", "media_type": mime_type, "data": data}
        case {"s3Location": {"uri": uri}}:
            return {"type": "url", "url": uri}
        case {"text": text}:
            return {"type": "text", "media_type": "text/plain", "data": text}
        case {"content": content}:
            return {"type": "content", "content": _blocks(content)}
    raise ValueError(f"a source of Converse that is not read here: {sorted(source)}")
