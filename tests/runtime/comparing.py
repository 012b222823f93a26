"""How a run that was interrupted compares with one that was not; both as `programs/crashing.py` describes them."""

from collections import Counter

__all__ = ["problems_of", "problems_of_the_log"]


def keys(log: list, *endings: str) -> Counter:
    """How often each (type without its ending, key) has an event with one of these endings."""
    found = (event[2].rpartition(".") for event in log if event[3] is not None)
    pairs = zip(found, (event[3] for event in log if event[3] is not None), strict=True)
    return Counter((kind, key) for (kind, _, ending), key in pairs if ending in endings)


def problems_of_the_log(log: list) -> list[str]:
    """What is wrong with a log by itself."""
    requested, ended = keys(log, "requested"), keys(log, "completed", "failed")
    checks = {
        "seq is not contiguous from 1": [event[0] for event in log] == list(range(1, len(log) + 1)),
        "an event id occurs twice": len({event[1] for event in log}) == len(log),
        "an effect was requested twice": set(requested.values()) <= {1},
        "an effect ended twice": set(ended.values()) <= {1},
        "not every request has its end": requested == ended,
        "the run does not end with its end": [event[2] for event in log].index("aaa.run.completed") == len(log) - 1,
    }
    return [problem for problem, holds in checks.items() if not holds]


def problems_of(crash: dict, whole: dict) -> list[str]:
    """How the run that was interrupted differs from the one that was not."""
    before = crash["before"]
    calls = keys(before, "completed")
    replies = sum(count for (kind, _), count in calls.items() if kind == "aaa.llm")
    summaries = sum(event[2] == "aaa.context.summary" for event in before)
    did = {place: [key for by, key in crash["second"] if by == place] for place in ("tool", "model", "summary")}
    whole_did = {place: [key for by, key in whole["first"] if by == place] for place in ("tool", "model", "summary")}
    recorded_tools = {f"run:{key}" for kind, key in calls if kind == "aaa.tool"}
    checks = {
        "the outcome is another": crash["outcome"] == whole["outcome"],
        "what was spent is another": crash["log"][-1][4] == whole["log"][-1][4],
        "the log holds other effects": keys(crash["log"], "requested") == keys(whole["log"], "requested"),
        "the log does not go on from what it was": crash["log"][: len(before)] == before,
        "later prompts are others, or a recorded call was made again": did["model"] == whole_did["model"][replies:],
        "a recorded summary was made again": did["summary"] == whole_did["summary"][summaries:],
        "other tools ran than were left": sorted(did["tool"]) == sorted(set(whole_did["tool"]) - recorded_tools),
        "the client saw other prompts": crash["prompts"] == whole["prompts"][replies:],
    }
    return [problem for problem, holds in checks.items() if not holds] + problems_of_the_log(crash["log"])
