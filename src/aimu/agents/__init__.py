"""A small synchronous agent over a conversation that is a plain list of dicts."""

from aimu.agents.agent import Agent
from aimu.agents.errors import TruncatedTurnError
from aimu.agents.model import AgentModelClient
from aimu.agents.protocols import Compaction, EventSink, ModelClient

__all__ = ["Agent", "AgentModelClient", "Compaction", "EventSink", "ModelClient", "TruncatedTurnError"]
