"""The checks of names, types and lengths that both of OpenAI's APIs make, with their error texts."""

import re
from collections.abc import Collection
from typing import Any

from tests.servers.turn import Refused

__all__ = [
    "check_array",
    "check_known",
    "check_length",
    "check_name",
    "check_parameters",
    "check_text",
    "invalid",
]

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_KINDS = {
    str: "a string",
    list: "an array",
    dict: "an object",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
}


def invalid(message: str, param: str | None = None, code: str | None = None, *, status: int = 400) -> Refused:
    return Refused(status, message, type="invalid_request_error", param=param, code=code)


def check_known(value: dict[str, Any], known: Collection[str], at: str = "") -> None:
    for key in value:
        if key not in known:
            path = f"{at}.{key}" if at else key
            raise invalid(f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def check_text(value: dict[str, Any], key: str, at: str) -> str:
    """A required string."""
    path = f"{at}.{key}"
    if key not in value:
        raise invalid(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")
    if not isinstance(value[key], str):
        got = _KINDS.get(type(value[key]), "null")
        raise invalid(f"Invalid type for '{path}': expected a string, but got {got} instead.", path, "invalid_type")
    return value[key]


def check_array(value: Any, at: str, most: int | None = None) -> list[Any]:
    """A list of at least one."""
    if not isinstance(value, list):
        got = _KINDS.get(type(value), "null")
        raise invalid(
            f"Invalid type for '{at}': expected an array of objects, but got {got} instead.", at, "invalid_type"
        )
    if not value:
        raise invalid(
            f"Invalid '{at}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            at,
            "empty_array",
        )
    if most is not None and len(value) > most:
        raise invalid(
            f"Invalid '{at}': array too long. Expected an array with maximum length {most}, but got an array with "
            f"length {len(value)} instead.",
            at,
            "array_above_max_length",
        )
    return value


def check_length(text: str, at: str, most: int) -> None:
    if len(text) > most:
        raise invalid(
            f"Invalid '{at}': string too long. Expected a string with maximum length {most}, but got a string with "
            f"length {len(text)} instead.",
            at,
            "string_above_max_length",
        )


def check_name(value: dict[str, Any], at: str) -> str:
    """The name of a function."""
    name = check_text(value, "name", at)
    check_length(name, f"{at}.name", 64)
    if not _NAME.fullmatch(name):
        raise invalid(
            f"Invalid '{at}.name': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
            f"{at}.name",
            "invalid_value",
        )
    return name


def check_parameters(schema: Any, name: str, at: str) -> None:
    """The schema of a function, where one is given."""
    if schema is not None and (not isinstance(schema, dict) or schema.get("type", "object") != "object"):
        got = schema.get("type") if isinstance(schema, dict) else type(schema).__name__
        raise invalid(
            f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', got "
            f"'type: \"{got}\"'.",
            f"{at}.parameters",
            "invalid_function_parameters",
        )
