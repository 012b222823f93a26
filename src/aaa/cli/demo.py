"""`aaa demo`: a run that outgrows its window, without a policy and with one, told by a script.

Everything shown is read from the logs of the two runs, which stay in a database to be looked at.
"""

import asyncio
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aaa.cli.chart import ASCII, BLOCKS, Bar, chart
from aaa.cli.database import DatabaseError, require_ours, with_problems
from aaa.cli.demo_runs import CALLS, RUNS, WINDOW, play
from aaa.cli.problems import printable
from aaa.cli.progress import LateProgress
from aaa.cli.terminal import Terminal, can_write
from aaa.cli.timeline import Totals, applied_at, sent_tokens
from aaa.runtime import Event

__all__ = ["new_database", "run_demo"]


@dataclass(frozen=True, slots=True)
class Demo:
    """Both runs call by call, sizes in tokens; what was applied on each call, and what they came to."""

    path: str
    is_new: bool
    bars: list[Bar]
    applied: list[list[str]]
    without: Totals
    managed: Totals

    @property
    def applied_calls(self) -> Counter[str]:
        """On how many calls each was applied."""
        return Counter(name.split("(")[0] for names in self.applied for name in names)


def new_database() -> str:
    """A path in a fresh temporary folder."""
    return str(Path(tempfile.mkdtemp(prefix="aaa-demo-"), "runs.db"))


def run_demo(terminal: Terminal, path: str, *, as_json: bool) -> None:
    """Run it, or find that it has run, and show what happened.

    Raises:
        DatabaseError: `path` cannot be used.
    """
    demo = _played(terminal, path)
    if as_json:
        terminal.document("demo", _results(demo), _total(demo))
        return
    _print_chart(terminal, demo)
    _print_figures(terminal, demo)
    _print_next(terminal, demo)


def _played(terminal: Terminal, path: str) -> Demo:
    new: list[Event] = []
    with with_problems():
        _require_usable(Path(path))
    with with_problems(), LateProgress(terminal.err, "running", total=CALLS * len(RUNS)) as progress:

        def hear(event: Event) -> None:
            new.append(event)
            progress.advance(event.type == "aaa.llm.completed")

        found = asyncio.run(play(path, hear))
    logs = [found[run_id] for run_id in RUNS]
    without, managed = ([event for event in log if event.type == "aaa.llm.completed"] for log in logs)
    pairs = enumerate(zip(without, managed, strict=True), 1)
    bars = [Bar(str(call), sent_tokens(after), sent_tokens(before)) for call, (before, after) in pairs]
    return Demo(path, bool(new), bars, [applied_at(event) for event in managed], Totals(logs[0]), Totals(logs[1]))


def _require_usable(path: Path) -> None:
    if path.exists() and not (path.is_file() and path.stat().st_size == 0):
        require_ours(str(path))
    elif not path.absolute().parent.is_dir():
        raise DatabaseError("no such folder")


def _results(demo: Demo) -> list[dict[str, object]]:
    return [
        {"call": int(bar.label), "without_tokens": bar.without, "with_tokens": bar.sent, "applied": applied}
        for bar, applied in zip(demo.bars, demo.applied, strict=True)
    ]


def _total(demo: Demo) -> dict[str, object]:
    return {
        "database": demo.path,
        "runs": list(RUNS),
        "was_there": not demo.is_new,
        "window_tokens": WINDOW,
        "calls": demo.managed.calls,
        "largest_without_tokens": demo.without.largest_tokens,
        "largest_with_tokens": demo.managed.largest_tokens,
        "compactions": demo.managed.compactions,
        "summaries": demo.managed.summaries,
        "applied": dict(demo.applied_calls),
    }


def _print_chart(terminal: Terminal, demo: Demo) -> None:
    symbols = BLOCKS if can_write("█░│") else ASCII
    terminal.text(
        f"An agent looks up {CALLS - 1} topics: {CALLS} calls, a window of {WINDOW:,} tokens. Size of each request:\n"
    )
    for line in chart(demo.bars, WINDOW, width=min(terminal.out.width, 96) - 1, symbols=symbols):
        terminal.text(line)
    more = f"{symbols.more} what is sent without a policy"
    terminal.text(f"\n{symbols.sent} sent   {more}   {symbols.window} the window\n")


def _print_figures(terminal: Terminal, demo: Demo) -> None:
    figures: Sequence[tuple[str, int, str]] = (
        ("largest request without a policy", demo.without.largest_tokens, "tokens: a provider refuses it"),
        ("largest request with one", demo.managed.largest_tokens, "tokens: every one fits"),
        ("calls compacted", demo.managed.compactions, f"of {demo.managed.calls}; applied, on how many:"),
        *((f"  {name}", calls, "") for name, calls in demo.applied_calls.most_common()),
        ("summaries written", demo.managed.summaries, ""),
    )
    for what, number, more in figures:
        terminal.text(f"{what:34} {number:>6,} {more}".rstrip())


def _print_next(terminal: Terminal, demo: Demo) -> None:
    aaa, path = _program(), shlex.quote(printable(demo.path))
    are = "are in a database" if demo.is_new else "were in this database already, nothing was done again"
    terminal.text(f"\nBoth runs {are}. Look at them:")
    terminal.text(f"  {aaa} runs {path}")
    terminal.text(f"  {aaa} show {path} with-policy")
    terminal.text(f"  {aaa} show {path} with-policy --prompt 15")
    terminal.text("\nOn conversations of your own (OpenAI format, JSON or JSON lines):")
    terminal.text(f"  {aaa} fit FILE --window 8000    what a policy does to them")
    terminal.text(f"  {aaa} count FILE                where their tokens are")
    terminal.text("and the README, for the lines that put this into your own loop.")


def _program() -> str:
    """How the user calls this program: by its path where the name alone is not found."""
    name = sys.argv[0]
    return shlex.quote(name) if Path(name).name == "aaa" and shutil.which("aaa") is None else "aaa"
