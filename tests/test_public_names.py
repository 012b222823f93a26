"""The public names, pinned: one that appears or goes is a decision, not an accident."""

import aaa.context
import aaa.errors
import aaa.messages
import aaa.runtime


def test_the_names_of_aaa_context():
    assert aaa.context.__all__ == [
        "AdditiveCounter",
        "CalibratedCounter",
        "ClearToolResults",
        "CollapseRepeats",
        "ContextPolicy",
        "DropOldest",
        "Edit",
        "FitterState",
        "Gauge",
        "HeuristicCounter",
        "ModelCounter",
        "Plan",
        "Prepared",
        "PromptFitter",
        "Strategy",
        "Summarize",
        "SummaryBook",
        "SummaryRecord",
        "TiktokenCounter",
        "TokenCounter",
        "Transcript",
        "TruncateToolResults",
        "Work",
        "awaits_results",
        "counter_for",
        "groups",
        "shortened",
        "without_old_thinking",
    ]


def test_the_names_of_aaa_messages():
    assert aaa.messages.__all__ == [
        "EMPTY_DIGEST",
        "Delta",
        "Effects",
        "Handler",
        "Host",
        "LLMClient",
        "LLMRequest",
        "LLMResponse",
        "Message",
        "OpaquePart",
        "Pairer",
        "Pairing",
        "Part",
        "StreamingClient",
        "TextPart",
        "ToolCall",
        "ToolSpec",
        "Usage",
        "chain",
        "digest",
        "pair",
        "with_extra_of",
        "with_text",
        "without_parts",
    ]


def test_the_names_of_aaa_errors():
    assert aaa.errors.__all__ == [
        "AaaError",
        "AuthenticationError",
        "BrokenReplyError",
        "ClientSetupError",
        "ConflictError",
        "ContextError",
        "ContextFloorError",
        "ContextOverflowError",
        "EffectError",
        "InvalidRequestError",
        "NonDeterminismError",
        "OutOfTurnsError",
        "OutputLimitError",
        "ProviderError",
        "RateLimitError",
        "RequestTooLarge",
        "RunError",
        "ServerError",
        "StateError",
        "StoreError",
        "StoreInUseError",
        "SummaryError",
        "SupersededError",
        "ToolArgumentsError",
        "ToolDefinitionError",
        "UnavailableError",
        "UnknownRunError",
        "UnreachableError",
        "WireError",
        "error_data",
        "quoted",
    ]


def test_the_names_of_aaa_runtime():
    assert aaa.runtime.__all__ == [
        "Algorithm",
        "Budget",
        "Dispatcher",
        "Engine",
        "Event",
        "EventStore",
        "LocalDispatcher",
        "MemoryEventStore",
        "Outcome",
        "Run",
        "RunHandle",
        "RunInfo",
        "SQLiteEventStore",
        "drive",
        "event_from_json",
        "event_to_json",
        "prompt_at",
    ]
