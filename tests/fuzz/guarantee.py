"""What must hold of every prompt: it fits, is valid, tells of all the user said; or is an error that adds up."""

from collections.abc import Sequence
from typing import Any

from aaa.context import ContextPolicy, Prepared, PromptFitter
from aaa.context.counters import CalibratedCounter
from aaa.errors import ContextFloorError
from aaa.messages import Message
from aaa.wire.rules import rules_for
from tests.wire.rules.checks import letters

__all__ = ["check_each_prompt"]


def check_each_prompt(
    policy: ContextPolicy,
    messages: Sequence[Message],
    provider: str,
    model: str | None,
    reports: Sequence[int | None],
    max_bytes: int | None = None,
) -> tuple[int, int]:
    """Grow the conversation message by message, and check each prompt; how many there were, and how many errors."""
    fitter, prompts, errors = PromptFitter(policy), 0, 0
    fitter.learn_max_bytes(model, max_bytes or 0)
    for length in range(1, len(messages) + 1):
        given = list(messages[:length])
        before = list(given)
        is_estimate_alone = fitter.state.anchor is None and not isinstance(policy.counter, CalibratedCounter)
        try:
            prompt = fitter.fit_sync(given, model=model, provider=provider)
        except ContextFloorError as error:
            check_error(error)
            errors += 1
        else:
            check_prompt(fitter, prompt, before, provider, model)
            if is_estimate_alone:
                check_count(policy, prompt, provider, model)
            prompts += 1
        assert given == before, "the caller's list was changed"
        if reports:
            fitter.record(reports[length % len(reports)])
    return prompts, errors


def check_error(error: ContextFloorError) -> None:
    """The numbers of a refusal add up."""
    assert error.head_tokens + error.tools_tokens + error.tail_tokens == error.needed_tokens
    assert error.budget_tokens == error.window_tokens - error.reserve_tokens
    assert error.needed_tokens > error.budget_tokens


def check_prompt(
    fitter: PromptFitter, prompt: Prepared[Message], given: Sequence[Message], provider: str, model: str | None
) -> None:
    """One prompt keeps every promise."""
    plan = prompt.plan
    assert plan is not None
    settings = fitter.policy.settings(model)
    assert plan.tokens_after <= settings.budget_tokens, (plan.tokens_after, settings.budget_tokens)
    violations = rules_for(provider, model).violations(prompt.messages)
    assert [violation for violation in violations if violation.is_repairable] == []
    assert plan.apply(given) == list(prompt.messages)
    check_words(plan, prompt.messages, given)


def check_count(policy: ContextPolicy, prompt: Prepared[Message], provider: str, model: str | None) -> None:
    """Where nothing was reported, a prompt is counted as what it is."""
    assert prompt.plan is not None
    measure = policy.measure(model=model, provider=provider)
    counted = measure.size(measure.total(sum(map(measure.message, prompt.messages)), prompt.messages))
    assert counted == prompt.plan.tokens_after, (counted, prompt.plan.tokens_after)


def check_words(plan: Any, sent: Sequence[Message], given: Sequence[Message]) -> None:
    """What the user and the program said is there, or an edit tells that it is not."""
    edited = {index for edit in plan.edits for index in _span(edit)}
    whole = _letters(sent)
    for index, message in enumerate(given):
        if message.role in ("user", "system", "developer") and message.kind is None and index not in edited:
            assert _letters([message]) in whole, f"words of message {index} ({message.role}) are gone without an edit"


def _letters(messages: Sequence[Message]) -> str:
    """Everything but white space, half characters as what stands for them."""
    return letters(messages, *{message.role for message in messages})


def _span(edit: Any) -> range:
    if edit.action == "summarize":
        return range(max(edit.index, 0), edit.stop)
    return range(edit.index, max(edit.stop or 0, edit.index + 1)) if edit.index >= 0 else range(0)
