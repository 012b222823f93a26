"""The edits of one call, as rows to print and as data."""

from aaa.cli.fitting import Fitted
from aaa.context import Edit
from aaa.messages import Message

__all__ = ["edit_dicts", "edit_rows"]


def edit_dicts(fitted: Fitted) -> list[dict[str, object]]:
    """The edits of the last call; indices are those of the conversation, `stop` is one behind the last."""
    messages = fitted.conversation.messages
    return [
        {
            "index": edit.index,
            "stop": edit.stop if edit.action == "summarize" else edit.index + 1,
            "role": _role(edit, messages),
            "action": edit.action,
            "strategy": edit.strategy,
            "tokens_before": edit.tokens_before,
            "tokens_after": edit.tokens_after,
        }
        for edit in _edits(fitted)
    ]


def edit_rows(fitted: Fitted) -> list[tuple[str | int, ...]]:
    """The same as rows: item or range, role, action, strategy, tokens before, tokens after."""
    messages = fitted.conversation.messages
    return [
        (_items(edit), _role(edit, messages), edit.action, edit.strategy, edit.tokens_before, edit.tokens_after)
        for edit in _edits(fitted)
    ]


def _edits(fitted: Fitted) -> tuple[Edit, ...]:
    return fitted.last.plan.edits if fitted.last and fitted.last.plan else ()


def _items(edit: Edit) -> str:
    match edit.action:
        case "summarize":
            return f"{edit.index}-{edit.stop - 1}"
        case "insert":
            return f"after {edit.index}" if edit.index >= 0 else "first"
        case _:
            return str(edit.index)


def _role(edit: Edit, messages: list[Message]) -> str:
    """The role of the message that is changed, or of the one that is put in."""
    if edit.action in ("insert", "summarize") and edit.replacement is not None:
        return edit.replacement.role
    return messages[edit.index].role
