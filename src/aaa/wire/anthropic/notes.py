"""Warnings about what Anthropic's format does not have, or what we do not know of it: each once in a process."""

import logging

from aaa.errors import quoted

__all__ = ["note_once"]

_log = logging.getLogger("aaa.wire")
_noted: set[tuple[str, str]] = set()


def note_once(warning: str, name: str) -> None:
    """Log `warning`, which has a place for `name`, unless it was logged before."""
    if (warning, name) not in _noted:
        _noted.add((warning, name))
        _log.warning(warning, quoted(name))
