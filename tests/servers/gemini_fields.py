"""When the Gemini API refuses the fields of a body: unknown names, wrong types, tools, schemas.

Bodies are protobuf JSON: every field may be written in camelCase or snake_case, and none may be unknown.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from tests.servers.turn import Refused

__all__ = ["camel", "check_body", "check_content", "invalid"]

_TOP = {
    "cachedContent",
    "contents",
    "generationConfig",
    "continuationToken",
    "labels",
    "model",
    "safetySettings",
    "serviceTier",
    "store",
    "systemInstruction",
    "toolConfig",
    "tools",
}
_DATA = {
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
}
_PART = _DATA | {
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "mediaProcessing",
    "audioMetadata",
}
_CALL = {"id", "name", "args", "partialArgs", "willContinue"}
_RESPONSE = {"id", "name", "response", "parts", "scheduling", "willContinue"}
_DECLARATION = {
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
}
_SCHEMA = {
    "additionalProperties",
    "anyOf",
    "default",
    "defs",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "ref",
    "required",
    "title",
    "type",
}
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_MOST_DECLARATIONS = 128
_FREE = {"args", "response", "parametersJsonSchema", "responseJsonSchema", "responseSchema", "properties", "default"}
_LISTS = ("contents", "parts", "tools")
_STRUCT = "(type.googleapis.com/google.protobuf.Struct)"


def invalid(message: str) -> Refused:
    return Refused(400, message, status="INVALID_ARGUMENT")


def camel(value: Any) -> Any:
    """The body as protobuf reads it: fields in camelCase, a list where one value stood for it.

    What users name themselves stays as it is.
    """
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): inner for key, inner in value.items()}
    read = {key: inner if key in _FREE else camel(inner) for key, inner in named.items()}
    return {key: [inner] if key in _LISTS and isinstance(inner, dict) else inner for key, inner in read.items()}


def _check_known(value: Any, known: Collection[str], at: str) -> None:
    for key in value if isinstance(value, dict) else ():
        if key not in known:
            where = f" at '{at}'" if at else ""
            raise invalid(f'Invalid JSON payload received. Unknown name "{key}"{where}: Cannot find field.')


def check_body(body: Mapping[str, Any]) -> None:
    """Everything but the conversation."""
    _check_known(body, _TOP, "")
    if body.get("cachedContent") and (body.get("tools") or body.get("systemInstruction") or body.get("toolConfig")):
        raise invalid(
            "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
            "tool_config."
        )
    if "systemInstruction" in body:
        check_content(body["systemInstruction"], "system_instruction")
    names: set[str] = set()
    for index, tool in enumerate(body.get("tools") or ()):
        for number, declaration in enumerate(tool.get("functionDeclarations") or ()):
            _check_declaration(declaration, f"tools[{index}].function_declarations[{number}]", names)
    if len(names) > _MOST_DECLARATIONS:
        raise invalid(f"The number of function declarations ({len(names)}) exceeds the limit of {_MOST_DECLARATIONS}.")


def _check_declaration(declaration: Mapping[str, Any], at: str, names: set[str]) -> None:
    _check_known(declaration, _DECLARATION, at)
    name = str(declaration.get("name", ""))
    if not _NAME.fullmatch(name):
        raise invalid(
            f"* GenerateContentRequest.{at}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or "
            "an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes "
            "(-), with a maximum length of 128.\n"
        )
    if name in names:
        raise invalid(f"Duplicate function declaration found: {name}")
    names.add(name)
    if "parameters" in declaration:
        _check_schema(declaration["parameters"], f"{at}.parameters")


def _check_schema(schema: Any, at: str) -> None:
    """A schema in Google's own dialect; `parametersJsonSchema` takes any."""
    _check_known(schema, _SCHEMA, at)
    for number, inner in enumerate((schema.get("properties") or {}).values()):
        _check_schema(camel(inner), f"{at}.properties[{number}].value")
    if isinstance(schema.get("items"), dict):
        _check_schema(schema["items"], f"{at}.items")


def check_content(content: Any, at: str) -> None:
    _check_known(content, {"role", "parts"}, at)
    if content.get("role", "user") not in ("user", "model", "function"):
        raise invalid("Please use a valid role: user, model.")
    if not content.get("parts"):
        raise invalid(f"* GenerateContentRequest.{at}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(content["parts"]):
        _check_part(part, f"{at}.parts[{number}]")


def _check_part(part: Any, at: str) -> None:
    _check_known(part, _PART, at)
    if not _DATA & set(part):
        raise invalid(
            f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one initialized field\n"
        )
    if len(_DATA & set(part)) > 1:
        raise invalid(f"Invalid value at '{at}' (oneof), oneof field 'data' is already set.")
    for key, field, known, value in (
        ("functionCall", "function_call", _CALL, "args"),
        ("functionResponse", "function_response", _RESPONSE, "response"),
    ):
        if key in part:
            _check_function(part[key], f"{at}.{field}", known, value)


def _check_function(function: Mapping[str, Any], at: str, known: Collection[str], value: str) -> None:
    _check_known(function, known, at)
    if not function.get("name"):
        raise invalid(f"* GenerateContentRequest.{at}.name: Name cannot be empty.\n")
    if not isinstance(function.get(value, {}), dict):
        raise invalid(f"Invalid value at '{at}.{value}' {_STRUCT}, {function[value]!r}")
