"""Agents, sessions and runs."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence

from . import _library
from .errors import InputError, PraxisError
from .results import Decision, Event, Result, Step
from .runtime import Runtime, default_runtime
from .schema import schema_of, value_of
from .tools import SubAgent, add_tool

Approver = Callable[[Step], "Decision | bool | str | None"]
"""Decides a step: a Decision, True or False for a call, a text for a question, or None to let it wait."""

_STOP_MS = 5000  # how long a turn that was interrupted may take to settle
_SLICE_MS = 200  # how long the library waits at once, so that Ctrl-C is noticed


def _decisions_json(decisions: Iterable[Decision]) -> str | None:
    given = {decision.step: dict(decision.json) for decision in decisions}
    return json.dumps(given) if given else None


def _decision_of(step: Step, answer: Decision | bool | str | None) -> Decision | None:
    if answer is None or isinstance(answer, Decision):
        return answer
    if isinstance(answer, bool):
        return step.approve() if answer else step.reject()
    return step.answer(answer)


class Run(_library.Handle):
    """A turn in progress: an iterator over its events, its result, and what can be done to it. Thread-safe.

    Leaving ``with`` interrupts a turn that is still running; dropping the object does not.
    """

    def __init__(self, handle: int, owner: Any, output: Any = None) -> None:
        super().__init__(handle)
        self._owner = owner  # keeps the agent, so that its tools and its runtime stay
        self._output = output

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.done():
            self.interrupt()
            _library.status_and_value("run_result", self._handle, _STOP_MS)
        self.close()

    def __iter__(self) -> Iterator[Event]:
        """The events of the turn; ends when the turn has ended or waits for an approver. Each event comes once."""
        while True:
            status, event = _library.status_and_value("run_next", self._handle, _SLICE_MS)
            if status == _library.END:
                return
            if event is not None:
                yield Event(event)

    def text(self) -> Iterator[str]:
        """The text that the agent's own model writes, piece by piece. Reads the same events."""
        session = self.session
        for event in self:
            if event.name == "text.delta" and event["session"] == session:
                yield event["text"]

    def done(self) -> bool:
        """Whether the turn has ended or waits for an approver."""
        return _library.status_and_value("run_result", self._handle, 0)[0] == _library.OK

    def report(self) -> Result:
        """Waits for the report of the turn, also of one that did not finish. Raises if the turn could not run."""
        while True:
            status, report = _library.status_and_value("run_result", self._handle, _SLICE_MS)
            if status == _library.OK:
                return self._result(report)

    def result(self) -> Result:
        """Waits for the result. Raises unless the turn has finished or waits for an approver."""
        result = self.report()
        error = result.error()
        if error is not None:
            raise error
        return result

    def _result(self, report: dict[str, Any]) -> Result:
        result = Result(report)
        if self._output is not None and result.structured is not None:
            result.value = value_of(self._output, result.structured)
        return result

    @property
    def session(self) -> str:
        """The id of the session."""
        return _library.value("session_describe", self._handle)["id"]

    def resume(self, *decisions: Decision) -> Run:
        """Continues the turn that waits, with decisions on its steps."""
        handle = _library.make("session_resume", self._handle, _decisions_json(decisions))
        return Run(handle, self._owner, self._output)

    def decide(self, decision: Decision) -> None:
        """Decides one step, also while other parts of the turn are working."""
        _library.call("decide", self._handle, decision.step, json.dumps(dict(decision.json)))

    def steer(self, text: str) -> None:
        """Reaches the model at the next safe point."""
        self._command("steer", text)

    def enqueue(self, text: str) -> None:
        """Becomes the message of the next turn."""
        self._command("enqueue", text)

    def interrupt(self) -> None:
        """Stops the turn now."""
        self._command("interrupt")

    def pause(self) -> None:
        """Nothing new starts until ``unpause``."""
        self._command("pause")

    def unpause(self) -> None:
        """Ends the pause."""
        self._command("unpause")

    def _command(self, verb: str, text: str | None = None) -> None:
        _library.call("command", self._handle, None, verb, text)

    def _finish(self, approve: Approver | None) -> Result:
        """The result, after the approver has decided what it wants to decide."""
        run = self
        try:
            while True:
                result = run.result()
                decisions = run._decided(result, approve)
                if not decisions:
                    return result
                run = run.resume(*decisions)
        except KeyboardInterrupt:
            run.interrupt()
            raise

    @staticmethod
    def _decided(result: Result, approve: Approver | None) -> list[Decision]:
        if approve is None:
            return []
        answers = [_decision_of(step, approve(step)) for step in result.pending]
        return [answer for answer in answers if answer is not None]


class AsyncRun:
    """The same for asyncio: ``async for event in run``, ``await run.result()``.

    A thread of its own reads the events. Leaving ``async with``, or cancelling a task that waits here, interrupts the turn.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._report: asyncio.Future[Result] = self._loop.create_future()
        self._report.add_done_callback(lambda done: done.cancelled() or done.exception())
        threading.Thread(target=self._read, daemon=True, name="praxis-run").start()

    def _read(self) -> None:
        try:
            for event in self.run:
                self._tell(self._events.put_nowait, event)
            self._tell(self._set_report, self.run.report(), None)
        except BaseException as error:
            self._tell(self._set_report, None, error)
        self._tell(self._events.put_nowait, None)

    def _tell(self, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass  # the loop is closed, so no task waits

    def _set_report(self, result: Result | None, error: BaseException | None) -> None:
        if self._report.done():
            return
        if error is not None:
            self._report.set_exception(error)
        elif result is not None:
            self._report.set_result(result)

    async def __aenter__(self) -> AsyncRun:
        return self

    async def __aexit__(self, *error: object) -> None:
        if not self.run.done():
            self.run.interrupt()
            await asyncio.wait([self._report], timeout=_STOP_MS / 1000)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            try:
                event = await self._events.get()
            except asyncio.CancelledError:
                self.run.interrupt()
                raise
            if event is None:
                return
            yield event

    async def text(self) -> AsyncIterator[str]:
        """The text that the agent's own model writes, piece by piece."""
        session = self.run.session
        async for event in self:
            if event.name == "text.delta" and event["session"] == session:
                yield event["text"]

    async def report(self) -> Result:
        """As ``Run.report``."""
        try:
            return await asyncio.shield(self._report)
        except asyncio.CancelledError:
            self.run.interrupt()
            raise

    async def result(self) -> Result:
        """As ``Run.result``."""
        result = await self.report()
        error = result.error()
        if error is not None:
            raise error
        return result

    def resume(self, *decisions: Decision) -> AsyncRun:
        """As ``Run.resume``."""
        return AsyncRun(self.run.resume(*decisions))

    def steer(self, text: str) -> None:
        """As ``Run.steer``."""
        self.run.steer(text)

    def enqueue(self, text: str) -> None:
        """As ``Run.enqueue``."""
        self.run.enqueue(text)

    def interrupt(self) -> None:
        """As ``Run.interrupt``."""
        self.run.interrupt()

    async def _finish(self, approve: Approver | None) -> Result:
        run = self
        while True:
            result = await run.result()
            decisions = Run._decided(result, approve)
            if not decisions:
                return result
            run = run.resume(*decisions)


class Session(_library.Handle):
    """A conversation with an agent: each turn sees the earlier ones. Thread-safe."""

    def __init__(self, handle: int, agent: Agent) -> None:
        super().__init__(handle)
        self.agent = agent

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def describe(self) -> dict[str, Any]:
        """Its ``id``, ``status``, ``comment``, ``queued`` messages, ``usage`` and ``context`` window."""
        return _library.value("session_describe", self._handle)

    @property
    def id(self) -> str:
        """By which ``Agent.open`` finds it, in another process too."""
        return self.describe()["id"]

    @property
    def status(self) -> str:
        """``idle``, ``running``, ``awaiting_user``, ``completed`` and others."""
        return self.describe()["status"]

    def messages(self) -> list[dict[str, Any]]:
        """The whole conversation."""
        return _library.value("session_messages", self._handle)["messages"]

    def stream(self, message: str, *, output: Any = None) -> Run:
        """Starts the next turn."""
        handle = _library.make("session_send", self._handle, message, _options(output=output))
        return Run(handle, self, output)

    def run(self, message: str, *, output: Any = None, approve: Approver | None = None) -> Result:
        """Runs the next turn to its end."""
        return self.stream(message, output=output)._finish(approve)

    def resume(self, *decisions: Decision, approve: Approver | None = None) -> Result:
        """Continues a turn that a crash cut off or that waits, with decisions on its steps."""
        handle = _library.make("session_resume", self._handle, _decisions_json(decisions))
        return Run(handle, self)._finish(approve)

    def stream_async(self, message: str, *, output: Any = None) -> AsyncRun:
        """Starts the next turn for asyncio."""
        return AsyncRun(self.stream(message, output=output))

    async def run_async(self, message: str, *, output: Any = None, approve: Approver | None = None) -> Result:
        """Runs the next turn to its end without blocking the event loop."""
        return await self.stream_async(message, output=output)._finish(approve)

    def command(self, verb: str, text: str | None = None) -> None:
        """As ``Runtime.command``, for this session."""
        _library.call("command", self._handle, None, verb, text)


def _options(
    *, output: Any = None, messages: Sequence[Mapping[str, Any]] | None = None, metadata: Any = None
) -> str | None:
    options: dict[str, Any] = {}
    if output is not None:
        options["schema"] = output if isinstance(output, dict) else schema_of(output)
    if messages is not None:
        options["messages"] = [_message(message) for message in messages]
    if metadata is not None:
        options["metadata"] = metadata
    return json.dumps(options) if options else None


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message whose content may be a plain text."""
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    return dict(message)


class Agent(_library.Handle):
    """A description of an agent, and the shortest ways to run it. Thread-safe.

    ``tools`` are functions with ``@tool``, and agents by ``as_tool``. ``settings`` are the other keys of an agent file
    (docs/agent-file.md), such as ``options``, ``plan`` or ``metadata``; ``builtin_tools`` is its table ``[tools]``.
    """

    def __init__(
        self,
        model: str | None = None,
        instructions: str | None = None,
        *,
        id: str | None = None,
        description: str | None = None,
        tools: Iterable[Any] = (),
        builtin_tools: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
        runtime: Runtime | None = None,
        **settings: Any,
    ) -> None:
        given = {
            "id": id,
            "model": model,
            "instructions": instructions,
            "description": description,
            "limits": limits,
            "policy": policy,
            "tools": builtin_tools,
            **settings,
        }
        text = json.dumps({name: value for name, value in given.items() if value is not None})
        self._begin(runtime, "agent_create", text, tools)

    def _begin(self, runtime: Runtime | None, function: str, text: str, tools: Iterable[Any]) -> None:
        self.runtime = runtime or default_runtime()
        super().__init__(_library.make(function, self.runtime._handle, text))
        for given in tools:
            self.add_tool(given)

    @classmethod
    def from_file(cls, path: str, *, tools: Iterable[Any] = (), runtime: Runtime | None = None) -> Agent:
        """The agent of an agent file, with further tools."""
        agent = cls.__new__(cls)
        agent._begin(runtime, "agent_open", str(path), tools)
        return agent

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def add_tool(self, tool: Any) -> None:
        """Gives the sessions that are made from now on a tool."""
        add_tool(self._handle, tool)

    def as_tool(self, name: str, description: str) -> SubAgent:
        """This agent as a tool of another one: each call runs it on a prompt and returns its answer."""
        return SubAgent(self, name, description)

    def describe(self) -> dict[str, Any]:
        """The description that sessions record."""
        return _library.value("agent_describe", self._handle)

    def stream(
        self,
        prompt: str,
        *,
        output: Any = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        metadata: Any = None,
    ) -> Run:
        """Starts one turn in a new session. ``output``: the type, or the JSON Schema, that the answer must have.
        ``messages``: the conversation so far."""
        options = _options(output=output, messages=messages, metadata=metadata)
        handle = _library.make("agent_run", self._handle, prompt, options)
        return Run(handle, self, None if isinstance(output, dict) else output)

    def run(
        self,
        prompt: str,
        *,
        output: Any = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        metadata: Any = None,
        approve: Approver | None = None,
    ) -> Result:
        """Runs one turn in a new session to its end. ``approve`` decides steps that wait; those that it leaves are in
        ``pending`` of the result. Raises a PraxisError, with the report in its ``result``, if the turn did not finish."""
        return self.stream(prompt, output=output, messages=messages, metadata=metadata)._finish(approve)

    def stream_async(
        self,
        prompt: str,
        *,
        output: Any = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        metadata: Any = None,
    ) -> AsyncRun:
        """As ``stream``, for asyncio."""
        return AsyncRun(self.stream(prompt, output=output, messages=messages, metadata=metadata))

    async def run_async(
        self,
        prompt: str,
        *,
        output: Any = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        metadata: Any = None,
        approve: Approver | None = None,
    ) -> Result:
        """As ``run``, without blocking the event loop. Cancelling the task interrupts the turn."""
        run = self.stream_async(prompt, output=output, messages=messages, metadata=metadata)
        return await run._finish(approve)

    def session(self, messages: Sequence[Mapping[str, Any]] | None = None, metadata: Any = None) -> Session:
        """Makes a session of several turns, which may begin with a conversation."""
        handle = _library.make("session_create", self._handle, _options(messages=messages, metadata=metadata))
        return Session(handle, self)

    def open(self, session: str = "last", *, force: bool = False) -> Session:
        """Opens a session of the journal, such as one that a dead process left: an id, a part of it, or ``last``. With
        ``force`` takes it from a live process."""
        return Session(_library.make("session_open", self._handle, session, int(force)), self)

    def resume(self, session: str, *decisions: Decision, approve: Approver | None = None) -> Result:
        """Opens a session and continues its turn."""
        return self.open(session).resume(*decisions, approve=approve)


__all__ = ["Agent", "Approver", "AsyncRun", "InputError", "PraxisError", "Run", "Session"]
