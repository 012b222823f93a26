"""`aaa count`: where the tokens of recorded conversations are."""

from collections.abc import Mapping, Sequence

from aaa.cli.counting import Census, Share, counters_at_hand
from aaa.cli.problems import Problem
from aaa.cli.progress import ReadingProgress
from aaa.cli.reading import Conversation
from aaa.cli.terminal import Terminal
from aaa.context import AdditiveCounter

__all__ = ["run_count"]

Sizes = dict[str, int]
_HOW_TO_GET = "pip install 'aaa-agents[tokens]'"


def run_count(files: Sequence[str], *, as_json: bool) -> int:
    """Count every conversation in `files`, report, and return the exit status."""
    terminal, census = Terminal(), Census()
    counters, missing = counters_at_hand()
    results: list[dict[str, object]] = []
    total = dict.fromkeys(counters, 0)
    with ReadingProgress(terminal.err, files) as progress:
        for item in progress.read():
            sizes = None if isinstance(item, Problem) else _take(census, item, counters)
            if isinstance(item, Problem) or sizes is None:
                terminal.problem(item if isinstance(item, Problem) else _too_deep(item))
                continue
            total = {name: tokens + sizes[name] for name, tokens in total.items()}
            if as_json:
                results.append(_result(item, sizes))
    if as_json:
        terminal.document("count", results, _total(census, total, missing))
    else:
        terminal.close()
        _print(terminal, census, total, missing)
    return terminal.exit_status


def _take(census: Census, conversation: Conversation, counters: Mapping[str, AdditiveCounter]) -> Sizes | None:
    """Sizes under each counter; None if something in the conversation is nested too deeply to count."""
    try:
        sizes = {name: counter.count(conversation.messages, conversation.tools) for name, counter in counters.items()}
    except RecursionError:
        return None
    census.add(conversation)
    return sizes


def _too_deep(conversation: Conversation) -> Problem:
    return Problem(conversation.file, "a message is nested too deeply", conversation.line)


def _result(conversation: Conversation, sizes: Sizes) -> dict[str, object]:
    return {
        "file": conversation.file,
        "line": conversation.line,
        "id": conversation.id,
        "messages": len(conversation.messages),
        "tokens": sizes,
    }


def _total(census: Census, sizes: Sizes, missing: list[str]) -> dict[str, object]:
    tools = sorted({*census.calls, *census.results})
    return {
        "conversations": census.conversations,
        "messages": census.messages,
        "tokens": sizes,
        "counters_missing": missing,
        "roles": _dicts(census.roles),
        "kinds": _dicts(census.kinds),
        "media_parts": dict(census.media),
        "tools": {tool: {"calls": _dict(census.calls[tool]), "results": _dict(census.results[tool])} for tool in tools},
        "largest": [
            {"id": big.conversation, "index": big.index, "role": big.role, "tool": big.tool, "tokens": big.tokens}
            for big in census.largest
        ],
    }


def _dicts(shares: Mapping[str, Share]) -> dict[str, object]:
    return {name: _dict(share) for name, share in shares.items()}


def _dict(share: Share) -> dict[str, int]:
    return {"count": share.count, "tokens": share.tokens}


def _print(terminal: Terminal, census: Census, sizes: Sizes, missing: list[str]) -> None:
    terminal.text(
        f"{census.conversations:,} conversations, {census.messages:,} messages; tokens by the heuristic counter"
    )
    _print_shares(terminal, "role", census.roles)
    _print_shares(terminal, "kind", census.kinds)
    if census.media:
        terminal.text()
        terminal.table(("other parts, not counted in tokens", "parts"), sorted(census.media.items()))
    _print_tools(terminal, census)
    if census.largest:
        terminal.text()
        rows = [(big.conversation, big.role, big.tool, big.index, big.tokens) for big in census.largest]
        terminal.table(("largest, in conversation", "role", "tool", "index", "tokens"), rows, left=3)
    terminal.text()
    terminal.table(("all, by counter", "tokens"), list(sizes.items()))
    for name in missing:
        terminal.text(f"{name}: not at hand ({_HOW_TO_GET})")


def _print_shares(terminal: Terminal, what: str, shares: Mapping[str, Share]) -> None:
    if shares:
        terminal.text()
        ranked = sorted(shares.items(), key=lambda pair: -pair[1].tokens)
        terminal.table((what, "count", "tokens"), [(name, share.count, share.tokens) for name, share in ranked])


def _print_tools(terminal: Terminal, census: Census) -> None:
    calls, results = census.calls, census.results
    tools = sorted({*calls, *results}, key=lambda tool: -(calls[tool].tokens + results[tool].tokens))
    if tools:
        terminal.text()
        rows = [(t, calls[t].count, calls[t].tokens, results[t].count, results[t].tokens) for t in tools]
        terminal.table(("tool", "calls", "tokens", "results", "tokens"), rows)
