"""The figures of the guide's run, call by call."""

import asyncio

from aaa.context import ContextPolicy, HeuristicCounter, PromptFitter, SummaryBook
from tests.context.guide import LOOKUP, WINDOW, ScriptedSummarizer, conversation, sizes_and_reports, turn

START = [68, 612, 1156, 1700, 2244, 2788, 3332]
RECOMPUTED = [
    *START,
    *[2349, 2384, 1731, 2275, 2819, 3363, 2380],
    *[1731, 2275, 2819, 3363, 2380] * 2,
    *[1731, 2275],
]
STICKY = [
    *START,
    *[2349, 2893, 1731, 2275, 2819, 3363, 2380, 2924],
    *[1731, 2275, 2819, 3363, 2380, 2924],
    *[1731, 2275, 2819, 3363, 2380],
]


def names(report):
    return [name.split("(")[0] for name in report["applied"]]


def policy(**settings):
    return ContextPolicy(WINDOW, reserve_output=0, summarizer=ScriptedSummarizer(), **settings)


def run_recomputed():
    settings, book = policy(), SummaryBook()
    return asyncio.run(sizes_and_reports(lambda m: settings.prepare(m, tools=[LOOKUP], book=book)))


def test_a_message_and_the_tools_weigh_what_the_guide_says():
    counter = HeuristicCounter()
    call, result = turn(1)
    assert counter.count((), [LOOKUP]) == 58
    assert counter.count([call]) == 4 + 8 + 8
    assert counter.count([result]) == 4 + 520
    assert counter.count(conversation(25), [LOOKUP]) == 13_668


def test_recomputed_requests_have_the_sizes_of_the_guide():
    sizes, _, _ = run_recomputed()
    assert sizes == RECOMPUTED


def test_recomputed_reports_name_what_was_applied():
    _, reports, prepared = run_recomputed()
    used = [names(report) for report in reports if report]
    clear, stored, summarize = "clear_tool_results", "stored_summary", "summarize"
    cycle = [[stored], [stored], [stored], [stored, clear], [stored, clear, summarize]]
    assert used == [[clear], [clear], [clear, summarize], *cycle * 3, [stored]]
    assert sum(len(p.new_summaries) for p in prepared) == 4


def test_a_fitter_without_stickiness_gives_the_same_sizes():
    fitter = PromptFitter(policy())
    sizes, _, _ = asyncio.run(sizes_and_reports(lambda m: fitter.fit(m, tools=[LOOKUP])))
    assert sizes == RECOMPUTED


def test_sticky_requests_have_their_own_sizes_with_fewer_edits():
    fitter = PromptFitter(policy(sticky=True))
    sizes, reports, prepared = asyncio.run(sizes_and_reports(lambda m: fitter.fit(m, tools=[LOOKUP])))
    assert sizes == STICKY
    assert sum(bool(report and report["applied"]) for report in reports) == 7
    assert sum(len(p.new_summaries) for p in prepared) == 3


def test_sticky_edits_are_kept_in_a_book_too():
    settings, book = policy(sticky=True), SummaryBook()
    sizes, _, _ = asyncio.run(sizes_and_reports(lambda m: settings.prepare(m, tools=[LOOKUP], book=book)))
    assert sizes == STICKY
