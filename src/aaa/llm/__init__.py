"""Calling models: the handler that applies a context policy, retries as data, a fake for tests and demos.

Knows no algorithm and no tool.
"""

from aaa.llm.fake import FakeLLMClient
from aaa.llm.handler import LLMHandler
from aaa.llm.retry import RetryPolicy

__all__ = ["FakeLLMClient", "LLMHandler", "RetryPolicy"]
