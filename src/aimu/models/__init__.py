"""Models as synchronous clients: `aimu.client("provider:model")` makes one."""

from aaa.errors import ContextOverflowError, RequestTooLarge
from aimu.models.client import BaseModelClient
from aimu.models.connecting import client

__all__ = ["BaseModelClient", "ContextOverflowError", "RequestTooLarge", "client"]
