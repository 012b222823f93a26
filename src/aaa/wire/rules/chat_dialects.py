"""The rules of those who speak OpenAI's chat format, each with an accent.

The order of a list is the order of mending: what is read before what is moved, pairing before ids (a call and its
result are renamed together), content before places, the beginning before rows are merged, the end last.
"""

import re

from aaa.wire.rules.alphabets import IDS_AT_ALL, IDS_OF_MISTRAL, IDS_UP_TO_40, NAMES_OF_COHERE, NAMES_UP_TO_64
from aaa.wire.rules.alternation import Alternation
from aaa.wire.rules.arguments import Arguments
from aaa.wire.rules.asked import Asked
from aaa.wire.rules.bridging import Bridging
from aaa.wire.rules.call_ids import CallIds
from aaa.wire.rules.empty import Empty
from aaa.wire.rules.ending import Ending
from aaa.wire.rules.limits import call_count, tool_count
from aaa.wire.rules.models import is_mistral, splits_calls
from aaa.wire.rules.no_content import NoContent
from aaa.wire.rules.one_system import OneSystem
from aaa.wire.rules.opening import Opening
from aaa.wire.rules.pairing import Pairing
from aaa.wire.rules.prefill import OnePrefill
from aaa.wire.rules.reasoning_content import ReasoningContent
from aaa.wire.rules.result_media import ResultMedia
from aaa.wire.rules.rule import Rule
from aaa.wire.rules.split_calls import SplitCalls
from aaa.wire.rules.stand_ins import EMPTY_RESULT
from aaa.wire.rules.system_place import SystemPlace
from aaa.wire.rules.system_role import SystemRole
from aaa.wire.rules.tool_names import ToolNames

__all__ = [
    "chat",
    "cohere",
    "compatible",
    "deepseek",
    "llama_server",
    "mistral",
    "moonshot",
    "openai",
    "perplexity",
    "strict_template",
    "vllm",
]

Listed = tuple[Rule, ...]

_ASSISTANT = frozenset(("assistant",))
_SILENT_MOONSHOTS = re.compile(r"moonshot-v1|kimi-k2-(?!thinking)|kimi-latest")


def openai(asked: Asked) -> Listed:
    """OpenAI itself."""
    limits = (tool_count(128, asked.tools), call_count(128))
    return (*_chat(asked, IDS_UP_TO_40), *limits)


def compatible(asked: Asked) -> Listed:
    """Servers that make ids of any length themselves, and know no developer."""
    return (SystemRole(), *_chat(asked, IDS_AT_ALL))


def vllm(asked: Asked) -> Listed:
    """Servers that read arguments before they hand them to a template."""
    return (Arguments(may_be_empty=False), *compatible(asked))


def chat(asked: Asked) -> Listed:
    """Any server that speaks the format, of which nothing more is known: what one of them refuses is avoided."""
    silent = Empty("", result=EMPTY_RESULT)
    return (Arguments(may_be_empty=False), SystemRole(), *_chat(asked, IDS_UP_TO_40, silent))


def deepseek(asked: Asked) -> Listed:
    """DeepSeek, which thinks unless told otherwise; only the model "deepseek-chat" never does."""
    thinks = asked.model != "deepseek-chat" and asked.thinking != "disabled"
    return (*compatible(asked), *((ReasoningContent(), Ending(takes_prefix=True)) if thinks else ()))


def moonshot(asked: Asked) -> Listed:
    """Moonshot, whose models before Kimi K2.5 think only if they are named for it."""
    thinks = asked.thinking != "disabled" and not _SILENT_MOONSHOTS.match(asked.model or "")
    return (*compatible(asked), *((ReasoningContent(of_calls=True),) if thinks else ()))


def mistral(asked: Asked) -> Listed:
    """Mistral, strict about who follows whom."""
    return (
        SystemRole(),
        Arguments(may_be_empty=False),
        ToolNames(NAMES_UP_TO_64, asked.tools),
        Pairing(),
        IDS_OF_MISTRAL,
        ResultMedia(all_formats=True),
        Empty("", _ASSISTANT, takes_spaces=True, takes_texts=True),
        NoContent(takes_empty_lists=True),
        *((SplitCalls(),) if splits_calls(asked.model) else ()),
        SystemPlace("behind_user"),
        Opening(by_user=False),
        Bridging(),
        Ending(takes_prefix=True),
    )


def cohere(asked: Asked) -> Listed:
    """Cohere's second version."""
    return (
        SystemRole(),
        Arguments(may_be_empty=False),
        ToolNames(NAMES_OF_COHERE, asked.tools),
        Pairing(),
        IDS_AT_ALL,
        ResultMedia(),
        Empty("", _ASSISTANT, takes_spaces=True, takes_texts=True),
        NoContent(),
        Opening(by_user=False),
    )


def perplexity(asked: Asked) -> Listed:
    """Perplexity: instructions first, turn and turn about, the user last."""
    return (*_alternating(asked), Ending())


def strict_template(asked: Asked) -> Listed:
    """A chat template that raises where roles do not alternate, behind any server.

    Many leave calls and results out when they check it, so that the user may not speak right behind them. It takes one
    instruction.
    """
    return (Arguments(may_be_empty=False), *_alternating(asked, OneSystem(), Bridging()))


def llama_server(asked: Asked) -> Listed:
    """llama.cpp's server: lenient, but for arguments, and for what it takes to be half an answer."""
    return (SystemRole(), Arguments(may_be_empty=False), Pairing(), Opening(by_user=False), OnePrefill())


def _chat(asked: Asked, ids: CallIds, *more: Rule) -> Listed:
    """What all have in common. Models of Mistral's bring one of its rules along, wherever they run."""
    is_strict = is_mistral(asked.model)
    names = ToolNames(NAMES_UP_TO_64, asked.tools)
    bridging = (Bridging(),) if is_strict else ()
    return (
        names,
        Pairing(),
        ids,
        ResultMedia(all_formats=is_strict),
        NoContent(),
        *more,
        Opening(by_user=False),
        *bridging,
    )


def _alternating(asked: Asked, *more: Rule) -> Listed:
    """Instructions first, then user and assistant in turn."""
    names, places = ToolNames(NAMES_UP_TO_64, asked.tools), (SystemPlace(), Opening(by_user=True), *more, Alternation())
    return (SystemRole(), names, Pairing(), IDS_AT_ALL, ResultMedia(all_formats=True), NoContent(), *places)
