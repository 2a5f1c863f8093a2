"""One round: some runs on one journal, what is done to them, and their way to the end."""

import random
import re
import shutil
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from agents import SCENARIOS, Scenario
from binary import KILLED, Answer, Binary, Process, on_this_machine
from people import Decision, Human
from world import World

STEPS = 60  # processes that one run may need until it ends
# Seconds that one process may take: a journal that closes waits up to ten for a lock, for each of its writers.
PATIENCE = 60.0


@dataclass
class Run:
    """One run of a scenario, through all its processes."""

    scenario: Scenario
    tag: str
    folder: Path
    human: Human
    id: str = ""
    answers: list[Answer] = field(default_factory=list)  # of the processes that worked on it
    records: dict[str, list[dict]] = field(default_factory=dict)  # the last look at each session
    ended: bool = False
    answer: str = ""
    decision: Decision | None = None  # the one of the process under way

    @property
    def prompt(self) -> str:
        return f"{self.scenario.root} {self.tag} please"


class Skip(Exception):
    """The machine lacks what a round needs."""


class Failure(Exception):
    """A check failed: its name and what was seen."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(f"{check}: {text}")
        self.check = check
        self.text = text


class Round:
    """The folder, journal and runs of one seed. Failures are collected; the first words of each name the check."""

    def __init__(self, seed: int, binary: Path, place: Path, world: World) -> None:
        self.seed = seed
        self.choice = random.Random(f"siege {seed}")
        self.world = world
        self.place = place
        self.journal = place / "J"
        self.runs: list[Run] = []
        self.counts: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self.notes: list[str] = []
        self.side_files: set[str] = set()  # names that may stay next to the journal
        self.excused: list[str] = []  # expressions for error texts that the disturbance explains
        self.allowed_statuses = {0, 3}
        self.checked = False  # the kind has made its own checks at the end
        self.orderly = True  # the processes of a run ended in the order of their work
        self._lock = threading.Lock()
        self._started: list[Process] = []
        shutil.rmtree(place, ignore_errors=True)
        (place / "output").mkdir(parents=True)
        (place / "home").mkdir()
        self.binary = Binary(binary, place, world.port, suspend=self.choice.random() < 0.2)

    def close(self) -> None:
        """Kills what is still running."""
        for process in self._started:
            if process.running():
                process.end()

    # ---- runs ---------------------------------------------------------------------------------------------

    def add(self, scenario: str) -> Run:
        """Adds a run with a folder and agent files of its own."""
        tag = f"r{self.seed}x{len(self.runs)}"
        folder = self.place / tag
        folder.mkdir()
        for name, text in SCENARIOS[scenario].files.items():
            (folder / name).write_text(text.format(port=self.world.port, tag=tag))
        human = Human(SCENARIOS[scenario], tag, random.Random(f"human {tag}"), folder)
        run = Run(SCENARIOS[scenario], tag, folder, human)
        self.runs.append(run)
        return run

    def fail(self, check: str, text: str) -> None:
        with self._lock:
            self.failures.append(Failure(check, text))

    def note(self, text: str) -> None:
        """Adds a line to the story of the round."""
        with self._lock:
            self.notes.append(f"{time.monotonic():.3f} {text}")

    def count(self, what: str, number: int = 1) -> None:
        with self._lock:
            self.counts[what] += number

    def happened(self, run: Run, call: str) -> int:
        """Returns how often the effect or line of a call happened outside."""
        lines = run.folder / f"{call}-{run.tag}"
        if call in run.scenario.lines:
            return len(lines.read_text().splitlines()) if lines.exists() else 0
        return len(self.world.effects(run.tag).get(call, []))

    def excuses(self, answer: Answer) -> bool:
        """Whether the disturbance explains that a process ended so."""
        return answer.status == KILLED or any(re.search(text, answer.reason()) for text in self.excused)

    # ---- commands -----------------------------------------------------------------------------------------

    def ask(self, *arguments: str, limit: float = 5.0) -> Answer:
        """Makes a call that only reads; it must end well and in time."""
        limit = on_this_machine(limit)
        answer = self.binary.call([*arguments, "--journal", str(self.journal)], limit=limit * 4)
        self.count("looks")
        if answer.seconds > limit:
            self.fail("slow command", answer.text())
        return answer

    def must(self, *arguments: str) -> list[dict]:
        """As `ask`, and fails the round if the call does."""
        answer = self.ask(*arguments, "--json")
        if answer.status != 0 and not self.excuses(answer):
            raise Failure("command of recovery", answer.text())
        return answer.lines()

    def must_text(self, *arguments: str) -> str:
        """As `must`, for a call whose output has no other form."""
        answer = self.ask(*arguments)
        if answer.status != 0:
            raise Failure("command of recovery", answer.text())
        return answer.out

    def row(self, run: Run) -> dict | None:
        """Returns the row of the run in the list of runs, and learns its id."""
        rows = self.rows(run)
        if len(rows) > 1:
            raise Failure("run doubled", f"{len(rows)} runs have the prompt of {run.tag}")
        if rows:
            run.id = rows[0]["id"]
        return rows[0] if rows else None

    def rows(self, run: Run) -> list[dict]:
        """Returns the rows of all runs with this prompt; a run that follows a plan is named by its agent."""
        rows = self.must("runs", "-n", "0")
        return [row for row in rows if row["title"].startswith(f"{run.prompt} ") or row["title"] == run.prompt or
                row["agent"] == run.tag]

    def pending(self, run: Run) -> list[dict]:
        """Returns the steps of the run and of all below it that wait for a human."""
        nodes = self.must("tree", run.id)
        return [self.full(step, node["id"]) for node in nodes for step in node["pending"]]

    @staticmethod
    def full(step: dict, session: str) -> dict:
        """Returns a pending step of the session, with the id by which every process knows it."""
        return step if "/" in step["id"] else {**step, "id": f"{session}/{step['id']}"}

    # ---- the way of a run ---------------------------------------------------------------------------------

    def begin(self, run: Run, wrapper: list[str] | None = None) -> Process:
        arguments = ["run", f"{run.scenario.root}.toml", run.prompt, "--journal", str(self.journal), "--json"]
        run.decision = None
        return self.start(arguments, run, wrapper)

    def advance(self, run: Run, wrapper: list[str] | None = None) -> Process | None:
        """Starts the process that takes the run further; nothing if it has ended."""
        row = self.row(run) if self.journal.exists() or not self.happened_at_all(run) else None
        if row is None:
            if self.happened_at_all(run):
                raise Failure("record lost", f"{run.tag} is not in the journal, and has reached the outside")
            return self.begin(run, wrapper)
        if row["status"] in ("completed", "error"):
            run.ended = True
            return None
        run.decision = None
        if row["status"] == "idle":
            raise Failure("prompt lost", f"{run.id} is in the journal without the prompt of {run.tag}")
        steps = self.pending(run)
        for problem in filter(None, map(run.human.problem, steps)):
            raise Failure("approval forgotten", problem)
        return self._decide(run, steps, wrapper) if steps else self.start(
            ["resume", run.id, "--journal", str(self.journal), "--json"], run, wrapper)

    def happened_at_all(self, run: Run) -> bool:
        return bool(self.world.effects(run.tag)) or self.world.model_calls(run.tag) > 0

    def _decide(self, run: Run, steps: list[dict], wrapper: list[str] | None) -> Process:
        step = run.human.choice.choice(steps)
        decision = run.human.decide(step, lambda call: self.happened(run, call))
        run.decision = decision
        common = ["--journal", str(self.journal), "--json"]
        own = decision.step.startswith(run.id)
        if own and run.human.choice.random() < 0.4 and decision.verb in ("allow", "deny"):
            park = decision.step.split("/")[1]
            reason = ["-m", "no"] if decision.verb == "deny" else []
            return self.start(["resume", run.id, f"--{decision.verb}", park, *reason, *common], run, wrapper)
        return self.start(["approve", decision.step, *decision.arguments, *common], run, wrapper)

    def start(self, arguments: list[str], run: Run, wrapper: list[str] | None = None) -> Process:
        """Starts a process that works on the run."""
        self.note(" ".join(arguments))
        self.count("processes")
        process = self.binary.start(arguments, run.folder, wrapper)
        with self._lock:
            self._started.append(process)
        return process

    def over(self, run: Run, answer: Answer) -> None:
        """Notes and judges how a process of the run ended."""
        self.note(answer.text())
        run.answers.append(answer)
        for event in answer.lines():
            if not run.id and event.get("depth") == 0 and event.get("session"):
                run.id = event["session"]
        if answer.status in (0, 3) or "is decided" in answer.err:
            if run.decision:
                run.human.accept(run.decision)
        if answer.status not in self.allowed_statuses and not self.excuses(answer):
            raise Failure("exit status", answer.text())

    def finish(self, run: Run) -> None:
        """Takes the run to its end without further disturbance."""
        if run.scenario.name == "linger":
            (run.folder / f"go-{run.tag}").touch()
        for _ in range(STEPS):
            process = self.advance(run)
            if process is None:
                return
            answer = process.wait(on_this_machine(PATIENCE))
            if answer is None:
                raise Failure("hang", process.end().text())
            self.over(run, answer)
        raise Failure("never ends", f"{run.tag} has not ended after {STEPS} processes")
