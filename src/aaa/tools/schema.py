"""The JSON schema of a tool's parameters, from a pydantic model that also checks the arguments.

The model's fields are called `p0`, `p1`, …, with the parameters' names as aliases: a parameter may then be called
`schema`, `copy` or `_x`, which a model cannot have as field.
"""

from collections.abc import Mapping, Sequence
from inspect import Parameter as InspectParameter
from typing import Annotated, Any, cast, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from aaa.errors import ToolDefinitionError
from aaa.tools.signature import Parameter

__all__ = ["arguments_model", "parameters_schema"]

Schema = dict[str, Any]

_BY_NAME = ("properties", "patternProperties", "dependentSchemas", "$defs")
_VALUES = ("default", "const", "enum", "examples", "required", "discriminator")
_ORDER = ("$ref", "type", "description", "properties", "required", "additionalProperties")


class _Generator(GenerateJsonSchema):
    """pydantic's own, but silent about defaults that are no JSON, and the same in every process."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's declaration

    def encode_default(self, dft: Any) -> Any:
        encoded = super().encode_default(dft)
        if isinstance(dft, set | frozenset):  # iterated in another order in every process
            return sorted(encoded, key=msgspec.json.encode)
        return encoded


def arguments_model(parameters: Sequence[Parameter], names: Mapping[str, Any], label: str) -> type[BaseModel]:
    """The model whose field `p<i>` is the i-th parameter.

    Raises:
        ToolDefinitionError: naming the parameter whose type has no schema.
    """
    try:
        return _model(parameters, names, label)
    except (PydanticUserError, PydanticUndefinedAnnotation, TypeError, ValueError, NameError) as error:
        culprit = next((p.name for p in parameters if _fails(p, names)), "?")
        problem = str(error).splitlines()[0]
        raise ToolDefinitionError(f"tool {label!r}, parameter {culprit!r}: no JSON schema for it: {problem}") from error


def parameters_schema(model: type[BaseModel], parameters: Sequence[Parameter], texts: Mapping[str, str]) -> Schema:
    """The schema of `model`; a parameter without a description of its own gets the docstring's from `texts`."""
    schema = _clean(model.model_json_schema(schema_generator=_Generator))
    for index, parameter in enumerate(parameters):
        alias = model.model_fields[f"p{index}"].validation_alias
        described = schema["properties"].get(alias, {})
        if (text := texts.get(parameter.name)) and described is not True and "description" not in described:
            schema["properties"][alias] = _in_order({**described, "description": text})
    return schema


def _model(parameters: Sequence[Parameter], names: Mapping[str, Any], label: str) -> type[BaseModel]:
    fields: dict[str, Any] = {
        f"p{index}": (_aliased(parameter), ... if parameter.default is InspectParameter.empty else parameter.default)
        for index, parameter in enumerate(parameters)
    }
    model = create_model(label, __config__=ConfigDict(extra="forbid"), **fields)
    if not model.__pydantic_complete__:  # a type inside refers to one of the scopes around the function
        model.model_rebuild(_types_namespace=dict(names))
    model.model_json_schema(schema_generator=_Generator)
    return model


def _aliased(parameter: Parameter) -> Any:
    """The type, with the parameter's name as alias unless its author chose one.

    Not by an alias generator: pydantic would hand that down to the dataclasses inside.
    """
    alias = Field(alias=parameter.name)
    if get_origin(parameter.hint) is Annotated:
        return Annotated[parameter.hint.__origin__, alias, *parameter.hint.__metadata__]
    return Annotated[parameter.hint, alias]


def _fails(parameter: Parameter, names: Mapping[str, Any]) -> bool:
    try:
        _model([parameter], names, "probe")
    except (PydanticUserError, PydanticUndefinedAnnotation, TypeError, ValueError, NameError):
        return True
    return False


def _clean(schema: Any) -> Any:
    """Without titles, closed where it is a model's, in one order of keys."""
    if isinstance(schema, list):
        return [_clean(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    cleaned = {key: _clean_value(key, value) for key, value in cast("Schema", schema).items() if key != "title"}
    if cleaned.get("type") == "object":  # said outright for a free dict too, as not every pydantic does
        cleaned.setdefault("additionalProperties", "properties" not in cleaned)
    return _in_order(cleaned)


def _clean_value(key: str, value: Any) -> Any:
    if key in _BY_NAME:
        return {name: _clean(item) for name, item in cast("Schema", value).items()}
    return value if key in _VALUES else _clean(value)


def _in_order(schema: Schema) -> Schema:
    ordered = {key: schema[key] for key in _ORDER if key in schema}
    return {**ordered, **{key: value for key, value in schema.items() if key not in ordered}}
