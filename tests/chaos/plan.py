"""What one run is like: everything that is drawn before it begins, from the seed and its number alone."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

__all__ = ["Interruption", "RunPlan", "planned"]

_PROVIDERS = {"openai": 34, "anthropic": 24, "ollama": 20, "openai-responses": 12, "gemini": 10}


@dataclass(frozen=True)
class Interruption:
    """What happens from outside once the run has `after_events` more events: "crash", "broken store", "cancel"."""

    kind: str
    after_events: int


@dataclass(frozen=True)
class RunPlan:
    """One run. Units: tokens, unless a name says otherwise; `ratio` is the provider's count over a quarter of the
    bytes. `fault_rate` is of faults that pass, `end_rate` of those that end a run, both for each request.
    Every `shrinks_every` replies a fallback with a window a tenth smaller answers; with
    `falls_at` one whose window is `fall` of the prompt of that moment."""

    seed: int
    number: int
    steps: int
    provider: str
    is_over_http: bool
    is_watched: bool
    window: int
    ratio: float
    is_silent: bool
    shrinks_every: int | None
    falls_at: int | None
    fall: float
    fault_rate: float
    end_rate: float
    hang_rate: float
    storm_at: int | None
    policy: dict[str, Any]
    summarizes: bool
    chunk_tokens: int
    is_calibrated: bool
    is_strict: bool
    is_durable: bool
    task_characters: int
    system_characters: int
    result_characters: int
    sends: int
    interruptions: tuple[Interruption, ...] = ()
    budget: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"chaos-{self.seed}-{self.number}"

    def random(self, purpose: str) -> Random:
        """Chance for one purpose, the same in every process."""
        return Random(f"{self.seed}/{self.number}/{purpose}")


def planned(seed: int, number: int, steps: int) -> RunPlan:
    """The plan of one run."""
    chance = Random(f"{seed}/{number}/plan")
    window = round(2 ** chance.uniform(11.8, 15))
    factors = [1, 1, 1, chance.uniform(0.6, 1), chance.uniform(1, 2), chance.uniform(2, 5)]
    believed = round(window * chance.choice(factors))
    target = chance.uniform(0.25, 0.8)
    return RunPlan(
        seed=seed,
        number=number,
        steps=steps,
        provider=chance.choices(list(_PROVIDERS), list(_PROVIDERS.values()))[0],
        is_over_http=chance.random() < 0.04,
        is_watched=chance.random() < 0.12,
        window=window,
        ratio=chance.uniform(0.7, 1.5),
        is_silent=chance.random() < 0.2,
        shrinks_every=chance.choice([None, None, 8, 15]),
        falls_at=chance.randrange(2, 10) if chance.random() < 0.6 else None,
        fall=chance.choice([0.8, 0.8, 0.3]),
        fault_rate=chance.choice([0, 0.03, 0.1, 0.2]),
        end_rate=chance.choice([0, 0, 0, 0.01]),
        hang_rate=chance.choice([0, 0, 0.02]),
        storm_at=chance.randrange(1, steps) if chance.random() < 0.04 else None,
        policy={
            "max_input_tokens": believed,
            "reserve_output": chance.choice([0, believed // 20, believed // 8, believed // 4]),
            "trigger": round(chance.uniform(target, 1), 3),
            "target": round(target, 3),
            "keep_recent": chance.choice([0, 1, 2, 3, 3, 5]),
            "sticky": chance.random() < 0.5,
        },
        summarizes=chance.random() < 0.55,
        chunk_tokens=chance.choice([1_000, 4_000, 24_000]),
        is_calibrated=chance.random() < 0.8,
        is_strict=chance.random() < 0.3,
        is_durable=chance.random() < 0.5,
        task_characters=chance.choice([60, 60, 60, 400, window // 2]) if chance.random() < 0.95 else window * 8,
        system_characters=chance.choice([0, 80, 600]),
        result_characters=window * chance.choice([1, 1, 2]),
        sends=chance.choice([0, 0, 0, 0, 1, 4]),
        interruptions=_interruptions(chance, steps),
        budget=_budget(chance, window, steps),
    )


def _interruptions(chance: Random, steps: int) -> tuple[Interruption, ...]:
    events = steps * 5
    kind = chance.choices(["none", "crash", "cancel"], [60, 30, 10])[0]
    if kind == "none":
        return ()
    if kind == "cancel":
        return (Interruption("cancel", chance.randrange(1, events)),)
    crashes = chance.choice([1, 1, 2, 3])
    return tuple(
        Interruption(chance.choice(["crash", "crash", "broken store"]), chance.randrange(1, events // crashes))
        for _ in range(crashes)
    )


def _budget(chance: Random, window: int, steps: int) -> dict[str, Any]:
    match chance.choices(["none", "tokens", "steps"], [94, 3, 3])[0]:
        case "tokens":
            return {"max_tokens": chance.randrange(window, window * steps)}
        case "steps":
            return {"max_steps": chance.randrange(1, steps)}
    return {}
