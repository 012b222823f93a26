"""What a tool may know of the call it serves."""

from dataclasses import dataclass

__all__ = ["ToolContext"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """A parameter annotated with this receives it; the model is not told of that parameter.

    `attempt` counts from 1 and is above 1 when an earlier attempt was interrupted. `idempotency_key` is the same on
    every attempt: hand it to a service that recognises repeated requests. `call_id` is the provider's.
    """

    run_id: str
    attempt: int
    idempotency_key: str
    call_id: str
