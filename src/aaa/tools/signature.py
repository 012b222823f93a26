"""The signature of a function, its annotations resolved, as far as a model has to know it."""

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from aaa.errors import ToolDefinitionError
from aaa.tools.context import ToolContext

__all__ = ["Parameter", "Signature", "read_signature"]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter a model fills; `default` is `inspect.Parameter.empty` where it must."""

    name: str
    hint: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters` in order, the names that receive a `ToolContext`, and whether a `self` is still to be bound.

    `names` are those of the scopes around the function, for types that refer to others defined there.
    """

    parameters: tuple[Parameter, ...]
    context_names: tuple[str, ...]
    is_unbound: bool
    names: dict[str, Any]


def read_signature(function: Callable[..., Any], label: str) -> Signature:
    """Read what a model may pass to `function`, called `label` in errors.

    Raises:
        ToolDefinitionError: a parameter that cannot be passed by name, has no annotation, or one that does not resolve.
    """
    try:
        found = list(inspect.signature(function).parameters.values())
    except (ValueError, NameError) as error:
        raise ToolDefinitionError(f"tool {label!r}: its signature cannot be read: {error}") from error
    is_unbound = _is_method(function) and bool(found) and found[0].name == "self" and found[0].annotation is _EMPTY
    names = _scope_names(function)
    read = [_parameter(function, parameter, names, label) for parameter in found[is_unbound:]]
    return Signature(
        tuple(parameter for parameter in read if not _is_context(parameter.hint)),
        tuple(parameter.name for parameter in read if _is_context(parameter.hint)),
        is_unbound,
        names,
    )


def _parameter(
    function: Callable[..., Any], parameter: inspect.Parameter, names: dict[str, Any], label: str
) -> Parameter:
    where = f"tool {label!r}, parameter {parameter.name!r}"
    if parameter.kind in _VARIADIC:
        raise ToolDefinitionError(f"{where}: a model passes arguments by name, so * and ** cannot be described to it")
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise ToolDefinitionError(f"{where}: it is positional-only, but a model passes arguments by name")
    if parameter.annotation is _EMPTY:
        raise ToolDefinitionError(f"{where}: it needs a type annotation, from which its schema is made")
    try:
        hint = _resolved(function, parameter, names)
    except Exception as error:  # an annotation is an expression, which may raise whatever it likes
        raise ToolDefinitionError(f"{where}: its annotation does not resolve: {error}") from error
    return Parameter(parameter.name, hint, parameter.default)


def _resolved(function: Callable[..., Any], parameter: inspect.Parameter, names: dict[str, Any]) -> Any:
    def stub() -> None: ...  # carries this one annotation; that of the result need not resolve

    stub.__annotations__ = {parameter.name: parameter.annotation}
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    return typing.get_type_hints(stub, scope, names, include_extras=True)[parameter.name]


def _scope_names(function: Callable[..., Any]) -> dict[str, Any]:
    """The local names of the functions and classes around `function` that are still running.

    Annotations kept as text may name types defined there; a closure does not hold them.
    """
    inner = inspect.unwrap(function)
    qualified: str = getattr(inner, "__qualname__", "")
    code = getattr(inner, "__code__", None)
    names: dict[str, Any] = {}
    frame: FrameType | None = inspect.currentframe() if "." in qualified and code else None
    while frame and code:
        scope = frame.f_code
        if scope.co_filename == code.co_filename and qualified.startswith(scope.co_qualname + "."):
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    return names


def _is_method(function: Callable[..., Any]) -> bool:
    """Whether it was defined in the body of a class."""
    outer = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(outer) and not outer.endswith("<locals>")


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or ToolContext in typing.get_args(hint)
