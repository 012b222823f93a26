"""Warnings about what OpenAI's formats have no place for, or what we do not know of them: each once in a process."""

import logging
import re

__all__ = ["warn_once"]

_log = logging.getLogger("aaa.wire")
_NAME = re.compile(r"[\w./+:-]{1,64}")
_warned: set[tuple[str, str]] = set()


def warn_once(warning: str, name: str) -> None:
    """Log `warning`, which has a place for `name`, unless it was logged before; what is no name is not shown."""
    name = name if _NAME.fullmatch(name) else "?"
    if (warning, name) not in _warned:
        _warned.add((warning, name))
        _log.warning(warning, name)
