"""The command line as such: options, exit status, version, interruption, what it needs."""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from aaa import __version__
from aaa.cli import main
from tests.cli.files import conversation, long_conversation, write

WRONG_OPTIONS = {
    "no command of that name": (["fitt"], "fitt"),
    "no option of that name": (["fit", "FILE", "--window", "9", "--stick"], "--stick"),
    "no window": (["fit", "FILE"], "--window"),
    "no file": (["count"], "FILE"),
    "a window that is no number": (["fit", "FILE", "--window", "many"], "--window"),
    "an option without its value": (["fit", "FILE", "--window"], "--window"),
    "a window of 0": (["fit", "FILE", "--window", "0"], "--window must be above 0, got 0"),
    "a negative window": (["fit", "FILE", "--window", "-5"], "--window must be above 0, got -5"),
    "a reserve as large as the window": (
        ["fit", "FILE", "--window", "800", "--reserve", "800"],
        "--reserve must be below --window: got 800 of 800",
    ),
    "a negative reserve": (["fit", "FILE", "--window", "8", "--reserve", "-1"], "--reserve must not be negative"),
    "a negative tail": (
        ["fit", "FILE", "--window", "8000", "--keep-recent", "-1"],
        "--keep-recent must not be negative, got -1",
    ),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_a_wrong_option_is_one_line_and_status_2(tmp_path, capsys, case):
    arguments, expected = WRONG_OPTIONS[case]
    file = write(tmp_path / "a.json", conversation())
    assert main([file if argument == "FILE" else argument for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("aaa")
    assert expected in err


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"aaa {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=["alone", "--help"])
def test_help_names_the_commands(capsys, arguments):
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("fit", "count", "runs", "show", "delete", "demo", "--version"))


@pytest.mark.parametrize("command", ["fit", "count", "runs", "show", "delete", "demo"])
def test_every_command_has_help_and_json(capsys, command):
    assert main([command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_the_script_is_this_program():
    (script,) = entry_points(group="console_scripts", name="aaa")
    assert script.load() is main


def environment(**changes: str) -> dict[str, str]:
    source = Path(__file__).resolve().parents[2] / "src"
    return {**os.environ, "PYTHONPATH": str(source), **changes}


def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aaa.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False, env=environment(**changes)
    )


def test_without_typer_one_line_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('No module named typer', name='typer')")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).resolve().parents[2] / "src")])
    done = run("demo", PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "aaa needs typer: pip install 'aaa-agents[cli]'\n"


def test_a_run_prints_results_and_nothing_else(tmp_path):
    done = run("fit", write(tmp_path / "a.json", long_conversation()), "--window", "2000", NO_COLOR="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "clear_tool_results" in done.stdout
    assert "\x1b" not in done.stdout


def test_names_the_console_cannot_write_are_escaped(tmp_path):
    file = write(tmp_path / "a.json", {"id": "\u4f60\u597d", "messages": conversation()})
    done = run("fit", file, "--window", "2000", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\u4f60\\u597d" in done.stdout


def test_two_processes_print_the_same(tmp_path):
    file = write(tmp_path / "a.json", [*long_conversation(), *conversation(6, "long " * 900)])
    options = ("--window", "2000", "--plan", "--json")
    first, second = (run("fit", file, *options, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["total"]["floor"]


def test_json_is_ascii_whatever_the_console(tmp_path):
    file = write(tmp_path / "a.json", {"id": "\u4f60\u597d", "messages": conversation()})
    done = run("fit", file, "--window", "2000", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["results"][0]["id"] == "\u4f60\u597d"


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="a job in the background gets no SIGINT")
def test_an_interrupted_run_ends_with_130_and_leaves_the_output_as_it_was(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    command = [sys.executable, "-m", "aaa.cli", "fit", "-", "--window", "2000", "-o", str(out)]
    pipe = subprocess.PIPE
    line = json.dumps({"messages": [{"role": "tool", "content": 7}]}).encode() + b"\n"
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(line * 70_000)  # more than a block, so that the first is read while more is awaited
        process.stdin.flush()
        assert b"message 0" in process.stderr.readline()  # it runs
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl"]
