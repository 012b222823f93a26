"""Checks on what a prompt says."""

from collections.abc import Mapping
from typing import Any

from aaa.context.summaries import is_summary
from tests.cases.checks.pieces import briefly, has, leaves, pieces, summary_texts
from tests.cases.checks.registry import check
from tests.cases.found import Found

Expected = Mapping[str, Any]


@check("keeps")
def keeps(found: Found, expected: Expected) -> str | None:
    is_part = bool(expected.get("part"))
    said = [*pieces(found.prompt), *leaves(found.format.body(found.prompt))]
    missing = [text for text in _texts(expected) if not has(said, text, part=is_part)]
    return f"{briefly(missing[0])!r} is not in the prompt" if missing else None


def _texts(expected: Expected) -> list[str]:
    return [expected["text"]] if "text" in expected else list(expected["texts"])


@check("keeps_or_summarised")
def keeps_or_summarised(found: Found, expected: Expected) -> str | None:
    return None if has(pieces(found.prompt), expected["text"], part=True) else "neither in the prompt nor summarised"


@check("drops", "drops_part")
def drops(found: Found, expected: Expected) -> str | None:
    said = [*pieces(found.prompt), *leaves(found.format.body(found.prompt))]
    left = [text for text in _texts(expected) if has(said, text, part=True)]
    return f"{briefly(left[0])!r} is in the prompt" if left else None


@check("once")
def once(found: Found, expected: Expected) -> str | None:
    count = sum(piece.count(expected["text"]) for piece in pieces(found.prompt))
    return None if count == 1 else f"found {count} times"


@check("order")
def order(found: Found, expected: Expected) -> str | None:
    texts = expected["texts"]
    if "log" in found.facts and "messages" not in found.case:
        return _in_order(found.facts["log"], texts)
    problem = _in_order(pieces(found.prompt), texts)
    return problem and _in_order(summary_texts(found), texts)


def _in_order(pieces_: list[str], texts: list[str]) -> str | None:
    start, inside = 0, 0
    for text in texts:
        place = next((i for i in range(start, len(pieces_)) if pieces_[i] == text), None)
        place = next((i for i in range(start, len(pieces_)) if text in pieces_[i]), None) if place is None else place
        if place is None:
            return f"{briefly(text)!r} is not found in its place"
        inside = pieces_[place].find(text) if place == start else 0
        start = place
    del inside
    return None


@check("system_intact")
def system_intact(found: Found, expected: Expected) -> str | None:
    before = [message.text for message in found.before if message.is_system]
    head = [message.text for message in found.prompt[: len(before)]]
    return None if head == before else f"the first texts are {briefly(head)}"


@check("last_user_is")
def last_user_is(found: Found, expected: Expected) -> str | None:
    users = [message for message in found.prompt if message.role == "user" and message.kind is None]
    last = users[-1].text if users else None
    return None if last == expected["text"] else f"the last user text is {briefly(last)}"


@check("drops_role_text")
def drops_role_text(found: Found, expected: Expected) -> str | None:
    same = [m for m in found.prompt if m.role == expected["role"] and m.text == expected["text"]]
    return "a message equals it" if same else None


@check("labelled")
def labelled(found: Found, expected: Expected) -> str | None:
    """A summary says in its own text that it is a record and not orders."""
    summaries = [message for message in found.prompt if is_summary(message)]
    if not summaries:
        return "there is no summary"
    wrong = [m.text for m in summaries if "not orders" not in m.text or m.text.count("</record>") != 1]
    return f"not fenced: {briefly(wrong[0])}" if wrong else None


@check("summary_request_has")
def summary_request_has(found: Found, expected: Expected) -> str | None:
    sent = summary_texts(found)
    if not sent:
        return "no summary was asked for"
    for text in expected.get("texts", ()):
        if not any(text in request for request in sent):
            return f"{briefly(text)!r} is in no summary request"
    if "texts" not in expected and not all("never turn the content" in request for request in sent):
        return "a request does not say that what it holds is data"
    return None


@check("well_formed_unicode")
def well_formed_unicode(found: Found, expected: Expected) -> str | None:
    for text in found.facts.get("texts") or pieces(found.prompt):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"a lone surrogate at {error.start}"
        if "texts" in found.facts and text.endswith("\ufffd"):
            return "a replacement character at the end"
    return None


@check("exact_texts")
def exact_texts(found: Found, expected: Expected) -> str | None:
    counts = [text.count("🎉") for text in found.facts["texts"]]
    whole = all(set(text) <= {"🎉"} for text in found.facts["texts"])
    return None if whole and counts == expected["emoji"] else f"found {counts}"


@check("marker")
def marker(found: Found, expected: Expected) -> str | None:
    """A visible note in a text that was cut, with the amount left out, and something of both ends around it."""
    originals = {message.text for message in found.before} | {found.case.get("result")}
    cut = [message for message in found.prompt if message.text not in originals]
    notes = [m.text for m in cut if " cut " in m.text or "left out" in m.text]
    if not notes:
        return "no shortened text has a note"
    if not any(any(character.isdigit() for character in note[note.find("[...") :][:60]) for note in notes):
        return "the note does not say how much"
    return None


@check("no_duplicates")
def no_duplicates(found: Found, expected: Expected) -> str | None:
    listed = [name for record in found.facts["records"][-1:] for name in record.identifiers]
    return None if len(listed) == len(set(listed)) else "a name is listed twice"


@check("bounded")
def bounded(found: Found, expected: Expected) -> str | None:
    longest = max(len(" | ".join(record.identifiers)) for record in found.facts["records"])
    return None if longest <= expected["at_most_chars"] else f"{longest} characters"


@check("modified_first")
def modified_first(found: Found, expected: Expected) -> str | None:
    paths = [name for name in found.facts["records"][-1].identifiers if name.startswith("src/")]
    kinds = ["/w" in path for path in paths]
    if not any(kinds):
        return "no modified file is listed"
    return None if kinds == sorted(kinds, reverse=True) else f"a file only read comes before one modified: {paths[:5]}"


@check("names")
def names(found: Found, expected: Expected) -> str | None:
    named = f"[{expected['index']}]" in str(found.error)
    return None if named else f"the error names no message {expected['index']}: {briefly(str(found.error))}"
