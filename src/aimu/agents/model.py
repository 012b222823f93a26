"""An agent seen as a model: what takes a client can be given a whole agent."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Protocol

from aimu.agents.protocols import ModelClient
from aimu.agents.tasks import is_instruction
from aimu.context.texts import MessageDict

__all__ = ["AgentModelClient"]


class _Agent(Protocol):
    model_client: ModelClient

    def go_on(self, messages: list[MessageDict]) -> str:
        """Answer the question at the end of `messages`, which become the conversation."""
        ...


class AgentModelClient:
    """Answers by whole runs of `agent`, tools and compaction included; the conversation is the agent's own."""

    def __init__(self, agent: _Agent) -> None:
        self._agent = agent

    @property
    def messages(self) -> list[MessageDict]:
        """The agent's conversation."""
        return self._agent.model_client.messages

    @messages.setter
    def messages(self, messages: list[MessageDict]) -> None:
        self._agent.model_client.messages = messages

    @property
    def system(self) -> str | None:
        """The agent's instructions."""
        return self._agent.model_client.system

    @system.setter
    def system(self, system: str | None) -> None:
        self._agent.model_client.system = system

    @property
    def generate_kwargs(self) -> dict[str, Any]:
        """What goes with every request of the agent's model."""
        return self._agent.model_client.generate_kwargs

    @generate_kwargs.setter
    def generate_kwargs(self, generate_kwargs: dict[str, Any]) -> None:
        self._agent.model_client.generate_kwargs = generate_kwargs

    @property
    def last_usage(self) -> Any:
        """The usage of the last call of the agent's model, not of the whole run."""
        return self._agent.model_client.last_usage

    @property
    def last_finish_reason(self) -> str | None:
        """Why the last reply of the agent's model ended."""
        return self._agent.model_client.last_finish_reason

    def chat(self, user_message: str | None = None, *, tools: Sequence[Any] = ()) -> MessageDict:
        """Let the agent answer in its conversation; all that it did for it is appended, its last reply is returned.

        Raises:
            ValueError: tools were given, but an agent runs its own.
            AaaError: as of `Agent.run`; `messages` is as before the call.
        """
        if tools:
            raise ValueError(f"an agent runs its own tools; it cannot be lent {len(tools)} more")
        before = self.messages
        asked = () if user_message is None else ({"role": "user", "content": user_message},)
        try:
            self._agent.go_on([*before, *asked])
        except BaseException:
            self.messages = before
            raise
        return self.messages[-1]

    def generate(self, prompt: str) -> str:
        """The agent's answer to `prompt` alone, under its instructions; `messages` takes no part in it."""
        before = self.messages
        head = takewhile(is_instruction, before)
        try:
            return self._agent.go_on([*head, {"role": "user", "content": prompt}])
        finally:
            self.messages = before
