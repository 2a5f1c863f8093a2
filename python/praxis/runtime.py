"""A runtime: the sessions of this process, with their journal."""

from __future__ import annotations

import json
import threading
from typing import Any

from . import _library
from .results import Node, Step


class Runtime(_library.Handle):
    """Holds sessions and their journal. Thread-safe. Use it with ``with``, or ``close`` it.

    ``journal``: the file of a SQLite journal, ``postgres://...``, or ``memory``, which ends with the runtime. ``model``: for
    agents that name none. ``instructions``: sent before those of every agent. ``principal``: who decides and commands, for
    the records. ``suspend``: keeps no waiting session in memory.
    """

    def __init__(
        self,
        journal: str = "memory",
        *,
        model: str | None = None,
        instructions: str | None = None,
        principal: str | None = None,
        stream: bool = True,
        suspend: bool = False,
        begin_queued_turns: bool = True,
    ) -> None:
        options: dict[str, Any] = {
            "journal": str(journal),
            "stream": stream,
            "suspend": suspend,
            "begin_queued_turns": begin_queued_turns,
        }
        given = {"model": model, "instructions": instructions, "principal": principal}
        options.update({name: value for name, value in given.items() if value is not None})
        super().__init__(_library.make("runtime_open", json.dumps(options)))

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def stop(self, grace: float = 5.0) -> None:
        """Interrupts all turns and waits until they have settled, at most ``grace`` seconds. No turn starts afterwards."""
        _library.call("runtime_stop", self._handle, int(grace * 1000))

    def health(self) -> dict[str, Any]:
        """Whether the runtime takes work, and how many sessions are active, run and wait."""
        return _library.value("runtime_health", self._handle)

    def runs(
        self,
        *,
        text: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        status: str | None = None,
        tag: str | None = None,
        limit: int = 0,
    ) -> list[dict[str, Any]]:
        """The runs of the journal, the newest first, that fit all that is given; at most ``limit`` unless it is 0."""
        given = {"text": text, "agent": agent, "model": model, "status": status, "tag": tag}
        wanted = json.dumps({name: value for name, value in given.items() if value is not None})
        return _library.value("runs", self._handle, wanted, limit)

    def tree(self, run: str | None = None) -> list[Node]:
        """The agents of a run and below it, parents first; without ``run`` those of all runs that are not idle."""
        nodes: list[Node] = []
        runs: dict[str, str] = {}
        for node in _library.value("tree", self._handle, run):
            runs[node["id"]] = runs.get(node["parent"], node["id"])
            nodes.append(Node(node, runs[node["id"]]))
        return nodes

    def pending(self) -> list[Step]:
        """The steps of all runs that wait for an approver."""
        return [step for node in self.tree() for step in node.pending]

    def state(self, session: str) -> dict[str, Any]:
        """One session of any depth with its conversation, in ``messages``."""
        return _library.value("state", self._handle, session)

    def command(self, session: str, verb: str, text: str | None = None) -> None:
        """Sends a command to a session of any depth: ``steer``, ``enqueue``, ``interrupt``, ``pause``, ``unpause``,
        ``annotate``, ``modify``, ``withdraw``, ``move``, ``compact`` or ``delete``. It may belong to another process."""
        _library.call("command", self._handle, session, verb, text)

    def fork(self, run: str, seq: int = 0) -> str:
        """Makes a run that is the same up to the record ``seq`` (0: all) and returns its id."""
        return _library.value("fork", self._handle, run, seq)

    def replay(self, run: str) -> dict[str, Any]:
        """Derives the log of a run again, without models and tools, and compares: ``identical``, ``divergence``."""
        return _library.value("replay", self._handle, run)


_default: Runtime | None = None
_lock = threading.Lock()


def default_runtime() -> Runtime:
    """The runtime of agents that are given none: its journal is in memory. Made when it is first needed."""
    global _default
    with _lock:
        if _default is None:
            _default = Runtime()
        return _default
