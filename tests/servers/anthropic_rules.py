"""When Anthropic refuses a conversation: the order of roles, and the pairing of tool calls with their results.

Neighbours of one role are one turn. A result belongs at the beginning of the turn after its call.
"""

from collections.abc import Sequence
from typing import Any

from tests.servers.anthropic_blocks import invalid, text_blocks

__all__ = ["check_conversation"]

_MOST_IMAGES = 100

Place = tuple[int, int, dict[str, Any]]  # a block, with the index of its message and its own


def check_conversation(messages: Sequence[dict[str, Any]], *, takes_prefill: bool, takes_system: bool) -> None:
    if not messages:
        raise invalid("messages: at least one message is required")
    _check_roles(messages, takes_system)
    if messages[0]["role"] != "user":
        raise invalid('messages: first message must use the "user" role')
    _check_pairing(_turns(messages))
    _check_media(messages)
    _check_end(messages[-1], takes_prefill)


def _check_roles(messages: Sequence[dict[str, Any]], takes_system: bool) -> None:
    for index, message in enumerate(messages):
        if message["role"] == "system":
            _check_system(messages, index, takes_system)
        elif message["role"] not in ("user", "assistant"):
            raise invalid(f"messages.{index}.role: Input should be 'user' or 'assistant'")


def _check_system(messages: Sequence[dict[str, Any]], index: int, takes_system: bool) -> None:
    if not takes_system:
        raise invalid(f"messages.{index}: role 'system' is not supported on this model")
    is_last = index == len(messages) - 1
    if not is_last and messages[index + 1]["role"] != "assistant":
        raise invalid(f"messages.{index}: role 'system' must precede an 'assistant' message or end the array")
    if any(block["type"] != "text" for block in text_blocks(messages[index]["content"])):
        raise invalid(f"messages.{index}: role 'system' may only contain text")


def _turns(messages: Sequence[dict[str, Any]]) -> list[tuple[str, list[Place]]]:
    turns: list[tuple[str, list[Place]]] = []
    for index, message in enumerate(messages):
        places = [(index, number, block) for number, block in enumerate(text_blocks(message["content"]))]
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(places)
        else:
            turns.append((message["role"], places))
    return turns


def _check_pairing(turns: Sequence[tuple[str, list[Place]]]) -> None:
    seen: set[str] = set()
    called: list[Place] = []
    for role, places in turns:
        if role != "system":
            _check_results(places, [block["id"] for _, _, block in called])
            _check_answered(called, _leading_results(places))
            called = [place for place in places if place[2]["type"] == "tool_use"]
            _check_unique(called, seen)
    _check_answered(called, [])


def _leading_results(places: Sequence[Place]) -> list[str]:
    """The ids answered at the beginning of a turn, before anything else stands in it."""
    ids: list[str] = []
    for _, _, block in places:
        if block["type"] != "tool_result":
            break
        ids.append(block["tool_use_id"])
    return ids


def _check_results(places: Sequence[Place], called: Sequence[str]) -> None:
    answered: set[str] = set()
    for index, number, block in places:
        if block["type"] != "tool_result":
            continue
        id = block["tool_use_id"]
        if id not in called:
            raise invalid(
                f"messages.{index}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if id in answered:
            raise invalid(
                f"messages.{index}.content.{number}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {id}"
            )
        answered.add(id)


def _check_answered(called: Sequence[Place], answered: Sequence[str]) -> None:
    missing = [place for place in called if place[2]["id"] not in answered]
    if missing:
        listed = ", ".join(block["id"] for _, _, block in missing)
        raise invalid(
            f"messages.{missing[0][0]}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{listed}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )


def _check_unique(called: Sequence[Place], seen: set[str]) -> None:
    for index, number, block in called:
        if block["id"] in seen:
            raise invalid(f"messages.{index}.content.{number}: `tool_use` ids must be unique")
        seen.add(block["id"])


def _check_media(messages: Sequence[dict[str, Any]]) -> None:
    blocks = [block for message in messages for block in text_blocks(message["content"])]
    inner = [part for block in blocks if isinstance(block.get("content"), list) for part in block["content"]]
    images = sum(block.get("type") == "image" for block in [*blocks, *inner])
    if images > _MOST_IMAGES:
        raise invalid(f"Too much media: 0 document pages + {images} images > {_MOST_IMAGES}")


def _check_end(last: dict[str, Any], takes_prefill: bool) -> None:
    if last["role"] != "assistant":
        return
    if not takes_prefill:
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    text = text_blocks(last["content"])[-1].get("text", "")
    if text != text.rstrip():
        raise invalid("messages: final assistant content cannot end with trailing whitespace")
