"""Digests of messages and of conversations.

    message digest   d(i)   = H(canonical(message i))
    chained digest   h(0)   = EMPTY_DIGEST
                     h(i+1) = H(h(i) ‖ d(i))

`canonical` covers what a provider would see (role, content, calls, call id, name) and nothing else, as JSON text, so
the digest is the same in every process and Python version. Each message is read once; a chained digest costs a hash
of 64 characters. Golden values in the tests pin both.
"""

from hashlib import blake2b
from typing import cast

import msgspec

from aaa.messages.message import Message, TextPart

__all__ = ["EMPTY_DIGEST", "chain", "digest", "escape_surrogates"]

_encode = msgspec.json.Encoder().encode


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


EMPTY_DIGEST = _hash(b"aaa.transcript/1")


def digest(message: Message) -> str:
    """The digest of one message: 32 hexadecimal characters. Cost: O(size of the message)."""
    return _hash(canonical(message))


def chain(previous: str, message_digest: str) -> str:
    """The digest of a conversation that `message_digest` extends; `previous` is that of the part before it."""
    return _hash(f"{previous}{message_digest}".encode())


def canonical(message: Message) -> bytes:
    """What a provider would see of the message, as JSON text."""
    content = message.content
    if content is not None and not isinstance(content, str):
        content = [
            ["", part.text] if isinstance(part, TextPart) else [part.type or None, part.json] for part in content
        ]
    calls = [[call.id, call.name, call.arguments_json] for call in message.tool_calls]
    fields = [message.role, content, calls, message.tool_call_id, message.name]
    try:
        return _encode(fields)
    except UnicodeEncodeError:
        return _encode(escape_surrogates(fields))


def escape_surrogates(value: object) -> object:
    r"""`value` with every lone surrogate in its strings written as \\udXXX text: UTF-8 has no bytes for them."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [escape_surrogates(item) for item in cast("list[object]", value)]
        case dict():
            fields = cast("dict[str, object]", value)
            return {escape_surrogates(key): escape_surrogates(item) for key, item in fields.items()}
        case _:
            return value
