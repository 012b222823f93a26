"""`@tool`: a function becomes something a model can call, and stays something Python can call."""

import functools
import inspect
import re
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import msgspec

from aaa.errors import ToolDefinitionError
from aaa.messages import ToolSpec
from aaa.tools.docstrings import read_docstring
from aaa.tools.signature import read_signature

if TYPE_CHECKING:
    from aaa.tools.arguments import Arguments

__all__ = ["AnyTool", "Tool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every provider accepts


class Tool(Generic[P, R]):
    """A function with a specification for the model; made by `@tool`.

    Calling it calls the function, unchecked. On an instance of the class it was defined in, it is bound like a method.

    `context` is data for the policy that fits the conversation, kept as given. A tool that is not `repeatable` is not
    run again after an interruption.
    """

    def __init__(
        self,
        function: Callable[P, R],
        spec: ToolSpec,
        *,
        arguments: "Arguments",
        context_names: tuple[str, ...] = (),
        is_unbound: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.spec = spec
        self.is_unbound = is_unbound
        self.context_names = context_names
        self.timeout_seconds: float | None = None
        self.repeatable = True
        self.context: object = None
        self._arguments = arguments

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.spec.name

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return self.spec.description

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function; any other runs in a thread."""
        return inspect.iscoroutinefunction(self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __get__(self, instance: object | None, owner: type | None = None) -> "Tool[..., R]":
        if instance is None or not self.is_unbound:
            return self
        bound: Tool[..., R] = Tool(
            MethodType(self.function, instance), self.spec, arguments=self._arguments, context_names=self.context_names
        )
        bound.timeout_seconds, bound.repeatable, bound.context = self.timeout_seconds, self.repeatable, self.context
        return bound

    def __repr__(self) -> str:
        return f"<Tool {self.name!r}>"

    def read_arguments(self, text: str) -> dict[str, Any]:
        """Keyword arguments for the function from the JSON text of a model, checked and coerced.

        Raises:
            ToolFailure: they do not fit; the message is for the model.
        """
        return self._arguments.read(text, tool=self.name)


AnyTool = Tool[..., Any]


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    repeatable: bool = True,
    context: object = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout_seconds: float | None = None,
    repeatable: bool = True,
    context: object = None,
) -> Any:
    """Make a tool of a function, sync or async; its annotations and docstring tell the model how to call it.

    Args:
        function: what to call; parameters annotated `ToolContext` are filled by the handler.
        name: instead of the function's.
        description: instead of the docstring's.
        timeout_seconds: how long one call may take, instead of the handler's time-out.
        repeatable: whether it may run again when an earlier attempt was interrupted.
        context: data for the context policy, such as how its results may be cut.

    Raises:
        ToolDefinitionError: naming the tool and what about it a model could not call.
    """

    def make(target: Callable[..., Any]) -> AnyTool:
        made = _make(target, name, description)
        if timeout_seconds is not None and not timeout_seconds > 0:
            raise ToolDefinitionError(f"tool {made.name!r}: timeout_seconds must be above 0, not {timeout_seconds!r}")
        made.timeout_seconds, made.repeatable, made.context = timeout_seconds, repeatable, context
        return made

    return make if function is None else make(function)


def _make(function: Callable[..., Any], name: str | None, description: str | None) -> AnyTool:
    if isinstance(function, Tool):
        function = function.function
    if not inspect.isroutine(function) or not callable(function):
        raise ToolDefinitionError(f"a tool is made of a function or a bound method, not of {type(function).__name__}")
    name = function.__name__ if name is None else name
    if not _NAME.fullmatch(name):
        raise ToolDefinitionError(f"tool {name!r}: a name is 1 to 64 of A-Z, a-z, 0-9, _ and -; pass another as name=")
    from aaa.tools.arguments import Arguments
    from aaa.tools.schema import arguments_model, parameters_schema

    docstring = read_docstring(function.__doc__)
    signature = read_signature(function, name)
    model = arguments_model(signature.parameters, signature.names, name)
    schema = parameters_schema(model, signature.parameters, docstring.parameters)
    text = docstring.description if description is None else inspect.cleandoc(description)
    return Tool(
        function,
        ToolSpec(name, text, msgspec.json.encode(schema).decode()),
        arguments=Arguments(model, signature.parameters, schema),
        context_names=signature.context_names,
        is_unbound=signature.is_unbound,
    )
