"""`aaa demo`: an agent of 25 calls in a window of 4,000 tokens, told by a script, so that it runs anywhere.

The loop is the one in anybody's program: fit, send, append the reply and the tool's results.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aaa.cli.chart import ASCII, BLOCKS, Bar, chart
from aaa.cli.tally import Tally
from aaa.cli.terminal import Terminal, can_write
from aaa.context import ContextPolicy, HeuristicCounter, Plan, PromptFitter
from aaa.messages import LLMRequest, LLMResponse, Message, Usage

__all__ = ["Librarian", "run_demo", "scripted_run"]

CALLS, WINDOW, RESERVE = 25, 4_000, 500
_TASK = "Read all 24 chapters of the manual with `lookup` and list the rules that contradict each other."
_SENTENCE = "Rule {n}.{k}: valve V-{n}{k:02d} stays closed while pump P-{k} runs, unless the log says otherwise. "


class Librarian:
    """A client that answers any request for a summary from a script; what a model would be in a real program."""

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """A short summary, and what it would have cost in tokens."""
        text = (
            "Goal: list the rules of the manual that contradict each other. Done: the chapters before this point are "
            "read; their rules close a valve while a pump runs, and no contradiction has been found. Next: the rest."
        )
        read = HeuristicCounter().count(request.messages)
        return LLMResponse(Message("assistant", text), Usage(prompt_tokens=read, completion_tokens=60))


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the run: its number and the plan of its prompt."""

    call: int
    plan: Plan


def scripted_run() -> Iterator[Step]:
    """The run, call by call."""
    policy = ContextPolicy(WINDOW, reserve_output=RESERVE, counter=HeuristicCounter(), summarizer=Librarian())
    fitter = PromptFitter(policy)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful reader of technical manuals. Work chapter by chapter."},
        {"role": "user", "content": _TASK},
    ]
    for call in range(1, CALLS + 1):
        prompt = fitter.fit_sync(messages)
        assert prompt.plan is not None
        yield Step(call, prompt.plan)
        messages += _turn(call)


def _turn(call: int) -> list[dict[str, Any]]:
    """What the model and the tool say in one turn: a call, and a long document."""
    function = {"name": "lookup", "arguments": f'{{"chapter": {call}}}'}
    document = "".join(_SENTENCE.format(n=call, k=k) for k in range(1, 22))
    return [
        {
            "role": "assistant",
            "content": f"Chapter {call} is next.",
            "tool_calls": [{"id": f"call_{call}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"call_{call}", "content": document},
    ]


def run_demo(*, as_json: bool) -> None:
    """Run it and show what happened."""
    terminal, total = Terminal(), Tally()
    steps = list(scripted_run())
    for step in steps:
        total.fitted(step.plan)
    if as_json:
        figures = {"window_tokens": WINDOW, "reserve_tokens": RESERVE, **total.to_dict()}
        terminal.document("demo", [_result(step) for step in steps], figures)
    else:
        _show(terminal, steps, total)


def _result(step: Step) -> dict[str, object]:
    plan = step.plan
    sizes = {"without_tokens": plan.tokens_before, "with_tokens": plan.tokens_after}
    return {"call": step.call, **sizes, "applied": list(plan.applied)}


def _show(terminal: Terminal, steps: list[Step], total: Tally) -> None:
    symbols = BLOCKS if can_write("█░│") else ASCII
    terminal.text(f"An agent reads a manual: {CALLS} calls, a window of {WINDOW:,} tokens. Size of each request:\n")
    bars = [Bar(str(step.call), step.plan.tokens_after, step.plan.tokens_before) for step in steps]
    width = min(terminal.out.width, 96) - 1
    for line in chart(bars, WINDOW, width=width, symbols=symbols):
        terminal.text(line)
    more = f"{symbols.more} what would have been sent without a policy"
    terminal.text(f"\n{symbols.sent} sent   {more}   {symbols.window} the window\n")
    _figures(terminal, total)


def _figures(terminal: Terminal, total: Tally) -> None:
    over = "above the window: a provider refuses it" if total.largest_without > WINDOW else "below the window"
    terminal.text(f"largest request without a policy   {total.largest_without:>7,} tokens, {over}")
    terminal.text(f"largest request with it            {total.largest_with:>7,} tokens, every one fits")
    terminal.text(
        f"calls compacted anew               {total.compactions:>7,} of {total.calls}; applied, on how many calls:"
    )
    for name, calls in total.applied.most_common():
        terminal.text(f"  {name:33}{calls:>7,}")
    terminal.text("\nNext, on conversations of your own (OpenAI format, JSON or JSON lines):")
    terminal.text(f"  aaa fit FILE --window {8_000}    what a policy does to them")
    terminal.text("  aaa count FILE               where their tokens are")
    terminal.text("and the README, for the three lines that put this into your own loop.")
