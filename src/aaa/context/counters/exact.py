"""Exact counts for OpenAI-family models, without the network.

toktok-rs (extra `tokens`) carries its vocabularies; where it is missing, tiktoken is used if its vocabulary is
already cached on this machine. Never downloads.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any, cast

from aaa.context.counters.protocol import arguments_text, tools_text
from aaa.messages import Message, ToolSpec

__all__ = ["TiktokenCounter"]

_VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # the key of tiktoken's own cache


class TiktokenCounter:
    """OpenAI's own tokens: text, names and arguments of calls, plus a fixed overhead per message.

    Text that looks like a special token is counted as the ordinary text it is. Other providers' models tokenize
    differently: pair it with `CalibratedCounter` for them.

    Raises:
        ValueError: an encoding that no installed tokenizer has.
        ImportError: neither toktok-rs nor tiktoken with a cached vocabulary is installed; names the extra.
    """

    is_literal = True

    def __init__(self, encoding: str = "o200k_base", per_message: int = 4) -> None:
        if per_message < 0:
            raise ValueError(f"per_message must not be negative, got {per_message}")
        self.encoding = encoding
        self.per_message = per_message
        self._tokens = _text_counter(encoding)

    def count(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        """Tokens of `messages` and `tools` together."""
        return self.count_tools(tools) + sum(map(self.count_message, messages))

    def count_message(self, message: Message) -> int:
        """Tokens of one message, its overhead included."""
        texts = [*message.texts]
        for call in message.tool_calls:
            texts += (call.name, arguments_text(call))
        return self.per_message + sum(self._tokens(text) for text in texts if text)

    def first(self, text: str, max_tokens: int) -> str:
        """The longest beginning of `text` that has at most `max_tokens`; no character is cut in pieces.

        Cost: O(log text) counts.
        """
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._tokens(text[:middle]) <= max_tokens:
                low = middle
            else:
                high = middle - 1
        return text[:low]

    def count_tools(self, tools: Sequence[ToolSpec]) -> int:
        """Tokens of the tool specifications; 0 for none."""
        return self._tokens(tools_text(tools)) if tools else 0


def _text_counter(encoding: str) -> Callable[[str], int]:
    for load in (_toktok, _tiktoken):
        counter = load(encoding)
        if counter is not None:
            return counter
    raise ImportError(
        f"no vocabulary for {encoding!r} at hand: pip install 'aaa-agents[tokens]', "
        "or install tiktoken and let it cache the vocabulary once"
    )


def _toktok(encoding: str) -> Callable[[str], int] | None:
    try:
        from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return None
    try:
        batch_count([""], encoding, threads=1)
    except KeyError as error:
        raise ValueError(f"unknown encoding {encoding!r}: {error.args[0]}") from error

    def count(text: str) -> int:
        return batch_count([_without_surrogates(text)], encoding, threads=1)[0]

    return count


def _tiktoken(encoding: str) -> Callable[[str], int] | None:
    if not _is_cached(encoding):
        return None
    try:
        from tiktoken import get_encoding  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError:
        return None
    encoder = cast("Any", get_encoding(encoding))
    return lambda text: len(encoder.encode_ordinary(_without_surrogates(text)))


def _is_cached(encoding: str) -> bool:
    """Whether tiktoken would find the vocabulary on disk: it names files by the hash of their address.

    The folder is the first variable that is set; set to nothing, it turns the cache off, and tiktoken downloads.
    """
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    return folder != "" and Path(folder, sha1(_VOCABULARIES.format(encoding).encode()).hexdigest()).is_file()


def _without_surrogates(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
