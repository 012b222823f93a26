"""Conversations in plain dicts, and what makes new ones of them."""

import json

from hypothesis import strategies as st

from tests.strategies import as_dicts, conversations

__all__ = ["any_messages", "assistant", "call", "result", "specified_text", "subsequence_of", "system", "turns", "user"]


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def system(content):
    return {"role": "system", "content": content}


def call(*ids, name="read", arguments="{}", content=None):
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id, content="done"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def turns(count, chars=400):
    """A task and `count` calls with their results."""
    return [user("read everything"), *(m for n in range(count) for m in (call(f"c{n}"), result(f"c{n}", "x" * chars)))]


def any_messages(**settings):
    """Any conversation as dicts, each an object of its own, with what no provider sees here and there."""
    inert = st.sampled_from(({}, {}, {}, {"timestamp": 1.5}, {"thinking": "hm " * 200}, {"provenance": {"a": [None]}}))
    dicts = conversations(pinned=False, **settings).flatmap(as_dicts)
    return dicts.flatmap(
        lambda found: st.tuples(*[inert.map(lambda keys, m=m: {**m, **keys}) for m in found]).map(list)
    )


def subsequence_of(part, whole):
    """Whether `part` are objects of `whole`, in its order."""
    rest = iter(whole)
    return all(any(item is other for other in rest) for item in part)


def specified_text(messages):
    """The text that the estimate is made from, by the letter of the specification."""
    inert = ("timestamp", "thinking", "provenance")
    kept = [{key: value for key, value in message.items() if key not in inert} for message in messages]
    return "\n".join(json.dumps(message, sort_keys=True) for message in kept)
