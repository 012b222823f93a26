"""The commands and their options; what they do stands in modules of their own."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from aaa import __version__
from aaa.cli.count_command import run_count
from aaa.cli.demo import run_demo
from aaa.cli.fit_command import run_fit
from aaa.cli.fitting import Setup
from aaa.cli.options import Files, Json, reserve_for, wrong_numbers
from aaa.cli.outfile import refusal
from aaa.cli.problems import printable

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
def demo(as_json: Json = False) -> None:
    """Show an agent that outlives its window: 25 calls in 4,000 tokens. No network, no files."""
    run_demo(as_json=as_json)
