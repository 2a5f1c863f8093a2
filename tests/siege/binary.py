"""Starts the binary under test, with its own process group and an environment of its own."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

KILLED = -signal.SIGKILL


def on_this_machine(seconds: float) -> float:
    """Returns a limit of time for a machine as busy as this one is now: longer with more than two tasks a processor."""
    return seconds * max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1)))


@dataclass
class Answer:
    """How one call of the binary ended."""

    arguments: list[str]
    status: int  # negative: killed by that signal
    out: str
    err: str
    seconds: float

    def lines(self) -> list[dict]:
        """Returns the JSON lines of the output without the envelope; a line cut off by a kill is dropped."""
        return [line for line in json_lines(self.out) if line.get("event") != "result"]

    def envelope(self) -> dict:
        """Returns the last line of the output of a command with --json; empty if a kill cut it off."""
        lines = json_lines(self.out)
        return lines[-1] if lines and lines[-1].get("event") == "result" else {}

    def text(self) -> str:
        """Returns the call and its end in one line."""
        return f"praxis {' '.join(self.arguments)}: status {self.status}, {self.seconds:.1f} s, {self.reason() or 'no text'}"

    def reason(self) -> str:
        """Returns what the binary says about its end; `doctor` says it in its output."""
        bad = [line for line in self.out.splitlines() if line.startswith("failed")] if self.arguments[0] == "doctor" else []
        return " | ".join([*bad, *self.err.strip().splitlines()[-3:]])


def json_lines(text: str) -> list[dict]:
    """Returns the complete JSON lines of a text."""
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            pass
    return [line for line in found if isinstance(line, dict)]


class Process:
    """A started call, whose output goes to files that survive it."""

    def __init__(self, arguments: list[str], command: list[str], folder: Path, place: Path, name: str,
                 environment: dict[str, str]) -> None:
        self.arguments = arguments
        self._out = place / f"{name}.out"
        self._err = place / f"{name}.err"
        self.started = time.monotonic()
        self.ended = 0.0
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                           env=environment, start_new_session=True)

    @property
    def pid(self) -> int:
        return self._child.pid

    def running(self) -> bool:
        if self._child.poll() is None:
            return True
        self.ended = self.ended or time.monotonic()
        return False

    def send(self, number: int, group: bool = False) -> bool:
        """Sends a signal to the process or its group; returns whether it was still there."""
        if not self.running():
            return False
        try:
            (os.killpg if group else os.kill)(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait(self, seconds: float) -> Answer | None:
        """Returns how it ended, or nothing if it has not within the time."""
        try:
            self._child.wait(max(seconds, 0.001))
        except subprocess.TimeoutExpired:
            return None
        self.ended = self.ended or time.monotonic()
        return Answer(self.arguments, self._child.returncode, _read(self._out), _read(self._err),
                      self.ended - self.started)

    def output(self) -> str:
        return _read(self._out)

    def errors(self) -> str:
        return _read(self._err)

    def end(self) -> Answer:
        """Kills the whole group and returns how the process ended."""
        for number in (signal.SIGCONT, signal.SIGKILL):
            self.send(number, group=True)
        answer = self.wait(10)
        if answer is None:
            raise RuntimeError(f"process {self.pid} cannot be killed")
        return answer


def _read(file: Path) -> str:
    return file.read_text(errors="replace")


class Binary:
    """The binary under test, for the runs of one folder."""

    def __init__(self, path: Path, place: Path, port: int, suspend: bool = False) -> None:
        self.path = path
        self._place = place
        self._count = 0
        self._environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(place / "home"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "PRAXIS_SIEGE": place.name,
            "PRAXIS_NETWORK_PATIENCE": "4s",
            **({"PRAXIS_SUSPEND": "true"} if suspend else {}),
        }

    def start(self, arguments: list[str], folder: Path | None = None, wrapper: list[str] | None = None) -> Process:
        """Starts a call in `folder`, perhaps below a wrapper such as strace."""
        self._count += 1
        name = f"{self._count:03}-{arguments[0]}"
        command = [*(wrapper or []), str(self.path), *arguments]
        return Process(arguments, command, folder or self._place, self._place / "output", name, self._environment)

    def call(self, arguments: list[str], folder: Path | None = None, limit: float = 30) -> Answer:
        """Makes a call and waits for it; one that takes longer than the limit is killed."""
        process = self.start(arguments, folder)
        return process.wait(limit) or process.end()


def survivors(mark: str, seconds: float = 3) -> list[str]:
    """Returns the processes that still belong to the round `mark` after the time: by environment or arguments."""
    until = time.monotonic() + on_this_machine(seconds)
    while True:
        found = _marked(mark.encode())
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def _marked(mark: bytes) -> list[str]:
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes()
            environment = Path(f"/proc/{entry}/environ").read_bytes()
        except OSError:
            continue
        if line and (mark in line or b"PRAXIS_SIEGE=" + mark in environment):
            found.append(f"{entry} {line.replace(bytes(1), b' ').decode(errors='replace').strip()[:120]}")
    return found
