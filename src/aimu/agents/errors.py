"""What an agent raises that nobody below it knows of."""

from aaa.errors import AaaError

__all__ = ["TruncatedTurnError"]


class TruncatedTurnError(AaaError):
    """A model used up its output limit before it had said anything; the turn is not in the conversation.

    `agent` is its name; `completion_tokens` what the turn spent, None if the provider did not say.
    """

    def __init__(self, agent: str, *, completion_tokens: int | None = None) -> None:
        self.agent = agent
        self.completion_tokens = completion_tokens
        spent = f" after {completion_tokens:,} tokens" if completion_tokens else ""
        super().__init__(
            f"the reply to agent {agent!r} was cut off{spent}, before any text or tool call: the output limit went to "
            "something else, most often to reasoning. Raise it (max_tokens in generate_kwargs), or have it reason less."
        )
