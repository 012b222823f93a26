"""Small conversations, written as one line of text."""

from aaa.messages import Message, ToolCall

__all__ = ["talk"]

_ROLES = {"s": "system", "d": "developer", "u": "user", "a": "assistant", "t": "tool"}


def talk(line: str) -> list[Message]:
    """`"s u a:x,y t:x t:y"`: roles by letter; an assistant's calls and the call a tool result answers, by id.

    The text of each message is its role and index, so that no two are equal.
    """
    messages: list[Message] = []
    for index, word in enumerate(line.split()):
        letter, _, ids = word.partition(":")
        role = _ROLES[letter]
        text = f"{role} {index}"
        if letter == "t":
            messages.append(Message(role, text, tool_call_id=ids))
        else:
            calls = tuple(ToolCall(call_id, "look") for call_id in ids.split(",") if call_id)
            messages.append(Message(role, text, calls))
    return messages
