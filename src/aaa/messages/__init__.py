"""The data of a conversation: messages, tools, requests, replies; knows no provider.

Everything is frozen, compared by value and hashable, so a conversation can be a key, a log entry or a golden file.
"""

from aaa.messages.client import Delta, LLMClient, LLMRequest, LLMResponse, StreamingClient, Usage
from aaa.messages.digest import EMPTY_DIGEST, chain, digest
from aaa.messages.effects import Effects, Handler, Host
from aaa.messages.message import (
    Message,
    OpaquePart,
    Part,
    TextPart,
    ToolCall,
    ToolSpec,
    with_extra_of,
    with_text,
    without_parts,
)
from aaa.messages.pairing import Pairer, Pairing, pair

__all__ = [
    "EMPTY_DIGEST",
    "Delta",
    "Effects",
    "Handler",
    "Host",
    "LLMClient",
    "LLMRequest",
    "LLMResponse",
    "Message",
    "OpaquePart",
    "Pairer",
    "Pairing",
    "Part",
    "StreamingClient",
    "TextPart",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "chain",
    "digest",
    "pair",
    "with_extra_of",
    "with_text",
    "without_parts",
]
