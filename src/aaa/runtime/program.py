"""What a process brings to the runs it drives: algorithms, handlers, a store. Nothing of it is in a log."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from aaa.errors import RunError, UnavailableError
from aaa.messages import Handler
from aaa.runtime.budget import Budget
from aaa.runtime.events import Event
from aaa.runtime.log import Redact, RunLog
from aaa.runtime.store import EventStore
from aaa.runtime.watching import Watching

__all__ = ["Algorithm", "Program", "config_of", "name_of", "require_same_run", "version_of"]


class Algorithm(Protocol):
    """A program over effects. It may have a `name` (its class's by default), a `version` and a `config()`.

    What `config()` returns (JSON) is recorded when a run starts and given back as `run.config` on every resume: what
    belongs there is what a run must keep when the program changes, such as its system prompt.
    """

    async def run(self, run: Any, input: Any) -> Any:
        """Do the work; what it returns (JSON) is the outcome's value."""
        ...


@runtime_checkable
class _Configured(Protocol):
    def config(self) -> Any: ...


def name_of(algorithm: object) -> str:
    """The name under which runs of `algorithm` are recorded."""
    return str(getattr(algorithm, "name", None) or type(algorithm).__name__)


def version_of(algorithm: object) -> str:
    """The version that is recorded beside the name, for those who read logs."""
    return str(getattr(algorithm, "version", "1"))


def config_of(algorithm: object) -> Any:
    """What a run of `algorithm` keeps of it."""
    return algorithm.config() if isinstance(algorithm, _Configured) else None


@dataclass
class Program:
    """The parts of an engine that `drive` needs."""

    store: EventStore
    algorithms: dict[str, Algorithm] = field(default_factory=dict[str, Algorithm])
    handlers: dict[str, Handler] = field(default_factory=dict[str, Handler])
    redact: Redact | None = None
    on_event: Callable[[Event], None] | None = None
    started: dict[str, Algorithm] = field(default_factory=dict[str, Algorithm])
    live: dict[str, RunLog] = field(default_factory=dict[str, RunLog])
    watching: Watching = field(default_factory=Watching)

    def algorithm(self, started: Event) -> Algorithm:
        """The algorithm of a run: the very one it was started with here, else the one of its name.

        Raises:
            UnavailableError: none of that name is known here.
        """
        found = self.started.get(started.run_id) or self.algorithms.get(started.data["algorithm"])
        if found is None:
            name = started.data["algorithm"]
            raise UnavailableError(f"run {started.run_id!r} is one of {name!r}; known here: {sorted(self.algorithms)}")
        return found

    def handler(self, kind: str) -> Handler:
        """The handler of `kind`.

        Raises:
            UnavailableError: none is attached.
        """
        if kind not in self.handlers:
            raise UnavailableError(f"no handler for {kind!r} is attached to this engine, only {sorted(self.handlers)}")
        return self.handlers[kind]

    def require_price(self, budget: Budget | None) -> None:
        """A `max_cost` needs a model client that tells what its replies cost.

        Raises:
            ValueError: it does not.
        """
        is_asked = budget is not None and budget.max_cost is not None
        if is_asked and not getattr(self.handlers.get("llm"), "knows_cost", False):
            raise ValueError("max_cost cannot be kept: the model client tells no price; limit max_tokens instead")


def require_same_run(run_id: str, asked: Event, existing: Event) -> None:
    """A run id names one run.

    Raises:
        RunError: the existing run has another algorithm or input than is asked for.
    """
    for field_name in ("algorithm", "input"):
        if asked.data[field_name] != existing.data[field_name]:
            raise RunError(f"run {run_id!r} exists with another {field_name}; a run id names one run")
