"""Clients that follow a run at a fleet of servers: at another one, from the last event on, whenever theirs is gone."""

import http.client
import json
import random
import threading
from collections.abc import Callable, Iterator

from binary import on_this_machine
from rounds import Failure, Round, Run


class Reader:
    """Follows one run in a thread of its own, and checks what it gets."""

    def __init__(self, round_: Round, run: Run, ports: Callable[[], list[int]], token: str) -> None:
        self._round = round_
        self._run = run
        self._ports = ports
        self._token = token
        self._choice = random.Random(f"reader {run.tag}")
        self._ids: list[tuple[int, int]] = []  # of the events of the log, as they came
        self._texts: dict[str, tuple[tuple, str]] = {}  # by session: the answer that is being written
        self._ended = False
        self._problem = ""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def finish(self, patience: float) -> None:
        """Waits for the end of the stream; fails if it had a gap, a repetition or a wrong text."""
        self._thread.join(patience)
        if not self._ended and not self._problem:
            self._problem = f"the stream has not ended; its last event is {self._ids[-1:]}"
        whole = [] if self._problem else self._whole()
        if not self._problem and self._ids != whole:
            missed, more = set(whole) - set(self._ids), set(self._ids) - set(whole)
            self._problem = f"events missed: {sorted(missed)}, events that are not in the log: {sorted(more)}"
        if self._problem:
            raise Failure("stream", f"{self._run.id}: {self._problem}")

    def _follow(self) -> None:
        connections = 0
        while not self._ended and not self._problem:
            connections += 1
            self._texts.clear()  # the next server begins an open answer again
            try:
                for event in self._events(self._choice.choice(self._ports()), self._ids[-1] if self._ids else None):
                    self._take(*event)
                    if self._ended or self._problem:
                        break
            except (OSError, http.client.HTTPException):
                pass
            threading.Event().wait(0.05)
        self._round.count("streams")
        self._round.count("resumed streams", connections - 1)

    def _events(self, port: int, after: tuple[int, int] | None) -> Iterator[tuple[str, str, dict]]:
        """Yields id, name and data of each event until the connection ends."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=on_this_machine(40))
        headers = {"Authorization": f"Bearer {self._token}"}
        if after:
            headers["Last-Event-ID"] = f"{after[0]}.{after[1]}"
        try:
            connection.request("GET", f"/api/v1/runs/{self._run.id}/events", headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                return
            fields: dict[str, str] = {}
            while line := answer.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "data" in fields:
                    yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
                    fields = {}
        finally:
            connection.close()

    def _take(self, number: str, name: str, data: dict) -> None:
        if number:
            record, event = number.split(".")
            position = (int(record), int(event))
            if self._ids and position <= self._ids[-1]:
                self._problem = f"event {number} came after {self._ids[-1]}"
            self._ids.append(position)
        session = data.get("session", "")
        if name == "text.delta":
            self._round.count("deltas")
            place = (data["seq"], data.get("attempt", 1))
            before, text = self._texts.get(session, (place, ""))
            self._texts[session] = (place, (text if before == place else "") + data["text"])
        elif name == "assistant.text":
            _, text = self._texts.pop(session, (None, ""))
            if not data["text"].startswith(text):
                self._problem = f"the deltas {text!r} do not begin {data['text']!r}"
        self._ended = self._ended or (name == "turn.completed" and session == self._run.id)

    def _whole(self) -> list[tuple[int, int]]:
        """The events of the log as a client gets them that comes after the end."""
        ids = []
        for number, name, data in self._events(self._ports()[0], None):
            if number:
                record, event = number.split(".")
                ids.append((int(record), int(event)))
            if name == "turn.completed" and data.get("session") == self._run.id:
                break
        return ids
