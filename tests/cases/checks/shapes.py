"""Checks on roles, calls and results, as they are sent."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from aaa.context.summaries import is_summary
from aaa.messages import Message, OpaquePart
from aaa.wire.media import media_of
from tests.cases.checks.pieces import amount, blocks_of, briefly, names_of, pieces
from tests.cases.checks.registry import check
from tests.cases.found import Found

Expected = Mapping[str, Any]
Turn = Mapping[str, Any]


def _roles(found: Found) -> list[str]:
    """Roles as they are sent: a result of Anthropic's or Gemini's is a turn of the user; a system apart is first."""
    if "first_request" in found.facts:
        return names_of(found.facts["first_request"].messages)
    roles = [turn.get("role", "item") for turn in found.turns]
    return ["model" if role == "model" else role for role in roles]


@check("first_role")
def first_role(found: Found, expected: Expected) -> str | None:
    roles = _roles(found)
    return None if roles and roles[0] == expected["role"] else f"roles are {briefly(roles)}"


@check("last_role")
def last_role(found: Found, expected: Expected) -> str | None:
    roles = _roles(found)
    allowed = (expected["role"], "tool") if expected["role"] == "user" else (expected["role"],)
    return None if roles and roles[-1] in allowed else f"roles are {briefly(roles)}"


@check("role_count")
def role_count(found: Found, expected: Expected) -> str | None:
    return amount(_roles(found).count(expected["role"]), expected, "messages of that role")


@check("role_positions")
def role_positions(found: Found, expected: Expected) -> str | None:
    places = [index for index, role in enumerate(_roles(found)) if role == expected["role"]]
    return None if places == expected["equals"] else f"at {places}"


@check("no_sequence")
def no_sequence(found: Found, expected: Expected) -> str | None:
    roles, wanted = _roles(found), expected["roles"]
    rows = [roles[index : index + len(wanted)] for index in range(len(roles))]
    return f"roles are {briefly(roles)}" if wanted in rows else None


@check("alternates")
def alternates(found: Found, expected: Expected) -> str | None:
    ignored = expected.get("ignoring", ())
    left = [
        turn["role"]
        for turn in found.turns
        if turn["role"] not in ignored
        and not ("assistant_with_calls" in ignored and turn.get("tool_calls"))
        and turn["role"] != "system"
    ]
    rows = [a for a, b in pairwise(left) if a == b]
    return f"roles are {briefly(left)}" if rows else None


@check("no_leading_tool_result", "no_leading_function_response")
def no_leading_result(found: Found, expected: Expected) -> str | None:
    first = json.dumps(found.turns[0])
    return "the first turn holds a result" if "tool_result" in first or "functionResponse" in first else None


@check("pure_response_turn")
def pure_response_turn(found: Found, expected: Expected) -> str | None:
    for index, turn in enumerate(found.turns):
        kinds = {"functionResponse" in part for part in turn["parts"]}
        if len(kinds) > 1:
            return f"turn {index} mixes responses with something else"
    return None


@check("unique_ids")
def unique_ids(found: Found, expected: Expected) -> str | None:
    ids = _call_ids(found.prompt)
    return None if len(ids) == len(set(ids)) else f"ids are {ids}"


@check("call_ids")
def call_ids(found: Found, expected: Expected) -> str | None:
    ids = _call_ids(found.prompt)
    return None if ids == expected["equals"] else f"ids are {ids}"


@check("id_length")
def id_length(found: Found, expected: Expected) -> str | None:
    longest = max(map(len, _call_ids(found.prompt)))
    return None if longest <= expected["at_most"] else f"an id of {longest}"


@check("id_pattern")
def id_pattern(found: Found, expected: Expected) -> str | None:
    wrong = [call_id for call_id in _call_ids(found.prompt) if not re.search(expected["pattern"], call_id)]
    return f"{wrong[0]!r} does not match" if wrong else None


@check("keeps_call")
def keeps_call(found: Found, expected: Expected) -> str | None:
    return None if expected["id"] in _call_ids(found.prompt) else "the call is gone"


@check("count_calls")
def count_calls(found: Found, expected: Expected) -> str | None:
    return amount(len(_call_ids(found.prompt)), expected, "calls")


@check("result_count")
def result_count(found: Found, expected: Expected) -> str | None:
    results = [message for message in found.prompt if message.role == "tool"]
    if problem := amount(len(results), expected, "results"):
        return problem
    return None if all(message.text.strip() for message in results) else "a result is empty"


def _call_ids(messages: Iterable[Message]) -> list[str]:
    return [call.id for message in messages for call in message.tool_calls]


@check("count_messages")
def count_messages(found: Found, expected: Expected) -> str | None:
    return amount(len(found.turns), expected, "messages")


@check("summary_count")
def summary_count(found: Found, expected: Expected) -> str | None:
    if "states" in found.facts:
        counts = [sum("<record" in text for text in texts) for texts in found.facts["states"].values()]
        count = max(counts)
    else:
        count = sum(map(is_summary, found.prompt))
    return amount(count, expected, "summaries")


@check("not_empty")
def not_empty(found: Found, expected: Expected) -> str | None:
    if found.error is not None:
        return None
    return None if found.turns else "nothing is sent"


@check("no_empty")
def no_empty(found: Found, expected: Expected) -> str | None:
    for index, turn in enumerate(found.turns):
        if _says_nothing(turn):
            return f"message {index} ({turn.get('role')}) is empty"
        for block in turn.get("content") if isinstance(turn.get("content"), list) else ():
            if block.get("type") == "text" and not (block["text"] or "").strip():
                return f"message {index} has an empty text"
            if block.get("type") == "tool_result" and not json.dumps(block.get("content") or "").strip('"[]'):
                return f"message {index} has an empty result"
    return None


def _says_nothing(turn: Turn) -> bool:
    if "parts" in turn:
        return not turn["parts"]
    if turn.get("tool_calls") or turn.get("refusal") or turn.get("type", "message") != "message":
        return False
    content = turn.get("content")
    if isinstance(content, list):
        return not any((block.get("text", "x") or "").strip() for block in content)
    return not (content or "").strip()


@check("no_field")
def no_field(found: Found, expected: Expected) -> str | None:
    return "the field is sent" if _has_key(found.format.body(found.prompt), expected["field"]) else None


def _has_key(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return key in value or any(_has_key(item, key) for item in value.values())
    return isinstance(value, list) and any(_has_key(item, key) for item in value)


@check("same_message")
def same_message(found: Found, expected: Expected) -> str | None:
    for turn in found.turns:
        kinds = [block["type"] for block in blocks_of(turn)]
        if "server_tool_use" in kinds:
            return None if any(kind.endswith("_tool_result") for kind in kinds) else "its result is elsewhere"
    return None


@check("tool_use_last")
def tool_use_last(found: Found, expected: Expected) -> str | None:
    for index, turn in enumerate(found.turns):
        kinds = [block["type"] == "tool_use" for block in blocks_of(turn)] if turn["role"] == "assistant" else []
        if kinds != sorted(kinds):
            return f"message {index}: something follows a tool_use"
    return None


@check("idempotent")
def idempotent(found: Found, expected: Expected) -> str | None:
    again = found.again() if callable(found.again) else found.again
    return None if list(again or ()) == list(found.prompt) else "a second time changes something"


@check("deterministic")
def deterministic(found: Found, expected: Expected) -> str | None:
    twice = found.facts["twice"]
    same = list(twice() if callable(twice) else twice) == list(found.prompt)
    return None if same else "another result for the same conversation"


@check("unchanged")
def unchanged(found: Found, expected: Expected) -> str | None:
    given, sent = found.given_format.as_sent(found.case["messages"]), found.turns
    if given == sent:
        return None
    first = next((i for i, (a, b) in enumerate(zip(given, sent, strict=False)) if a != b), min(len(given), len(sent)))
    return f"{len(given)} messages became {len(sent)}; first at {first}"


@check("input_untouched")
def input_untouched(found: Found, expected: Expected) -> str | None:
    return None if list(found.before) == found.facts["untouched"] else "the caller's list was changed"


@check("same_shape")
def same_shape(found: Found, expected: Expected) -> str | None:
    shapes = [[isinstance(m.content, tuple) for m in messages] for messages in (found.before, found.prompt)]
    return None if shapes[0] == shapes[1] else "a content changed its shape"


@check("thinking_verbatim")
def thinking_verbatim(found: Found, expected: Expected) -> str | None:
    before, after = (_last_thoughts(found.format.turns(messages)) for messages in (found.before, found.prompt))
    return None if before == after else f"the last message's thoughts are {briefly(after)}"


def _last_thoughts(turns: Sequence[Turn]) -> list[Any]:
    last = [turn for turn in turns if turn["role"] == "assistant"][-1]
    return [block for block in blocks_of(last) if "thinking" in block["type"]]


@check("no_blocks")
def noblocks_of(found: Found, expected: Expected) -> str | None:
    turns = [turn for turn in found.turns if turn["role"] == "assistant"]
    if expected.get("before_last_assistant"):
        turns = turns[:-1]
    kinds = {block["type"] for turn in turns for block in blocks_of(turn)}
    left = sorted(kinds & set(expected["types"]))
    return f"there are {left}" if left else None


@check("thinking_first")
def thinking_first(found: Found, expected: Expected) -> str | None:
    for index, turn in enumerate(found.turns):
        kinds = [block["type"] for block in blocks_of(turn)] if turn["role"] == "assistant" else []
        if "tool_use" in kinds and "thinking" not in kinds[0]:
            return f"message {index} begins with {kinds[0]}"
    return None


@check("reasoning_paired")
def reasoning_paired(found: Found, expected: Expected) -> str | None:
    items = found.turns
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else {"role": "user"}
        if item.get("type") == "reasoning" and following.get("role") in ("user", "system", "developer"):
            return f"item {index} has no follower"
    return None


@check("valid_json_args")
def valid_json_args(found: Found, expected: Expected) -> str | None:
    for arguments in _arguments_sent(found.turns):
        try:
            value = json.loads(arguments) if isinstance(arguments, str) else arguments
        except ValueError:
            return "arguments do not parse"
        if not isinstance(value, dict):
            return "arguments are no object"
    return None


def _arguments_sent(turns: Iterable[Turn]) -> Iterable[Any]:
    """The arguments of each call as they are sent: a text in OpenAI's formats, an object in the others."""
    for turn in turns:
        yield from (call["function"].get("arguments", {}) for call in turn.get("tool_calls") or ())
        yield from (part["functionCall"].get("args", {}) for part in turn.get("parts", ()) if "functionCall" in part)
        yield from (block["input"] for block in turn.get("content") or () if "input" in block)
        if turn.get("type") == "function_call":
            yield turn["arguments"]


def _arguments(found: Found) -> list[dict[str, Any]]:
    return [call.arguments for message in found.prompt for call in message.tool_calls]


@check("arg_equals")
def arg_equals(found: Found, expected: Expected) -> str | None:
    value: Any = _arguments(found)[0]
    for key in expected["path"].split("."):
        value = value[int(key)] if isinstance(value, list) else value.get(key)
    return None if value == expected["value"] else f"it is {briefly(value)}"


@check("arg_marker")
def arg_marker(found: Found, expected: Expected) -> str | None:
    text = json.dumps(_arguments(found))
    return None if "cut" in text or "left out" in text else "nothing says that it was shortened"


@check("arg_size_at_most")
def arg_size_at_most(found: Found, expected: Expected) -> str | None:
    size = max(len(call.arguments_json) for message in found.prompt for call in message.tool_calls)
    return None if size <= expected["value"] else f"{size} characters"


@check("newest_images_kept")
def newest_images_kept(found: Found, expected: Expected) -> str | None:
    shown = {
        next(iter(message.texts), "") for message in found.before[1:] if _has_image(message)
    }  # the task keeps its own
    kept = [_has_image(message) for message in found.prompt[1:] if next(iter(message.texts), "") in shown]
    if not kept or not kept[-1]:
        return "the newest picture is gone"
    return None if kept == sorted(kept) else "an older picture stays where a newer one went"


def _has_image(message: Message) -> bool:
    parts = message.content if isinstance(message.content, tuple) else ()
    media = (media_of(part) for part in parts if isinstance(part, OpaquePart))
    return any(one is not None and one.kind == "image" for one in media)


@check("request_has_image")
def request_has_image(found: Found, expected: Expected) -> str | None:
    messages = found.requests[expected["n"] - 1].messages if found.requests else found.prompt
    return None if any(map(_has_image, messages)) else "there is none"


@check("progress")
def progress(found: Found, expected: Expected) -> str | None:
    return None if any(map(is_summary, found.prompt)) else f"nothing was summarised: {len(pieces(found.prompt))} texts"


@check("fair")
def fair(found: Found, expected: Expected) -> str | None:
    lengths = [len(message.text) for message in found.prompt if message.role == "tool"]
    return None if min(lengths) * 4 >= max(lengths) else f"lengths are {lengths}"
