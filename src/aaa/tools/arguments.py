"""The arguments of a call: from the text a model wrote to what the function takes, or why not."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from aaa.tools.failure import ToolFailure
from aaa.tools.signature import Parameter

__all__ = ["Arguments"]

_MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARACTERS = 300


class Arguments:
    """Checks arguments against the model made from `parameters`, whose JSON schema is `schema`."""

    def __init__(self, model: type[BaseModel], parameters: Sequence[Parameter], schema: Mapping[str, Any]) -> None:
        self._model = model
        self._names = [parameter.name for parameter in parameters]
        self._properties: Mapping[str, Any] = schema["properties"]
        self._required: Sequence[str] = schema.get("required", ())

    def read(self, text: str, *, tool: str) -> dict[str, Any]:
        """Keyword arguments for the function, coerced, defaults filled.

        Raises:
            ToolFailure: which parameter is wrong and what was expected; the input is not repeated.
        """
        try:
            checked = self._model.model_validate_json(text if text.strip() else "{}")
        except ValidationError as error:
            raise ToolFailure(self._explain(error, tool), kind="ToolArgumentsError") from error
        return {name: getattr(checked, f"p{index}") for index, name in enumerate(self._names)}

    def _explain(self, error: ValidationError, tool: str) -> str:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [self._problem(item["type"], item["loc"], item["msg"]) for item in found[:_MAX_PROBLEMS]]
        more = f"; and {len(found) - _MAX_PROBLEMS} more" if len(found) > _MAX_PROBLEMS else ""
        return f"the arguments of {tool!r} do not fit: {'; '.join(problems)}{more}. {self._expected()}"

    def _problem(self, kind: str, place: Sequence[int | str], text: str) -> str:
        match kind:
            case "missing":
                text = "it is missing"
            case "extra_forbidden" | "unexpected_keyword_argument":
                text = "there is no such parameter"
            case "json_invalid":
                text = text.replace("Invalid JSON", "they are not valid JSON")
            case "string_unicode":
                text = "they hold half a surrogate pair, which is no text"
            case _:
                text = text.replace("Input should be", "it should be", 1) if place else "they are not a JSON object"
        problem = f"{_path(place)}: {text}" if place else text
        return problem if len(problem) <= _MAX_PROBLEM_CHARACTERS else problem[:_MAX_PROBLEM_CHARACTERS] + "…"

    def _expected(self) -> str:
        """All parameters in a line, so that the next try needs no guess."""
        if not self._properties:
            return "It takes no parameters."
        kinds = (
            f"{name} ({_kind(schema)}{'' if name in self._required else ', optional'})"
            for name, schema in self._properties.items()
        )
        return f"Parameters: {', '.join(kinds)}."


def _path(place: Iterable[int | str]) -> str:
    """`filters[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _kind(schema: Mapping[str, Any]) -> str:
    if choices := schema.get("anyOf"):
        return " or ".join(dict.fromkeys(_kind(choice) for choice in choices))
    reference: str = schema.get("$ref", "")
    return schema.get("type") or reference.rpartition("/")[2] or "any"
