"""Conversations with everything that rules look at: thinking, reasoning, signatures, documents, marks, empty things."""

from hypothesis import strategies as st

from aaa.messages import Message, OpaquePart, TextPart, ToolCall
from aaa.wire.rules import CONTINUE, MISSING_RESULT
from tests.servers.openai_responses_items import encrypted
from tests.servers.signing import Signer

__all__ = [
    "ALPHABET",
    "DOCUMENT",
    "EMPTY_ITEM",
    "IMAGE",
    "PATCH",
    "REASONING",
    "SHELL",
    "SHELL_OUTPUT",
    "THINKING",
    "call",
    "histories",
    "result",
]

THINKING = OpaquePart("thinking", '{"type":"thinking","thinking":"hm","signature":"c2ln"}', "anthropic")
UNSIGNED = OpaquePart("thinking", '{"type":"thinking","thinking":"hm"}', "anthropic")
REDACTED = OpaquePart("redacted_thinking", '{"type":"redacted_thinking","data":"c2ln"}', "anthropic")
SEALED = encrypted(Signer("org-test"), "rs_1")
REASONING = OpaquePart(
    "reasoning", f'{{"type":"reasoning","summary":[],"encrypted_content":"{SEALED}"}}', "openai-responses"
)
SHELL, PATCH = (
    OpaquePart(kind, f'{{"type":"{kind}","call_id":"{call_id}"}}', "openai-responses")
    for kind, call_id in (("shell_call", "s"), ("apply_patch_call", "p"))
)
SHELL_OUTPUT = OpaquePart(
    "shell_call_output", '{"type":"shell_call_output","call_id":"s","output":[]}', "openai-responses"
)
EMPTY_ITEM = OpaquePart("message", '{"type":"message","role":"assistant","content":[]}', "openai-responses")
IMAGE = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}')
FOREIGN_IMAGE = OpaquePart(
    "image",
    '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}',
    "anthropic",
)
DOCUMENT = OpaquePart(
    "file", '{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}}'
)
SIGNED_CALL = '{"aaa:gemini":{"part":{"thoughtSignature":"c2ln"}}}'
COMPATIBLE_CALL = '{"extra_content":{"google":{"thought_signature":"c2ln"}}}'


def call(*ids: str, content: str | tuple[TextPart | OpaquePart, ...] | None = None, **fields: str) -> Message:
    """The assistant calls a tool under each of these ids."""
    name, arguments, extra = fields.get("name", "read"), fields.get("arguments", "{}"), fields.get("extra", "")
    return Message("assistant", content, tuple(ToolCall(call_id, name, arguments, extra) for call_id in ids))


def result(call_id: str | None, content: str | tuple[TextPart | OpaquePart, ...] | None = "r") -> Message:
    """What a call gave."""
    return Message("tool", content, tool_call_id=call_id)


ALPHABET = (
    Message("system", "be brief"),
    Message("system", ""),
    Message("developer", (TextPart("d"), FOREIGN_IMAGE)),
    Message("user", "u"),
    Message("user", CONTINUE),
    Message("user", " \n"),
    Message("user", ()),
    Message("user"),
    Message("user", (TextPart(""), TextPart("two"), IMAGE)),
    Message("user", (DOCUMENT,)),
    Message("assistant", "a "),
    Message("assistant", ""),
    Message("assistant"),
    Message("assistant", (THINKING,)),
    Message("assistant", (REASONING,)),
    Message("assistant", (THINKING, TextPart("t"), TextPart(""), UNSIGNED, REASONING)),
    Message("assistant", (REASONING, SHELL)),
    Message("assistant", (SHELL_OUTPUT, EMPTY_ITEM)),
    Message("assistant", (REASONING, TextPart(""), SHELL, PATCH, SHELL_OUTPUT, REASONING), call("z").tool_calls),
    Message("assistant", "p", extra='{"prefix":true}'),
    Message("assistant", None, extra='{"refusal":"no"}'),
    Message("assistant", "said", extra='{"reasoning_content":"r"}'),
    call("a"),
    call("a", content="both"),
    call("a", "a", content=(THINKING,)),
    call("a", "b", content=(REASONING,), extra=SIGNED_CALL),
    call("b", content=(REDACTED, TextPart("x")), extra=COMPATIBLE_CALL),
    call("", arguments="not json {"),
    call("x" * 70, name="поиск", arguments=""),
    call("a b~2", name="1read", arguments="[1]"),
    result("a"),
    result("a", (IMAGE, TextPart("seen"))),
    result("b", (FOREIGN_IMAGE,)),
    result("b", ""),
    result("a", "  "),
    result("a", MISSING_RESULT),
    result("", None),
    result(None, ()),
    result("x" * 70),
    result("a b~2"),
    Message("tool", "named", tool_call_id="b", name=""),
    Message("tool", "named", name="read"),
)


def histories(max_size: int = 12) -> st.SearchStrategy[list[Message]]:
    """Any of these in any order, mostly senseless."""
    return st.lists(st.sampled_from(ALPHABET), max_size=max_size)
