"""Results that name only their tool, as Ollama's and Gemini's do, when they are read apart from their calls.

    assistant(read-1, read-2)   tool "read"   tool "read"    ──▶    …   tool(read-1)   tool(read-2)

Read together with its call, a result gets the id that was made for that call (`aaa.wire.made_ids`); one that came late
has none. It answers as it would there: the first open call of its name in the latest turn of the assistant that has
one. A call that only a stand-in of ours answers is open.
"""

from collections import defaultdict
from collections.abc import Sequence

from aaa.messages import Message
from aaa.wire.rules.answers import answers
from aaa.wire.rules.stand_ins import MISSING_RESULT

__all__ = ["ids_by_name"]


def ids_by_name(messages: Sequence[Message]) -> dict[int, str]:
    """The id of the call that each result without one answers, by the index of the result. Cost: O(messages)."""
    if not any(map(_has_only_a_name, messages)):
        return {}
    found = answers(messages)
    answered = {place for place, result in found.results.items() if messages[result].content != MISSING_RESULT}
    turns: defaultdict[str, list[list[str]]] = defaultdict(list)  # the open calls of each name, by turn
    begun: dict[str, int] = {}
    ids: dict[int, str] = {}
    turn = 0
    for index, message in enumerate(messages):
        for place, call in enumerate(message.tool_calls):
            if call.id and (index, place) not in answered:
                if begun.get(call.name) != turn:
                    turns[call.name].append([])
                begun[call.name] = turn
                turns[call.name][-1].append(call.id)
        turn += message.role != "assistant"
        if index in found.orphans and _has_only_a_name(message) and (waiting := turns[message.name or ""]):
            ids[index] = waiting[-1].pop(0)
            if not waiting[-1]:
                waiting.pop()
    return ids


def _has_only_a_name(message: Message) -> bool:
    is_real = message.role == "tool" and message.content != MISSING_RESULT
    return is_real and bool(message.name) and not message.tool_call_id
