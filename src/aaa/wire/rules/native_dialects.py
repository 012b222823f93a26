"""The rules of formats of their own: Anthropic's and those who serve Claude, Gemini's, OpenAI's Responses, Ollama's.

The order of a list is that of `chat_dialects`.
"""

import re

from aaa.wire.rules.alphabets import (
    IDS_AT_ALL,
    IDS_OF_ANTHROPIC,
    IDS_OF_BEDROCK,
    IDS_OF_RESPONSES,
    NAMES_OF_GEMINI,
    NAMES_UP_TO_64,
    NAMES_UP_TO_128,
)
from aaa.wire.rules.alternation import Alternation
from aaa.wire.rules.arguments import Arguments
from aaa.wire.rules.asked import Asked
from aaa.wire.rules.bridging import Bridging
from aaa.wire.rules.call_ids import CallIds
from aaa.wire.rules.call_signatures import CallSignatures
from aaa.wire.rules.client_calls import ClientCalls
from aaa.wire.rules.documents import Documents
from aaa.wire.rules.empty import Empty
from aaa.wire.rules.empty_items import EmptyItems
from aaa.wire.rules.ending import Ending
from aaa.wire.rules.last_thought import LastThought
from aaa.wire.rules.layout import CallsLast, ResponsesApart, ResponsesTogether
from aaa.wire.rules.limits import media_count, request_bytes, result_length, tool_count
from aaa.wire.rules.models import is_claude, signs_calls, takes_prefill, takes_system_messages, thinks_bound
from aaa.wire.rules.opening import Opening
from aaa.wire.rules.pairing import Pairing
from aaa.wire.rules.prefill import TrimmedPrefill
from aaa.wire.rules.result_names import ResultNames
from aaa.wire.rules.rows_together import RowsTogether
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.server_tools import ServerTools
from aaa.wire.rules.stand_ins import EMPTY_RESULT
from aaa.wire.rules.system_place import SystemPlace
from aaa.wire.rules.thinking import THINKING, Thinking
from aaa.wire.rules.tool_names import ToolNames
from aaa.wire.rules.tools_named import ToolsNamed

__all__ = ["anthropic", "bedrock", "claude_on_vertex", "gemini", "ollama", "responses"]

Listed = tuple[Rule, ...]

_MB = 1024 * 1024
_SAID = frozenset(("user", "assistant", "tool"))  # Gemini takes an instruction of nothing
_TURNS = frozenset(("system", "developer", "user", "assistant"))  # OpenAI takes a result of nothing
_CONTINUES = ("previous_response_id", "conversation")


def anthropic(asked: Asked) -> Listed:
    """Anthropic's Messages."""
    system = SystemPlace("before_assistant" if takes_system_messages(asked.model) else "nowhere")
    return _messages(asked, system, 32 * _MB)


def claude_on_vertex(asked: Asked) -> Listed:
    """Anthropic's Messages as Vertex serves them."""
    return _messages(asked, SystemPlace(), 30 * _MB)


def bedrock(asked: Asked) -> Listed:
    """Bedrock's Converse. Models other than Claude keep results and words apart."""
    return (
        *_claude(asked, Pairing(), IDS_OF_BEDROCK, NAMES_UP_TO_64),
        Empty(None, result=EMPTY_RESULT),
        SystemPlace(),
        Opening(by_user=True),
        *(() if is_claude(asked.model) else (Bridging(),)),
        Alternation(),
        Documents(),
        _ending(asked),
        *((ToolsNamed(),) if asked.has_no_tools else ()),
        request_bytes(20 * _MB, asked.tools),
    )


def gemini(asked: Asked) -> Listed:
    """Gemini's generateContent, on AI Studio and Vertex."""
    return (
        Arguments(may_be_empty=True),
        ToolNames(NAMES_OF_GEMINI, asked.tools),
        *((ResponsesApart(),) if signs_calls(asked.model) else ()),
        Pairing(in_turn=True),
        ResponsesTogether(),
        IDS_AT_ALL,
        ResultNames(),
        Empty("gemini", _SAID, takes_spaces=True, takes_texts=True),
        SystemPlace(),
        RowsTogether(),
        Opening(by_user=True),
        *((CallSignatures(),) if signs_calls(asked.model) else ()),
        tool_count(128, asked.tools),
        request_bytes(20_971_520, asked.tools),
    )


def responses(asked: Asked) -> Listed:
    """OpenAI's Responses; a request may go on from what OpenAI keeps.

    OpenAI takes any text for arguments; other servers of the format read them.
    """
    may_continue = any(map(asked.params.get, _CONTINUES))
    return (
        Arguments(may_be_empty=False, has_custom=True),
        ToolNames(NAMES_UP_TO_128, asked.tools),
        Pairing(may_continue=may_continue),
        ClientCalls(may_continue),
        IDS_OF_RESPONSES,
        EmptyItems(),
        LastThought("openai-responses", frozenset(("reasoning",)), takes_spaces=True),
        Empty("openai-responses", _TURNS, takes_spaces=True, takes_texts=True),
        Opening(by_user=False),
        tool_count(128, asked.tools),
        result_length(10_485_760),
    )


def ollama(_: Asked) -> Listed:
    """Ollama's own chat: arguments are objects; ids it does not need."""
    return (Arguments(may_be_empty=True), Pairing(), Opening(by_user=False))


def _messages(asked: Asked, system: SystemPlace, largest: int) -> Listed:
    return (
        *_claude(asked, Pairing(in_turn=True), IDS_OF_ANTHROPIC, NAMES_UP_TO_128),
        Empty("anthropic", result=EMPTY_RESULT),
        system,
        Opening(by_user=True),
        _ending(asked),
        media_count(100),
        request_bytes(largest, asked.tools),
    )


def _claude(asked: Asked, pairing: Pairing, ids: CallIds, names: re.Pattern[str]) -> Listed:
    """What is common to all who serve Claude, thinking included."""
    is_bound = thinks_bound(asked.model)
    thinking = Thinking(is_bound, must_lead=asked.thinking == "enabled" and not is_bound)
    head = (Arguments(may_be_empty=True), ToolNames(names, asked.tools), ServerTools(), CallsLast(), pairing, ids)
    return (*head, thinking, LastThought("anthropic", THINKING))


def _ending(asked: Asked) -> Rule:
    return TrimmedPrefill() if takes_prefill(asked.model) else Ending()
