"""The lines of one input: a file or standard input, plain or gzipped.

Read in blocks, so that memory holds the line at hand and no more.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from aaa.cli.inflate import MAGIC, Inflated

__all__ = ["STANDARD_INPUT", "Source"]

STANDARD_INPUT = "-"
_BLOCK_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


class Source:
    """One input by name, `-` for standard input.

    `lines` is to be read once. After it, `problem` says why it ended early, "" if it did not; `line` is the number of
    the line read last, `bytes_read` what was taken from the disk.
    """

    def __init__(self, name: str) -> None:
        self.is_standard_input = name == STANDARD_INPUT
        self.is_gzip = False
        self.name = "<stdin>" if self.is_standard_input else name
        self.problem = ""
        self.line = 0
        self.bytes_read = 0
        self._path = Path(name)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Numbers and contents of the lines, without their ends; a line that was cut off by damage is left out."""
        try:
            if self.is_standard_input:
                yield from self._lines(sys.stdin.buffer)
            elif self._path.is_dir():
                self.problem = "is a directory"
            else:
                with self._path.open("rb") as stream:
                    yield from self._lines(stream)
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
            self.problem = (error.strerror if isinstance(error, OSError) else None) or str(error)

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        blocks = self._blocks(stream)
        first = next(blocks, b"")
        inflated = Inflated(_chain(first, blocks))
        self.is_gzip = first.startswith(MAGIC)
        if first and not self.is_gzip and self.name.lower().endswith(".gz"):
            self.problem = "not gzip data"
            return
        for line in _split(inflated if self.is_gzip else _chain(first, blocks), inflated):
            self.line += 1
            yield self.line, line.removeprefix(_BOM) if self.line == 1 else line
        self.problem = inflated.problem

    def _blocks(self, stream: BinaryIO) -> Iterator[bytes]:
        while block := stream.read(_BLOCK_BYTES):
            self.bytes_read += len(block)
            yield block


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _split(blocks: Iterable[bytes], inflated: Inflated) -> Iterator[bytes]:
    pieces: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        pieces.append(first)
        for other in others:
            yield b"".join(pieces)
            pieces = [other]
    if any(pieces) and not inflated.problem:
        yield b"".join(pieces)
