"""Calling models: clients of every provider, the handler that applies a context policy, retries as data, a fake.

Knows no algorithm and no tool.
"""

from aaa.llm.client import ModelClient, client
from aaa.llm.fake import FakeLLMClient
from aaa.llm.handler import LLMHandler
from aaa.llm.retry import RetryPolicy
from aaa.llm.windows import WindowOf, window_of

__all__ = ["FakeLLMClient", "LLMHandler", "ModelClient", "RetryPolicy", "WindowOf", "client", "window_of"]
