"""`aaa fit`: what a policy would have done to recorded conversations."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from aaa.cli.fit_report import Line, fit_dict, print_fit
from aaa.cli.fitting import Fitted, Setup, fit
from aaa.cli.outfile import OutFile
from aaa.cli.problems import Problem
from aaa.cli.progress import ReadingProgress
from aaa.cli.tally import Tally
from aaa.cli.terminal import Terminal
from aaa.messages import ToolSpec
from aaa.wire.openai_chat import message_to_dict, tool_to_dict

__all__ = ["run_fit"]


def run_fit(files: Sequence[str], setup: Setup, *, out: str | None, with_plan: bool, as_json: bool) -> int:
    """Fit every conversation in `files`, report, and return the exit status.

    Raises:
        OSError: `out` cannot be written; it is as it was.
    """
    terminal = Terminal()
    if setup.summarize:
        terminal.note(
            "note: summaries are written by a stand-in, not a model: the ends of the text, at most 600 characters"
        )
    lines, total = list[Line](), Tally()
    with ExitStack() as stack:
        out_file = stack.enter_context(OutFile(out)) if out else None
        for fitted in _all(terminal, files, setup):
            total.add(fitted.tally)
            lines.append(Line(fitted, with_plan=with_plan))
            if out_file is not None:
                _write(out_file, terminal, fitted)
    _warn(terminal, lines)
    if as_json:
        terminal.document("fit", [fit_dict(line) for line in lines], {"conversations": len(lines), **total.to_dict()})
        return terminal.exit_status
    terminal.close()
    print_fit(terminal, lines, total, with_plan=with_plan)
    return terminal.exit_status


def _all(terminal: Terminal, files: Sequence[str], setup: Setup) -> Iterator[Fitted]:
    with ReadingProgress(terminal.err, files) as progress:
        for item in progress.read():
            if isinstance(item, Problem):
                terminal.problem(item)
                continue
            try:
                yield fit(item, setup, progress.tick)
            except RecursionError:
                terminal.problem(Problem(item.file, "a message is nested too deeply", item.line))


def _write(out_file: OutFile, terminal: Terminal, fitted: Fitted) -> None:
    """Write the last prompt of a conversation, or say why there is none."""
    conversation = fitted.conversation
    if fitted.last is None:
        why = "its last call was refused" if fitted.tally.calls else "it holds no call"
        terminal.note(f"{conversation.file}:{conversation.line}: {conversation.id} is left out of the output: {why}")
        return
    fields: dict[str, object] = {"id": conversation.id, "messages": list(map(message_to_dict, fitted.last.messages))}
    if conversation.tools:
        fields["tools"] = _tools(conversation.tools)
    out_file.write(fields)


def _tools(tools: Sequence[ToolSpec]) -> list[dict[str, object]]:
    return [tool_to_dict(tool) for tool in tools]


def _warn(terminal: Terminal, lines: Sequence[Line]) -> None:
    """Say what the policy warned of, once for all conversations with the same trouble."""
    warned = [line for line in lines if line.warnings]
    if warned:
        others = f" (and {len(warned) - 1:,} more conversations)" if len(warned) > 1 else ""
        terminal.note(f"warning: {warned[0].id}{others}: {warned[0].warnings[0]}")
