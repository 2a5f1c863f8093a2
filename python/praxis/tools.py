"""Tools: functions that a model may call."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import threading
import typing
from typing import Any, Callable, TypeVar, overload

from . import _library
from .errors import InputError, PraxisError, ToolError
from .schema import json_of, schema_of_parameters, value_of

Function = TypeVar("Function", bound=Callable[..., Any])


class Context:
    """The call in progress. A tool gets it in the parameter that is annotated with this class, while the call runs."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._facts: dict[str, Any] | None = None

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Publishes the event ``tool.progress``. ``fraction`` is the part that is done, from 0 to 1."""
        _library.call("call_progress", self._handle, text, -1.0 if fraction is None else fraction)

    @property
    def stopped(self) -> bool:
        """Whether the call was cancelled; then return soon."""
        return _library.call_stopped(self._handle)

    def _fact(self, name: str) -> Any:
        if self._facts is None:
            self._facts = _library.value("call_describe", self._handle)
        return self._facts[name]

    @property
    def session(self) -> str:
        """The session whose agent made the call."""
        return self._fact("session")

    @property
    def agent(self) -> str:
        """The id of that agent."""
        return self._fact("agent")

    @property
    def attempt(self) -> int:
        """1, and more when the call is tried again."""
        return self._fact("attempt")

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call, also after a crash."""
        return self._fact("idempotency_key")

    @property
    def metadata(self) -> Any:
        """The metadata of the agent."""
        return self._fact("metadata")


class Tool:
    """A function with what a model must know about it. Calling it calls the function."""

    def __init__(self, function: Callable[..., Any], **settings: Any) -> None:
        self.function = function
        hints = typing.get_type_hints(function, include_extras=True)
        self._contexts = {name for name, hint in hints.items() if hint is Context}
        self._hints = {name: hint for name, hint in hints.items() if name not in self._contexts}
        words = inspect.getdoc(function) or ""
        self.definition: dict[str, Any] = {
            "name": settings.pop("name", None) or function.__name__,
            "description": settings.pop("description", None) or words,
            "parameters": settings.pop("parameters", None) or schema_of_parameters(function, self._contexts),
        }
        self.definition.update({name: value for name, value in settings.items() if value is not None})
        self.__name__ = self.definition["name"]
        self.__doc__ = words

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def answer(self, handle: int, arguments: dict[str, Any]) -> Any:
        """Runs the function with arguments of a model and returns what the model reads, as JSON can write it."""
        named = {name: value_of(self._hints.get(name, Any), value) for name, value in arguments.items()}
        named.update({name: Context(handle) for name in self._contexts})
        result = self.function(**named)
        if inspect.isawaitable(result):
            result = asyncio.run(_wait_for(result))
        return json_of(result)


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable


@overload
def tool(function: Function) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
    needs_approval: bool | None = None,
    idempotent: bool | None = None,
    timeout: str | int | None = None,
    retries: int | None = None,
    fatal_errors: bool | None = None,
    safe_by_default: bool | None = None,
) -> Callable[[Function], Tool]: ...


def tool(function: Any = None, **settings: Any) -> Any:
    """Makes a tool of a function. Its name, its docstring and the types of its parameters are what the model sees.

    ``needs_approval``: every call waits for an approver. ``idempotent``: the call may be repeated after a crash.
    ``timeout``: ``"30s"`` or milliseconds. ``retries``: further attempts after a ``ToolError`` that is retriable.
    ``fatal_errors``: a failure ends the turn. ``safe_by_default=False``: the agent's policy must allow it.

    An exception is an error of the call, which the model reads. An ``async`` function runs in an event loop of its own.
    """
    if function is None:
        return lambda wrapped: Tool(wrapped, **settings)
    return Tool(function, **settings)


class SubAgent(typing.NamedTuple):
    """An agent as a tool of another agent: ``Agent.as_tool`` makes it."""

    agent: Any
    name: str
    description: str


_tools: dict[int, Tool] = {}  # those that the library may call, by the number that it passes back
_numbers = itertools.count(1)
_lock = threading.Lock()


@_library.ToolFunction
def _run_tool(number: int, handle: int, arguments: bytes) -> int:
    try:
        value = _tools[number].answer(handle, json.loads(arguments))
        _library.call("call_return", handle, json.dumps(value))
    except BaseException as error:  # an exception must not reach the library
        _fail(handle, error)
    return 0


def _fail(handle: int, error: BaseException) -> None:
    message = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
    retriable = isinstance(error, PraxisError) and error.retriable
    try:
        _library.call("call_fail", handle, message.encode("utf-8", "replace").replace(b"\0", b"?"), int(retriable))
    except PraxisError:
        pass  # the call has a result already, or has ended: the library reports that it failed


@_library.ReleaseFunction
def _release_tool(number: int) -> None:
    with _lock:
        _tools.pop(number, None)


def add_tool(agent: int, given: Any) -> None:
    """Gives an agent of the library a tool: a Tool, a plain function, or an agent."""
    if isinstance(given, SubAgent):
        _library.call("agent_add_agent", agent, given.agent._handle, given.name, given.description)
        return
    if not isinstance(given, Tool):
        if not callable(given):
            raise InputError(f"{given!r} is no tool: decorate a function with @tool")
        given = Tool(given)
    with _lock:
        number = next(_numbers)
        _tools[number] = given
    definition = json.dumps(given.definition)
    _library.call("agent_add_tool", agent, definition, _run_tool, number, _release_tool)
