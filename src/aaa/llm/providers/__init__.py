"""The providers: how each official SDK is called, and what its answers and exceptions mean. Nothing here waits.

An SDK is imported when it is first needed.
"""

from aaa.llm.providers.protocol import Connection, Provider
from aaa.llm.providers.registry import PROVIDERS, provider_named, split_model

__all__ = ["PROVIDERS", "Connection", "Provider", "provider_named", "split_model"]
