"""What runs give: events, steps that wait, results, and the nodes of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from .errors import Cancelled, PraxisError, error_of


class Event(dict[str, Any]):
    """An event of a run: a dict with the members of docs/events.md, which are attributes too (``event.text``)."""

    @property
    def name(self) -> str:
        """Such as ``text.delta`` or ``tool.called``. The name of a tool is ``event["name"]``."""
        return self["event"]

    def __getattr__(self, member: str) -> Any:
        try:
            return self[member]
        except KeyError:
            raise AttributeError(f"the event {self['event']} has no {member!r}") from None


@dataclass(frozen=True)
class Decision:
    """What an approver says to a step. ``approve``, ``reject``, ``edit`` and ``answer`` of the step make it."""

    step: str
    json: Mapping[str, Any]


class Step:
    """A step that waits for an approver: a call of a tool, or a question."""

    def __init__(self, json: dict[str, Any], run: str = "") -> None:
        self.json = json
        self.id: str = json["id"]
        self.kind: str = json.get("kind", "")
        self.prompt: str = json.get("prompt", "")
        self.tool: str = json.get("tool", "")
        self.arguments: Any = json.get("arguments")
        self.session: str = json.get("session", "")
        """The session that waits, which may be that of a sub-agent."""
        self.run: str = run or self.session
        """The run that it belongs to, for ``Agent.resume``."""

    def approve(self) -> Decision:
        """The call runs as it is."""
        return Decision(self.id, {"decision": "allow"})

    def reject(self, reason: str = "") -> Decision:
        """The call does not run; the model reads the reason."""
        return Decision(self.id, {"decision": "deny", "text": reason})

    def edit(self, **arguments: Any) -> Decision:
        """The call runs with these arguments instead."""
        return Decision(self.id, {"decision": "edit", "arguments": arguments})

    def answer(self, text: str) -> Decision:
        """The answer to a question."""
        return Decision(self.id, {"decision": "answer", "text": text})

    def __repr__(self) -> str:
        return f"Step({self.id!r}, {self.kind!r}, {self.tool or self.prompt!r})"


class Result:
    """The report of a turn that has finished or waits for an approver."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        """Everything that the library says: the members that ``praxis run --json`` ends with."""
        self.text: str = report.get("result") or ""
        self.session: str = report.get("run_id") or ""
        self.status: str = report.get("status") or ""
        self.termination: str | None = report.get("termination")
        self.structured: Any = report.get("structured")
        self.value: Any = self.structured
        """The answer as a value of the type that was asked for."""
        self.pending: list[Step] = [Step(step, self.session) for step in report.get("pending") or []]
        self.actions: list[dict[str, Any]] = report.get("actions") or []
        self.denials: list[str] = report.get("denials") or []
        self.usage: dict[str, Any] = report.get("usage") or {}
        self.cost_usd: float | None = report.get("cost_usd")

    @property
    def finished(self) -> bool:
        """Whether the turn has ended with its answer."""
        return self.termination == "finished"

    def error(self) -> PraxisError | None:
        """Why the turn did not finish; None if it did or waits for an approver."""
        if self.finished or self.pending:
            return None
        errors = self.report.get("errors") or []
        if errors:
            error = error_of(errors[0])
        elif self.status == "cancelled":
            error = Cancelled("the turn was cancelled", code="cancelled")
        else:
            error = PraxisError(f"the turn ended with {self.termination or self.status}", code="limit")
        error.result = self
        return error

    def __repr__(self) -> str:
        return f"Result({self.status!r}, {self.text!r})"


class Node(dict[str, Any]):
    """An agent of the tree: a dict with its members, of which the most used are attributes."""

    def __init__(self, json: dict[str, Any], run: str) -> None:
        super().__init__(json)
        self.run = run
        """The run that it belongs to: the id of the agent at the top."""

    @property
    def id(self) -> str:
        return self["id"]

    @property
    def parent(self) -> str | None:
        return self["parent"]

    @property
    def agent(self) -> str:
        return self["agent"]

    @property
    def path(self) -> str:
        """The ids of the agents from the root to this one."""
        return self["path"]

    @property
    def depth(self) -> int:
        return self["depth"]

    @property
    def status(self) -> str:
        return self["status"]

    @property
    def content(self) -> str:
        """The last task."""
        return self["content"]

    @property
    def comment(self) -> str:
        return self["comment"]

    @property
    def pending(self) -> list[Step]:
        """Its own steps that wait for an approver."""
        return [Step(step, self.run) for step in self["pending"]]
