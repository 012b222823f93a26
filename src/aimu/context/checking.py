"""Whether a provider would take a conversation, and making it so that it does.

The dicts are read as the clients of `aimu.models` send them: with what a reply of theirs carries under `provenance`,
since some rules are about that.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aaa.messages import Message
from aaa.wire.lossless import native, with_native
from aaa.wire.openai_chat import message_from_dict, message_to_dict
from aimu.context.texts import INERT_KEYS, MessageDict, fields_of, sequence_of

if TYPE_CHECKING:
    from aaa.wire.rules import Violation

__all__ = ["check_messages", "repair_messages"]

_KEPT = tuple(sorted(INERT_KEYS - {"provenance"}))  # which tells of the message as it was
_OURS = "aimu"  # under this key a message says which dict it was, whatever a rule makes of it


def check_messages(messages: Sequence[MessageDict], provider: str, *, model: str | None = None) -> "list[Violation]":
    """What `provider` would refuse in these messages, as data: which rule, what about it, which message.

    Args:
        messages: dicts in OpenAI's chat format, whatever the provider's own is.
        provider: one of `aaa.wire.rules.PROVIDERS`, such as "anthropic".
        model: some rules are those of a generation of models; without it the strictest hold.

    Raises:
        ClientSetupError: an unknown provider.
        WireError: a message that cannot be read, with its index.
    """
    from aaa.wire.rules import rules_for  # many modules, that few programs need
    from aimu.models.dicts import messages_of

    return rules_for(provider, model).violations(messages_of(sequence_of(messages)))


def repair_messages(messages: Sequence[MessageDict], provider: str, *, model: str | None = None) -> list[MessageDict]:
    """The messages as `provider` takes them, changed as little as possible; arguments and errors as `check_messages`.

    What cannot be mended by changing messages (their number, their size) stays, and `check_messages` still finds it.

    Shape: a new list; the caller's own dict wherever nothing was changed.
    """
    from aaa.wire.rules import rules_for
    from aimu.models.dicts import messages_of

    read = [_placed(message, place) for place, message in enumerate(messages_of(sequence_of(messages)))]
    own = {id(message): fields for message, fields in zip(read, messages, strict=True)}
    repaired, _ = rules_for(provider, model).repair(read)
    return [own[id(message)] if id(message) in own else _written(message, messages) for message in repaired]


def _placed(message: Message, place: int) -> Message:
    return replace(message, extra=with_native(message.extra, _OURS, {"place": place}))


def _written(message: Message, given: Sequence[MessageDict]) -> MessageDict:
    """A message that a rule made, with what no provider sees of the one that it was made of."""
    place = native(message.extra, _OURS).get("place")
    fields = _dict_of(replace(message, extra=with_native(message.extra, _OURS, {})))
    original = {} if place is None else fields_of(given[int(place)])
    return fields | {key: original[key] for key in _KEPT if key in original}


def _dict_of(message: Message) -> MessageDict:
    """As it is where OpenAI's format can say it, else as clients keep a reply."""
    from aimu.models.dicts import reply_dict

    fields = message_to_dict(message)
    return fields if message_from_dict(fields) == message else reply_dict(message)
