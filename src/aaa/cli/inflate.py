"""Gzip data that may be damaged: everything before the damage, then what is wrong.

The standard reader loses the block in which it finds the damage, and with it whole conversations.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

__all__ = ["MAGIC", "Inflated"]

MAGIC = b"\x1f\x8b"
_GZIP = 31  # zlib's number for the gzip format with the largest window


class Inflated:
    """The decompressed blocks of `blocks`; once exhausted, `problem` says why they ended early, "" if they did not."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.problem = ""
        self._blocks = blocks

    def __iter__(self) -> Iterator[bytes]:
        member, is_inside = zlib.decompressobj(_GZIP), False
        for block in self._blocks:
            rest = block
            while rest:
                before = member.copy()
                try:
                    yield member.decompress(rest)
                except zlib.error as error:
                    yield _salvaged(before.decompress, rest)
                    self.problem = f"corrupt gzip data: {str(error).rpartition(': ')[2]}"
                    return
                is_inside = not member.eof
                rest = member.unused_data.lstrip(b"\0")  # files may be padded with zeros
                member = zlib.decompressobj(_GZIP) if member.eof else member
        self.problem = "truncated gzip data" if is_inside else ""


def _salvaged(decompress: Callable[[bytes], bytes], block: bytes) -> bytes:
    """What comes before the damage in `block`, found byte by byte."""
    pieces: list[bytes] = []
    with suppress(zlib.error):
        pieces.extend(decompress(block[at : at + 1]) for at in range(len(block)))
    return b"".join(pieces)
