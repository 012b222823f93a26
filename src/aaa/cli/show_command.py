"""`aaa show`: one run, as a timeline, or one event or one prompt of it, whole."""

import json
from collections.abc import Sequence

import msgspec

from aaa.cli.database import DatabaseError, with_store
from aaa.cli.terminal import Terminal
from aaa.cli.timeline import Totals, described
from aaa.runtime import Event
from aaa.runtime.prompts import prompt_at
from aaa.wire.openai_chat import message_to_dict

__all__ = ["show_event", "show_prompt", "show_run"]


def read_run(path: str, run_id: str) -> list[Event]:
    """The events of a run.

    Raises:
        DatabaseError: there is none.
    """
    return with_store(path, lambda store: store.read(run_id))


def show_run(path: str, run_id: str, *, as_json: bool) -> None:
    """Print a line for each event, then what the run came to."""
    terminal, totals, events = Terminal(), Totals(), read_run(path, run_id)
    for event in events:
        totals.add(event)
    lines = list(described(events))
    if as_json:
        results = [{"seq": event.seq, "at": event.at, "type": event.type, "says": line} for event, line in lines]
        terminal.document("show", results, {"run_id": run_id, **totals.to_dict()})
        return
    begin = events[0].at
    rows = [(str(e.seq), f"{e.at - begin:.3f}", e.type.removeprefix("aaa."), line) for e, line in lines]
    terminal.table(("event", "seconds", "what", ""), rows, left=4)
    _print_totals(terminal, run_id, totals)


def _print_totals(terminal: Terminal, run_id: str, totals: Totals) -> None:
    tools = ", ".join(f"{name} {count:,}" for name, count in totals.tools.most_common()) or "none"
    cost = f", ${totals.cost:.4f}" if totals.cost else ""
    terminal.text(f"\n{run_id}: {totals.status}; spent {totals.tokens:,} tokens{cost}")
    terminal.text(f"model calls {totals.calls:,}, the largest of {totals.largest:,} tokens; tools: {tools}")
    terminal.text(f"compacted on {totals.compactions:,} calls, {totals.summaries:,} summaries")


def show_event(path: str, run_id: str, number: int) -> None:
    """Print one event, whole, as JSON.

    Raises:
        DatabaseError: the run has fewer events.
    """
    events = read_run(path, run_id)
    if not 1 <= number <= len(events):
        raise DatabaseError(f"run {run_id} has {len(events):,} events, there is no event {number}")
    Terminal().document("show", [msgspec.to_builtins(events[number - 1])], {"run_id": run_id, "event": number})


def show_prompt(path: str, run_id: str, call: int) -> None:
    """Print exactly the messages that were sent at call `call`, as a JSON list in the OpenAI format.

    Raises:
        DatabaseError: the run has fewer calls.
    """
    try:
        prompt = prompt_at(read_run(path, run_id), call)
    except IndexError as error:
        raise DatabaseError(f"run {run_id}: {error}") from error
    Terminal().out.file.write(_json([message_to_dict(message) for message in prompt]))


def _json(messages: Sequence[object]) -> str:
    return json.dumps(messages, indent=2) + "\n"
