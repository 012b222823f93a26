"""The commands and their options; what they do stands in modules of their own."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from aaa import __version__
from aaa.cli.count_command import run_count
from aaa.cli.database import reported
from aaa.cli.delete_command import delete_run
from aaa.cli.fit_command import run_fit
from aaa.cli.fitting import Setup
from aaa.cli.options import Database, Files, Json, RunId, reserve_for, wrong_numbers
from aaa.cli.outfile import refusal
from aaa.cli.problems import printable
from aaa.cli.runs_command import STATUSES, list_runs
from aaa.cli.show_command import show_event, show_prompt, show_run
from aaa.cli.terminal import Terminal

__all__ = ["app", "run"]

# What typer raises for wrong options; older ones take it from click, so it has no name that holds for all.
_OptionError: Any = typer.BadParameter.__mro__[2]
_FAILED, _INTERRUPTED = 2, 130

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; wrong options are one line on standard error."""
    command: Any = typer.main.get_command(app)
    try:
        return command.main(list(arguments), prog_name="aaa", standalone_mode=False) or 0
    except _OptionError as error:
        context: Any = getattr(error, "ctx", None)
        return _fail(error.format_message(), context.command_path if context else "aaa")
    except typer.Abort:
        return _INTERRUPTED


def _fail(message: str, where: str) -> int:
    print(printable(f"{where}: {' '.join(message.split())}"), file=sys.stderr)
    return _FAILED


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"aaa {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep conversations of LLM agents within a model's context window."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def fit(  # noqa: PLR0913, PLR0917 - one parameter an option
    files: Files,
    window: Annotated[int, typer.Option(help="The model's window, in tokens.", show_default=False)],
    reserve: Annotated[
        int | None,
        typer.Option(help="Tokens kept free for the reply; by default a quarter of the window, at most 4096."),
    ] = None,
    keep_recent: Annotated[int, typer.Option(help="The newest groups that stay as they are.")] = 3,
    sticky: Annotated[bool, typer.Option("--sticky", help="Keep edits in force; spares the cached prefix.")] = False,
    summarize: Annotated[
        bool, typer.Option("--summarize", help="Summarize too; without a model, a stand-in writes the summaries.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show the edits of the last call of each conversation.")] = False,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="OUT", help="Write the last prompts as JSON lines (.gz too).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit recorded conversations into a window, call by call, and report what that took."""
    kept_free = reserve_for(window, reserve)
    wrong = wrong_numbers(window, kept_free, keep_recent) or (refusal(out, files) if out is not None else "")
    if wrong:
        raise typer.Exit(_fail(wrong, "aaa fit"))
    setup = Setup(window=window, reserve=kept_free, keep_recent=keep_recent, sticky=sticky, summarize=summarize)
    try:
        raise typer.Exit(run_fit(files, setup, out=out, with_plan=plan, as_json=as_json))
    except OSError as error:
        if out is None or isinstance(error, BrokenPipeError):
            raise
        raise typer.Exit(_fail(f"{out}: {error.strerror or error}", "aaa fit")) from error


@app.command()
def count(files: Files, as_json: Json = False) -> None:
    """Count where the tokens of conversations are: by role, by kind, by tool, and the largest messages."""
    raise typer.Exit(run_count(files, as_json=as_json))


@app.command()
def runs(
    database: Database,
    status: Annotated[str | None, typer.Option(help=f"Only these: {', '.join(STATUSES)}.")] = None,
    as_json: Json = False,
) -> None:
    """List the runs of a database. Reading leaves it as it is, whoever drives it."""
    if status is not None and status not in STATUSES:
        raise typer.Exit(_fail(f"--status is one of {', '.join(STATUSES)}; got {status}", "aaa runs"))

    def work(terminal: Terminal) -> None:
        list_runs(terminal, database, status, as_json=as_json)

    raise typer.Exit(reported("runs", database, work, as_json=as_json))


@app.command()
def show(
    database: Database,
    run_id: RunId,
    event: Annotated[int | None, typer.Option(metavar="N", help="One event, whole, as JSON.")] = None,
    prompt: Annotated[
        int | None, typer.Option(metavar="N", help="What was sent at model call N: a JSON list of messages.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a run as a timeline, or one event or one prompt of it."""
    if event is not None and prompt is not None:
        raise typer.Exit(_fail("--event and --prompt exclude each other; give one", "aaa show"))

    def work(terminal: Terminal) -> None:
        if event is not None:
            show_event(terminal, database, run_id, event, as_json=as_json)
        elif prompt is not None:
            show_prompt(terminal, database, run_id, prompt, as_json=as_json)
        else:
            show_run(terminal, database, run_id, as_json=as_json)

    raise typer.Exit(reported("show", database, work, as_json=as_json))


@app.command()
def delete(
    database: Database,
    run_id: RunId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where nobody can be asked.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a run and its children, with all they hold."""
    if not yes and not sys.stdin.isatty():
        raise typer.Exit(_fail("standard input is no terminal, so nobody can be asked; give --yes", "aaa delete"))

    def work(terminal: Terminal) -> None:
        delete_run(terminal, database, run_id, is_sure=yes, as_json=as_json)

    raise typer.Exit(reported("delete", database, work, as_json=as_json))


@app.command()
def demo(
    database: Annotated[
        str | None, typer.Option("--db", metavar="PATH", help="Where to keep the runs; by default in a new folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show an agent that outlives its window: 26 calls in 4,000 tokens, without a policy and with one. No network."""
    from aaa.cli.demo import new_database, run_demo  # its tool loads pydantic, which no other command needs

    path = database or new_database()

    def work(terminal: Terminal) -> None:
        run_demo(terminal, path, as_json=as_json)

    raise typer.Exit(reported("demo", path, work, as_json=as_json))
