"""The loop that most agents are, over a conversation that is a plain list.

task ─▶ compaction ─▶ model ─▶ calls? ── no ──▶ text
             ▲                   │ yes
             └── their results ◀─┘
"""

from collections.abc import Callable, Iterable
from types import EllipsisType
from typing import Any
from uuid import uuid4

from aaa.errors import OutOfTurnsError
from aaa.messages import Message
from aaa.tools import Tool
from aimu.agents.calls import CallRunner, not_run
from aimu.agents.compacting import compacted
from aimu.agents.errors import TruncatedTurnError
from aimu.agents.model import AgentModelClient
from aimu.agents.protocols import Compaction, EventSink, ModelClient
from aimu.agents.tasks import instructed, with_task
from aimu.context.reading import read
from aimu.context.texts import MessageDict

__all__ = ["Agent"]


class Agent:
    """A model with tools that works on a task until it answers. The conversation is `model_client.messages`.

    Args:
        client: the model, with its conversation; one agent at a time may use it.
        system_message: instead of the client's, and of what stands at the front of its conversation.
        name: how events and log lines call it.
        tools: functions, or what `@tool` made of them. One that fails is a result the model reads.
        max_iterations: how many turns of the model one run may take.
        compaction: `list -> list`, called right before every turn with the conversation as it would be sent, such as
            `lambda messages: aimu.trim_messages(messages, 8_000)`. None: nothing is ever dropped.
        events: is called with a `ContextCompacted` when that dropped anything; a warning is logged as well.

    Raises:
        ToolDefinitionError: a tool that is none, or two of one name.
        ValueError: max_iterations below 1.
    """

    def __init__(
        self,
        client: ModelClient,
        system_message: str | None = None,
        *,
        name: str | None = None,
        tools: Iterable[Tool[..., Any] | Callable[..., Any]] = (),
        max_iterations: int = 10,
        compaction: Compaction | None = None,
        events: EventSink | None = None,
    ) -> None:
        if max_iterations < 1:
            raise ValueError(f"max_iterations must be at least 1, got {max_iterations}")
        self.model_client = client
        self.system_message = system_message
        self.name = "agent" if name is None else name
        self.max_iterations = max_iterations
        self.compaction = compaction
        self.events = events
        self._calls = CallRunner(tools)

    def run(self, task: str, *, compaction: Compaction | EllipsisType | None = ...) -> str:
        """Put `task` to the model, run the tools it calls, and return its answer.

        A turn that fails leaves the conversation as it was before it. So after a `ContextOverflowError` make
        `model_client.messages` smaller and run the same task again: it goes on where it was, and is not asked twice.

        Args:
            task: what the user says next.
            compaction: for this run, instead of the agent's; None for none.

        Raises:
            OutOfTurnsError: no answer within `max_iterations` turns; every call is answered, so a run can go on.
            TruncatedTurnError: a reply without anything in it, cut at its output limit.
            ContextOverflowError, ProviderError: of the client; whatever `compaction` raises comes as it is.
        """
        return self.go_on(with_task(self.model_client.messages, task), compaction)

    def go_on(self, messages: list[MessageDict], compaction: Compaction | EllipsisType | None = ...) -> str:
        """As `run`, for a conversation that holds its question already; it becomes the client's."""
        chosen = self.compaction if isinstance(compaction, EllipsisType) else compaction
        messages = self._instructed(messages)
        run_id, text = uuid4().hex, ""
        for turn in range(1, self.max_iterations + 1):
            reply = self._turn(messages, chosen)
            if not reply.tool_calls:
                return reply.text
            text = reply.text
            self._answer(reply, run_id, turn)
            messages = self.model_client.messages
        raise OutOfTurnsError(self.max_iterations, text)

    def as_model_client(self) -> AgentModelClient:
        """This agent as a model: what is asked of it is answered by a whole run, tools and all."""
        return AgentModelClient(self)

    def _instructed(self, messages: list[MessageDict]) -> list[MessageDict]:
        """With the instructions in front, so that compaction counts them on the first turn too."""
        if self.system_message is not None:
            self.model_client.system = self.system_message
        return instructed(messages, self.model_client.system, is_new=self.system_message is not None)

    def _turn(self, messages: list[MessageDict], compaction: Compaction | None) -> Message:
        """One reply of the model, which is appended; or everything as it was."""
        client = self.model_client
        before = client.messages
        try:
            client.messages = list(messages)
            client.messages = compacted(messages, compaction, agent=self.name, events=self.events)
            (reply,) = read([client.chat(tools=self._calls.specs)])
            self._refuse_nothing(reply)
        except BaseException:
            client.messages = before
            raise
        return reply

    def _refuse_nothing(self, reply: Message) -> None:
        if self.model_client.last_finish_reason == "length" and not (reply.tool_calls or reply.text.strip()):
            spent = getattr(self.model_client.last_usage, "completion_tokens", None)
            raise TruncatedTurnError(self.name, completion_tokens=spent)

    def _answer(self, reply: Message, run_id: str, turn: int) -> None:
        """Append a result for every call, whatever happens: none is left open."""
        answers: list[MessageDict] = []
        try:
            if turn == self.max_iterations:
                answers += not_run(reply.tool_calls, f"not run: this was the last of {turn} turns")
            else:
                self._calls.run(reply.tool_calls, answers, run_id=run_id, turn=turn)
        finally:
            self.model_client.messages = [*self.model_client.messages, *answers]
