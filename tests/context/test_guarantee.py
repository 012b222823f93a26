"""The guarantee: any conversation, any policy, any provider. It fits and is valid, or the error's numbers add up."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaa.context import ContextPolicy, HeuristicCounter, PromptFitter
from aaa.context.conversation import Conversation
from aaa.context.summaries import SummaryBook, SummaryRecord
from aaa.errors import ContextFloorError
from aaa.messages import Message, OpaquePart, TextPart, ToolCall, ToolSpec, pair
from aaa.wire.rules import PROVIDERS, rules_for
from tests.strategies import IMAGE, PolicySpec, conversations, policy_specs, tool_specs

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

LONG = {"rows": [{"id": number, "text": "lorem ipsum " * 4} for number in range(300)]}


@st.composite
def grown(draw):
    """A conversation that ends in a turn that is too large, by its results, its arguments or both."""
    messages = draw(conversations(max_turns=5, max_chars=3000))
    calls = draw(st.integers(1, 4))
    arguments = [
        json.dumps(draw(st.sampled_from(({}, LONG, {"content": "x" * 9000, "mode": 1})))) for _ in range(calls)
    ]
    messages.append(Message("assistant", None, tuple(ToolCall(f"n{n}", "w", a) for n, a in enumerate(arguments))))
    for number in range(calls):
        text = draw(st.sampled_from((json.dumps(LONG), "line\n" * 4000, "ok", json.dumps([LONG]))))
        messages.append(Message("tool", text, (), f"n{number}"))
    return messages


def check_sum(error, budget):
    assert error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens > error.budget_tokens
    assert error.budget_tokens == error.window_tokens - error.reserve_tokens == budget
    assert min(error.head_tokens, error.tools_tokens, error.tail_tokens) >= 0
    assert str(error.needed_tokens)[-3:] in str(error)


@given(grown(), tool_specs(), policy_specs(), st.sampled_from((None, *PROVIDERS)))
def test_a_prompt_fits_and_is_valid_or_the_numbers_of_the_error_add_up(messages, tools, spec, provider):
    policy = spec.build()
    fitter = PromptFitter(policy)
    budget = spec.window - spec.reserve
    try:
        prompt = fitter.fit_sync(messages, tools=tools, provider=provider)
    except ContextFloorError as error:
        check_sum(error, budget)
        return
    measure = policy.measure(tools, provider=provider)
    raw = sum(map(measure.message, prompt.messages)) if measure.is_additive else 0
    assert measure.size(measure.total(raw, prompt.messages)) == prompt.plan.tokens_after <= budget
    assert provider is None or rules_for(provider).violations(prompt.messages) == []
    assert prompt.plan.apply(messages) == list(prompt.messages)


@given(grown(), policy_specs(strategies=("summarize", "drop")), st.sampled_from(PROVIDERS))
def test_arguments_stay_objects_and_json_that_the_floor_cuts_stays_json(messages, spec, provider):
    fitter = PromptFitter(spec.build())
    try:
        prompt = fitter.fit_sync(messages, provider=provider)
    except ContextFloorError:
        return
    given_calls = {(c.id, c.name): c for m in messages for c in m.tool_calls if c.id[:1] == "n"}
    for edit in prompt.plan.edits:
        if edit.action != "replace" or edit.strategy != "floor":
            continue
        for call in edit.replacement.tool_calls:
            if (call.id, call.name) in given_calls:
                assert list(call.arguments) == list(given_calls[call.id, call.name].arguments)
        original = messages[edit.index]
        if original.role == "tool" and original.text[:1] in "{[" and "removed to save" not in edit.replacement.text:
            assert type(json.loads(edit.replacement.text)) is type(json.loads(original.text))


@given(grown(), policy_specs(sticky=True), st.sampled_from(PROVIDERS))
def test_a_sticky_prompt_of_any_provider_can_be_saved_and_gone_on_with(messages, spec, provider):
    fitter = PromptFitter(spec.build())
    for length in (len(messages) // 2, len(messages)):
        try:
            prompt = fitter.fit_sync(messages[:length], provider=provider)
        except ContextFloorError as error:
            check_sum(error, spec.window - spec.reserve)
            continue
        assert rules_for(provider).violations(prompt.messages) == []


@pytest.mark.parametrize(
    ("window", "reserve"),
    [(300, 0), (1300, 1000), (250, 100)],
)
def test_what_can_never_fit_is_refused_on_the_first_call_with_all_sizes(window, reserve):
    tools = [ToolSpec("read", "d" * 350)]
    policy = ContextPolicy(window, reserve_output=reserve, counter=HeuristicCounter())
    with pytest.raises(ContextFloorError) as caught:
        PromptFitter(policy).fit_sync([Message("system", "s" * 700), Message("user", "hi")], tools=tools)
    error = caught.value
    check_sum(error, window - reserve)
    assert (error.reserve_tokens, error.tail_tokens) == (reserve, 0)
    assert error.tools_tokens > 100
    assert error.head_tokens > 200
    assert error.largest[0][:2] == (0, "system")


def test_a_picture_in_the_head_counts_before_the_first_call():
    policy = ContextPolicy(90, reserve_output=0, counter=HeuristicCounter())
    with pytest.raises(ContextFloorError) as caught:
        PromptFitter(policy).fit_sync([Message("user", (IMAGE,)), Message("user", "t")])
    assert (caught.value.head_tokens, caught.value.tail_tokens) == (89, 5)


def test_there_is_one_warning_where_head_and_tools_stand_above_the_trigger(caplog):
    policy = ContextPolicy(300, reserve_output=0, counter=HeuristicCounter())
    fitter = PromptFitter(policy)
    for text in "abc":
        fitter.fit_sync([Message("user", "t" * 930), Message("assistant", text)])
    assert [record.getMessage().split()[4] for record in caplog.records] == ["270"]


def test_what_stood_beside_a_summary_and_is_dropped_later_is_told_of():
    """A call under way is left out of the summary; once it is answered it may go, and the marker counts it."""
    brief = {"strategies": ("summarize",), "keep_tokens_ratio": 0.0, "chunk_tokens": 1, "counter": "fine"}
    policy = PolicySpec(window=200, trigger=0.1, target=0.1, keep_recent=0, **brief).build()
    fitter, measure = PromptFitter(policy), policy.measure()
    messages = [
        Message("assistant", None, (ToolCall("", "read", "not json {"),)),
        Message("assistant", None, (ToolCall("a", "read"),)),
        Message("user", (TextPart("two"), IMAGE)),
        Message("tool", None, tool_call_id=""),
    ]
    for length in (1, 2, 3, 4):
        prompt = fitter.fit_sync(messages[:length], provider="alibaba")
    assert sum(map(measure.message, prompt.messages)) == prompt.plan.tokens_after
    assert [edit.index for edit in prompt.plan.edits if edit.action == "drop"] == [1, 3]


def test_a_marker_tells_of_nothing_that_a_later_summary_covers():
    """The result of a call that was summarised comes late and is dropped; the next summary covers its place."""
    brief = {"strategies": ("truncate", "clear", "summarize"), "keep_tokens_ratio": 0.0, "chunk_tokens": 1}
    policy = PolicySpec(window=200, trigger=0.1, target=0.1, keep_recent=1, max_chars=1, keep_last=1, **brief).build()
    fitter, measure = PromptFitter(policy), policy.measure()
    calls = [ToolCall(f"c{number}", "read") for number in range(1, 7)]
    messages = [
        Message("user", ""),
        Message("assistant", None, tuple(calls[:4])),
        *(Message("tool", "", tool_call_id=call.id) for call in calls[1:4]),
        Message("assistant", None),
        Message("assistant", None, tuple(calls[4:])),
        Message("tool", "", tool_call_id="c5"),
        Message("tool", (IMAGE, IMAGE), tool_call_id="c6"),
        Message("tool", "", tool_call_id="c1"),
    ]
    for length in range(1, len(messages) + 1):
        prompt = fitter.fit_sync(messages[:length], provider="alibaba")
    assert [edit.action for edit in prompt.plan.edits] == ["summarize"]
    assert sum(map(measure.message, prompt.messages)) == prompt.plan.tokens_after


def test_a_marker_parts_no_second_result_from_its_call_where_a_result_of_no_call_stands_between():
    """The first call is summarised, so its result is left out: the marker waits for all results in that row."""
    first, second = (Message("assistant", None, (ToolCall("a", "read", f"[{number}]"),)) for number in range(2))
    results = [
        Message("tool", text, tool_call_id=call) for text, call in (("1", "a"), ("2", "a"), ("3", "b"), ("4", "a"))
    ]
    policy = ContextPolicy(1_000, reserve_output=0)
    transcript = policy.transcript_of(Conversation([first, second, *results]), policy.measure())
    book = SummaryBook([SummaryRecord(1, transcript.digest(1), "read it")])
    messages = asyncio.run(policy.prepare([first, second, *results], book=book)).messages
    assert [message.kind or message.text for message in messages] == ["summary", "", "1", "3", "4", "marker"]
    assert pair(messages).orphans == (3,)


def test_repairs_are_those_of_the_prompt_that_the_edits_make():
    """With earlier drops that no marker tells of, the marker of later ones stands before instructions in between."""
    settings = {"reserve_output": 50, "trigger": 0.1, "target": 0.1, "keep_recent": 0, "strategies": [], "sticky": True}
    fitter = PromptFitter(ContextPolicy(325, counter=HeuristicCounter(), **settings))
    messages = [Message("system", "x" * 400), Message("assistant", ""), Message("system", "x" * 400)]
    for name, text in (("a", ""), ("b", ""), ("c", "aaaa")):
        messages += [Message("assistant", None, (ToolCall(name, "read"),)), Message("tool", text, tool_call_id=name)]
    for length in range(1, len(messages) + 1):
        try:
            prompt = fitter.fit_sync(messages[:length], provider="gemini")
        except ContextFloorError:
            continue
        assert HeuristicCounter().count(prompt.messages) == prompt.plan.tokens_after <= 275
        assert [found for found in rules_for("gemini").violations(prompt.messages) if found.is_repairable] == []


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [
        ("openai", None, 85 + 170 * 8),
        ("anthropic", None, 1600),
        ("anthropic", "claude-opus-4-7", 4784),
        (None, None, 1600),
    ],
)
def test_media_are_counted_for_the_provider_and_the_model_that_they_are_sent_to(provider, model, tokens):
    """The policy need not know the provider: a fitter may be asked for one after the other."""
    picture = OpaquePart("image_url", '{"type":"image_url","image_url":{"url":"https://example.org/shot.png"}}')
    fitter = PromptFitter(ContextPolicy(10_000, reserve_output=0, counter=HeuristicCounter()))
    fitter.fit_sync([Message("user", (picture,))], provider="gemini")
    fitter.record(500)
    prompt = fitter.fit_sync([Message("user", (picture,))], provider=provider, model=model)
    assert prompt.plan.tokens_after == tokens + 4


def _loop_after_a_second_request(turns):
    yield from (Message("user", "Write a poem."), Message("assistant", "p" * 400), Message("user", "Now sum column 3."))
    for number in range(turns):
        yield Message("assistant", None, (ToolCall(f"c{number}", "lookup"),))
        yield Message("tool", "o" * 80, tool_call_id=f"c{number}")


@pytest.mark.parametrize("sticky", [False, True])
@pytest.mark.parametrize("keep_recent", [0, 1, 3])
def test_what_is_worked_on_stays_however_long_the_row_of_calls_is(sticky, keep_recent):
    policy = ContextPolicy(150, reserve_output=0, counter=HeuristicCounter(), sticky=sticky, keep_recent=keep_recent)
    prompt = PromptFitter(policy).fit_sync(list(_loop_after_a_second_request(8)))
    assert "Now sum column 3." in [message.text for message in prompt.messages]
    assert prompt.plan.tokens_after <= 150


def test_what_is_worked_on_stays_where_the_newest_groups_are_too_large():
    """It is among the newest groups itself, and the floor takes these away."""
    messages = [*_loop_after_a_second_request(1), *list(_loop_after_a_second_request(3))[5:]]
    messages[4] = Message("tool", "o" * 3_000, tool_call_id="c0")
    policy = ContextPolicy(120, reserve_output=0, counter=HeuristicCounter(), keep_recent=6)
    prompt = PromptFitter(policy).fit_sync(messages)
    assert "Now sum column 3." in [message.text for message in prompt.messages]


def test_a_request_that_leaves_no_room_for_work_goes_last():
    messages = list(_loop_after_a_second_request(6))
    messages[2] = Message("user", "Now this: " + "w" * 2_000)
    prompt = PromptFitter(ContextPolicy(300, reserve_output=0, counter=HeuristicCounter())).fit_sync(messages)
    assert prompt.messages[2].kind == "marker" or prompt.messages[1].kind == "marker"
    assert not any("w" * 2_000 in message.text for message in prompt.messages)
