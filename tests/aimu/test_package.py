"""The package: its names, and how little it loads."""

import inspect
import subprocess
import sys

import pytest

import aimu
import aimu.agents
import aimu.context
import aimu.events


def test_the_names_of_aimu():
    assert aimu.__all__ == [
        "ContextCompacted",
        "Fitter",
        "check_messages",
        "clear_tool_results",
        "client",
        "count_tokens",
        "fit_messages",
        "repair_messages",
        "summarize_messages",
        "trim_messages",
        "truncate_tool_results",
    ]
    assert aimu.ContextCompacted is aimu.events.ContextCompacted
    assert aimu.trim_messages is aimu.context.trim_messages


def test_the_names_of_aimu_agents():
    assert aimu.agents.__all__ == [
        "Agent",
        "AgentModelClient",
        "Compaction",
        "EventSink",
        "ModelClient",
        "TruncatedTurnError",
    ]


def signature(function):
    """Name → (default, is keyword-only)."""
    empty, keyword_only = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    found = inspect.signature(function).parameters
    return {name: (... if p.default is empty else p.default, p.kind is keyword_only) for name, p in found.items()}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (aimu.count_tokens, {"messages": (..., False), "counter": (None, True)}),
        (
            aimu.trim_messages,
            {
                "messages": (..., False),
                "max_tokens": (..., False),
                "keep_system": (True, True),
                "keep_last": (2, True),
                "counter": (None, True),
            },
        ),
        (
            aimu.summarize_messages,
            {
                "client": (..., False),
                "messages": (..., False),
                "keep_last": (2, True),
                "prompt": (None, True),
                "chunk_tokens": (24_000, True),
            },
        ),
        (
            aimu.agents.Agent,
            {
                "client": (..., False),
                "system_message": (None, False),
                "name": (None, True),
                "tools": ((), True),
                "max_iterations": (10, True),
                "compaction": (None, True),
                "events": (None, True),
            },
        ),
    ],
)
def test_parameters_and_defaults(function, expected):
    assert signature(function) == expected


def test_an_import_loads_no_models_no_tools_and_nothing_of_others_but_msgspec():
    code = "import sys, aimu\nprint(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = run.stdout.split()
    assert [name for name in loaded if name.startswith(("aimu.agents", "aimu.models", "aaa.llm", "aaa.tools"))] == []
    assert "pydantic" not in loaded


def test_agents_are_loaded_when_they_are_asked_for():
    code = "import aimu\nprint(aimu.agents.Agent.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == "Agent\n"


def test_a_name_that_is_none_is_refused():
    with pytest.raises(AttributeError, match="module 'aimu' has no attribute 'nothing'"):
        aimu.nothing  # noqa: B018


def test_an_event_is_data_and_cannot_be_changed():
    event = aimu.ContextCompacted(100, 50, 2, "ada")
    assert event == aimu.events.ContextCompacted(before_tokens=100, after_tokens=50, dropped=2, agent="ada")
    with pytest.raises(AttributeError):
        event.dropped = 3
