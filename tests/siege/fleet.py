"""Three servers on one database: they are killed and started again while clients create and follow runs at any."""

import http.client
import json
import re
import signal
import time
from dataclasses import dataclass

import checks
from agents import SCENARIOS
from binary import Process, on_this_machine
from database import on_database
from rounds import Failure, Round, Run
from streams import Reader
from strikes import ended
from world import PIECE_PAUSE

SERVERS = 3
SCENARIO = "tree"
LAST_KILL = 20.0  # seconds after the beginning
PAUSE = 0.06  # between the pieces of an answer, in which deltas reach another server
PATIENCE = 60.0  # seconds from the last kill until the last run has ended


class Machine:
    """One `praxis serve`, through all its processes."""

    def __init__(self, round_: Round, number: int) -> None:
        self._round = round_
        self._folder = round_.place / f"machine{number}"
        self._folder.mkdir()
        round_.side_files.add(self._folder.name)
        self._process: Process | None = None
        self.port = 0
        self.begin()

    def begin(self) -> None:
        """Starts the server and waits until it has a port."""
        self._process = self._round.binary.start(
            ["serve", "--port", "0", "--token-file", str(self._round.place / "token"), "--journal",
             str(self._round.journal)], self._folder)
        until = time.monotonic() + on_this_machine(20)
        while (found := re.search(r"serving on http://127.0.0.1:(\d+)\n", self._process.errors())) is None:
            if time.monotonic() > until or not self._process.running():
                raise Failure("server", self._process.end().text())
            time.sleep(0.02)
        self.port = int(found[1])

    def end(self, number: int) -> None:
        """Sends the signal and waits for the end."""
        self._process.send(number)
        if self._process.wait(on_this_machine(30)) is None:
            raise Failure("hang", self._process.end().text())

    def create(self, prompt: str, token: str) -> str:
        """Returns the id of the run that was acknowledged; empty if the server does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=on_this_machine(20))
        try:
            connection.request("POST", "/api/v1/runs", json.dumps({"agent": SCENARIOS[SCENARIO].root, "prompt": prompt}),
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json",
                                "Idempotency-Key": prompt})
            answer = connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            return ""
        finally:
            connection.close()
        if answer.status != 201:
            raise Failure("server", f"status {answer.status}: {body}")
        return body["id"]


@dataclass(frozen=True)
class Size:
    """How much is done, and for how long servers are killed."""

    runs: tuple[int, ...]
    kills: float  # seconds from the first run until the last kill
    pause: tuple[float, float] = (0, 2)  # seconds between two kills
    ends_early: float = 0.1  # chance that a kill is the last
    kills_between: float = 0.4  # chance of a kill after a run was created


def _fleet(round_: Round, size: Size) -> None:
    agents = round_.place / "home/.config/praxis/agents"
    agents.mkdir(parents=True)
    for name, text in SCENARIOS[SCENARIO].files.items():
        (agents / name).write_text(text.format(port=round_.world.port))
    machines = [Machine(round_, number) for number in range(SERVERS)]
    round_.side_files.add("token")
    round_.orderly = False  # a decision ends with status 0 once it is delivered; the run continues at its server
    round_.world.pause = PAUSE
    try:
        _play(round_, machines, size)
    finally:
        round_.world.pause = PIECE_PAUSE
        for machine in machines:
            machine.end(signal.SIGTERM)


def _play(round_: Round, machines: list[Machine], size: Size) -> None:
    choice = round_.choice
    token = (round_.place / "token").read_text().split()[0]
    begun = time.monotonic()
    for _ in range(choice.choice(size.runs)):
        round_.add(SCENARIO)
    readers = []
    for run in round_.runs:
        _create(round_, run, machines, token)
        if choice.random() < 0.5:
            readers.append(Reader(round_, run, lambda: [machine.port for machine in machines], token))
        if choice.random() < size.kills_between:
            _kill(round_, choice.choice(machines))
    while time.monotonic() - begun < size.kills and choice.random() >= size.ends_early and not _ended(round_):
        time.sleep(choice.uniform(*size.pause))
        _kill(round_, choice.choice(machines))
    until = time.monotonic() + on_this_machine(PATIENCE)
    round_.allowed_statuses |= {1, 2}  # of decisions that race with a server that takes the run over
    while not _ended(round_):
        _decide(round_)
        if time.monotonic() > until:
            rows = round_.must("runs", "-n", "0")
            raise Failure("never ends", str([(row["id"], row["status"]) for row in rows]))
        time.sleep(0.5)
    for reader in readers:
        reader.finish(on_this_machine(PATIENCE))
    for run in round_.runs:
        checks.effects(round_, run)
        run.ended = True
    round_.side_files |= {run.tag for run in round_.runs}
    round_.runs = choice.sample(round_.runs, 4)


def _create(round_: Round, run: Run, machines: list[Machine], token: str) -> None:
    """A client that is not answered asks another server, with the same key."""
    for _ in range(20):
        run.id = round_.choice.choice(machines).create(run.prompt, token)
        if run.id:
            return
    raise Failure("server", f"no server has answered for {run.tag}")


def _kill(round_: Round, machine: Machine) -> None:
    round_.count("kills")
    round_.note("kill -9 of a server")
    machine.end(signal.SIGKILL)
    machine.begin()


def _decide(round_: Round) -> None:
    """Decides calls that a kill left in doubt; the process that works on the run gets the decision."""
    for row in round_.must("runs", "-n", "0"):
        if row["status"] != "awaiting_user":
            continue
        run = next(run for run in round_.runs if run.id == row["id"])
        for step in round_.pending(run):
            run.decision = run.human.decide(step, lambda call, run=run: round_.happened(run, call))
            process = round_.start(["approve", run.decision.step, *run.decision.arguments, "--journal",
                                    str(round_.journal), "--json"], run)
            ended(round_, run, process)


def _ended(round_: Round) -> bool:
    rows = {row["id"]: row["status"] for row in round_.must("runs", "-n", "0")}
    lost = [run.id for run in round_.runs if run.id and run.id not in rows]
    if lost:
        raise Failure("record lost", f"acknowledged and not in the journal: {', '.join(lost)}")
    return all(rows.get(run.id) == "completed" for run in round_.runs)


play = on_database(lambda round_, _: _fleet(round_, Size((6, 12, 24), LAST_KILL)))
# Runs are created while servers are killed; each of these kills hits some of them at work.
crowd = on_database(lambda round_, _: _fleet(round_, Size((60,), 120, (2, 5), 0, 0.15)))
