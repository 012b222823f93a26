"""The output items of a response, and the events in which they are streamed.

response.created, response.in_progress
  for each item: output_item.added, what is in it piece by piece, output_item.done
response.completed | response.incomplete | response.failed | error
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.servers.replies import Reply
from tests.servers.transport import dumped, new_id
from tests.servers.turn import arguments_of, pieces_of

__all__ = ["item_events", "named_frames", "output_items"]

_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "reasoning": {"summary": []},
    "image_generation_call": {"result": None},
}


def output_items(reply: Reply, *, has_summary: bool) -> list[dict[str, Any]]:
    """What the model said, as items; the encrypted content of reasoning is the server's to add."""
    items: list[dict[str, Any]] = []
    if reply.thinking is not None:
        summary = [{"type": "summary_text", "text": reply.thinking}] if has_summary and reply.thinking else []
        items.append({"id": new_id("rs_", 48), "type": "reasoning", "summary": summary})
    if reply.image is not None:
        result = base64.b64encode(reply.image).decode()
        items.append(
            {"id": new_id("ig_", 48), "type": "image_generation_call", "status": "completed", "result": result}
        )
    if reply.text or reply.refusal or not (reply.calls or reply.image):
        items.append(_message(reply))
    items += [_call(reply, number) for number in range(len(reply.calls))]
    return items


def _message(reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.refusal is not None:
        content = [{"type": "refusal", "refusal": reply.refusal}]
    elif reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}]
    status = "incomplete" if reply.is_cut and not reply.calls else "completed"
    return {"id": new_id("msg_", 48), "type": "message", "status": status, "role": "assistant", "content": content}


def _call(reply: Reply, number: int) -> dict[str, Any]:
    call = reply.calls[number]
    is_cut = reply.is_cut and number == len(reply.calls) - 1
    return {
        "id": new_id("fc_", 48),
        "type": "function_call",
        "status": "incomplete" if is_cut else "completed",
        "arguments": arguments_of(call, is_cut),
        "call_id": call.id or new_id("call_"),
        "name": call.name,
    }


def item_events(index: int, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of one item, without their sequence numbers."""
    started = {**item, **_EMPTY[item["type"]]} | ({"status": "in_progress"} if "status" in item else {})
    yield {"type": "response.output_item.added", "output_index": index, "item": started}
    where = {"item_id": item["id"], "output_index": index}
    yield from ({**event, **where} for event in _inner_events(item))
    yield {"type": "response.output_item.done", "output_index": index, "item": dict(item)}


def _inner_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    match item["type"]:
        case "message":
            for number, part in enumerate(item["content"]):
                yield from ({**event, "content_index": number} for event in _part_events(part))
        case "reasoning":
            for number, part in enumerate(item["summary"]):
                yield from ({**event, "summary_index": number} for event in _summary_events(part))
        case "function_call":
            for piece in pieces_of(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {
                "type": "response.function_call_arguments.done",
                "arguments": item["arguments"],
                "name": item["name"],
            }
        case _:
            yield {"type": "response.image_generation_call.in_progress"}
            yield {"type": "response.image_generation_call.completed"}


def _part_events(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = "response.refusal" if key == "refusal" else "response.output_text"
    yield {"type": "response.content_part.added", "part": {**part, key: ""}}
    yield from ({"type": f"{name}.delta", "delta": piece, "logprobs": []} for piece in pieces_of(part[key]))
    yield {"type": f"{name}.done", key: part[key], "logprobs": []}
    yield {"type": "response.content_part.done", "part": dict(part)}


def _summary_events(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}}
    for piece in pieces_of(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", "part": dict(part)}


def named_frames(events: Sequence[Mapping[str, Any]], first_number: int = 0) -> list[bytes]:
    """Server-sent events with the name of each beside its data."""
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events, first_number)]
    return [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), dumped(event)) for event in numbered]
