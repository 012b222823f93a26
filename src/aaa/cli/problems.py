"""What is wrong with an input, as data, so that the rest of it still runs."""

from dataclasses import dataclass

__all__ = ["Problem", "printable"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be used: where it is and what is wrong, without the text itself. Lines count from 1."""

    file: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return printable(f"{place}: {self.message}")

    def to_dict(self) -> dict[str, object]:
        """The problem for a JSON document."""
        return {"file": self.file, "line": self.line, "message": self.message}


def printable(text: str) -> str:
    """`text` on one line and without control characters, which names out of a file may hold."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
