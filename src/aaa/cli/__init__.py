"""The command line: what a policy would do to recorded conversations, where their tokens are, a demonstration.

Commands print results on standard output and everything else on standard error. Needs typer and rich (extra `cli`).
"""

from aaa.cli.entry import main

__all__ = ["main"]
