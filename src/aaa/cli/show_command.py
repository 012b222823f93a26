"""`aaa show`: one run, as a timeline, or one event or one prompt of it, whole."""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import msgspec

from aaa.cli.database import DatabaseError, events_of, read
from aaa.cli.problems import printable
from aaa.cli.runs_command import utc
from aaa.cli.terminal import Terminal
from aaa.cli.timeline import Totals, described
from aaa.runtime import Event
from aaa.runtime.prompts import prompt_at
from aaa.wire.openai_chat import message_to_dict

__all__ = ["show_event", "show_prompt", "show_run"]

_REQUESTED = "aaa.llm.requested"


def _events(path: str, run_id: str) -> list[Event]:
    return read(path, lambda reader: events_of(reader, run_id))


def show_run(terminal: Terminal, path: str, run_id: str, *, as_json: bool) -> None:
    """Print a line for each event, then what the run came to.

    Raises:
        DatabaseError: there is no such database or run.
    """
    events = _events(path, run_id)
    with _shape_known(run_id):
        totals, lines = Totals(events), list(described(events))
    if as_json:
        results = [{"seq": event.seq, "at": event.at, "type": event.type, "says": line} for event, line in lines]
        terminal.document("show", results, {"run_id": run_id, **totals.to_dict()})
        return
    begin = events[0].at
    rows = [(str(e.seq), f"{e.at - begin:.3f}", e.type.removeprefix("aaa."), line) for e, line in lines]
    terminal.table(("event", "seconds", "type", "says"), rows, left=4)
    _print_totals(terminal, run_id, begin, totals)


def _print_totals(terminal: Terminal, run_id: str, begin: float, totals: Totals) -> None:
    tools = ", ".join(f"{name} {count:,}" for name, count in totals.tools.most_common()) or "none"
    cost = f", ${totals.spent.cost:.4f}" if totals.spent.cost else ""
    terminal.text(f"\n{printable(run_id)}: {totals.status}, started {utc(begin)} UTC")
    terminal.text(f"model calls: {totals.calls:,}, the largest of {totals.largest_tokens:,} tokens")
    terminal.text(f"compacted: {totals.compactions:,} of them; summaries written: {totals.summaries:,}")
    terminal.text(f"tool calls: {printable(tools)}")
    terminal.text(f"spent: {totals.spent.tokens:,} tokens{cost}")


def show_event(terminal: Terminal, path: str, run_id: str, number: int, *, as_json: bool) -> None:
    """Print one event, whole, as JSON.

    Raises:
        DatabaseError: there is no such database, run or event.
    """
    events = _events(path, run_id)
    _require_within(number, len(events), run_id, "event")
    fields = msgspec.to_builtins(events[number - 1])
    if as_json:
        terminal.document("show", [fields], {"run_id": run_id, "event": number})
    else:
        _write(terminal, fields)


def show_prompt(terminal: Terminal, path: str, run_id: str, call: int, *, as_json: bool) -> None:
    """Print exactly the messages that were sent at call `call`, as a JSON list in the OpenAI format.

    Raises:
        DatabaseError: there is no such database, run or call.
    """
    events = _events(path, run_id)
    with _shape_known(run_id):
        requests = [event.data["key"] for event in events if event.type == _REQUESTED]
        _require_within(call, len(requests), run_id, "model call")
        messages = [message_to_dict(message) for message in prompt_at(events, call)]
    _note_if_unanswered(terminal, events, requests[call - 1], call)
    if as_json:
        terminal.document("show", messages, {"run_id": run_id, "call": call, "messages": len(messages)})
    else:
        _write(terminal, messages)


@contextmanager
def _shape_known(run_id: str) -> Generator[None, None, None]:
    """Events that a `redact` has changed may lack what is read here; `--event` shows them anyhow."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
        what = "an event that lacks what is needed to show this; look at single ones with --event"
        raise DatabaseError(f"run {run_id!r} has {what}") from error


def _require_within(number: int, count: int, run_id: str, what: str) -> None:
    if not 1 <= number <= count:
        numbers = f"{what}s 1 to {count:,}" if count else f"no {what}"
        raise DatabaseError(f"run {run_id!r} has {numbers}, not {number:,}")


def _note_if_unanswered(terminal: Terminal, events: Sequence[Event], key: str, call: int) -> None:
    """A prompt that was asked for may have been refused before it was sent."""
    ends = [event for event in events if event.type.startswith("aaa.llm.") and event.data.get("key") == key][1:]
    if not ends:
        terminal.note(f"note: the log has no reply to call {call}; whether this was sent is not known")
    elif ends[0].type == "aaa.llm.failed":
        terminal.note(f"note: call {call} failed: {ends[0].data['error']['type']}")


def _write(terminal: Terminal, value: object) -> None:
    terminal.out.file.write(json.dumps(value, indent=2) + "\n")
