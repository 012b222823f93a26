"""When the Gemini API refuses a conversation: the order of turns, calls without responses, thought signatures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.servers.gemini_fields import check_content, invalid
from tests.servers.turn import Refused

__all__ = ["check_contents"]

Accepts = Callable[[str], bool]


def check_contents(body: Mapping[str, Any], *, needs_signatures: bool, accepts: Accepts) -> None:
    """`accepts` says of a thought signature whether it is one."""
    contents = body.get("contents")
    if not contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n")
    for index, content in enumerate(contents):
        check_content(content, f"contents[{index}]")
    _check_turns(contents)
    _check_signatures(contents, needs_signatures, accepts)


def _parts_of(content: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part[kind] for part in content["parts"] if kind in part]


def _check_turns(contents: Sequence[Mapping[str, Any]]) -> None:
    """Calls come after a user's turn, and the next content answers every one of them, and nothing else does."""
    called: list[dict[str, Any]] = []
    for index, content in enumerate(contents):
        answered = _parts_of(content, "functionResponse")
        if answered and not called:
            raise invalid("Please ensure that function response turn comes immediately after a function call turn.")
        if not _is_answered(called, answered):
            raise _unequal()
        called = _parts_of(content, "functionCall")
        if called and (index == 0 or contents[index - 1].get("role", "user") == "model"):
            raise invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
    if called:
        raise _unequal()
    if contents[0].get("role", "user") == "model":  # refused by the documentation; how it is said is not known
        raise invalid("Please ensure that multiturn requests begin with a user turn.")


def _is_answered(called: Sequence[dict[str, Any]], answered: Sequence[dict[str, Any]]) -> bool:
    """One response for each call, of its name, and of its id where calls have ids."""
    names = sorted(call["name"] for call in called) == sorted(response["name"] for response in answered)
    given = {response["id"] for response in answered if response.get("id")}
    return names and (not given or given == {call.get("id") for call in called})


def _unequal() -> Refused:
    return invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the "
        "function call turn."
    )


def _check_signatures(contents: Sequence[Mapping[str, Any]], needs: bool, accepts: Accepts) -> None:
    for part in (part for content in contents for part in content["parts"]):
        if "thoughtSignature" in part and not accepts(part["thoughtSignature"]):
            raise invalid("Corrupted thought signature.")
    asked = [index for index, content in enumerate(contents) if _is_question(content)]
    for index in range(asked[-1] + 1 if asked else 0, len(contents)) if needs else ():
        first = next((part for part in contents[index]["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            raise invalid(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{first['functionCall']['name']}` , position {index + 1}. Please "
                "refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )


def _is_question(content: Mapping[str, Any]) -> bool:
    """A user's own words, with which the current turn begins."""
    return content.get("role", "user") == "user" and not _parts_of(content, "functionResponse")
