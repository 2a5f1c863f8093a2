"""Runs whose journal is a PostgreSQL database: the disturbances of others, and a server that goes and comes back."""

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import checks
import crowds
import strikes
from rounds import Failure, Round, Run, Skip

LOST = r"PostgreSQL|connection|server"  # what a command says while the server is away
PR_SET_PDEATHSIG = 1
READY = 30.0  # seconds that the server may take to answer


class Server:
    """A server of its own, in a folder of its own, reached by a socket there."""

    def __init__(self) -> None:
        self._programs = next((folder for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
                               if (folder / "initdb").exists()), None)
        if self._programs is None or shutil.which("psql") is None:
            raise Skip("PostgreSQL is not installed")
        self._folder = Path(tempfile.mkdtemp(prefix="praxis-siege-"))
        # The programs refuse to work for root.
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        if self._user:
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        self._process: subprocess.Popen | None = None
        made = self._start("initdb", "-D", str(self._data), "-U", "praxis", "-A", "trust", "-E", "UTF8", "--no-locale",
                           "--no-sync", "--no-instructions")
        if made.wait() != 0:
            raise Failure("harness", f"initdb failed: {self._log.read_text(errors='replace')[-500:]}")

    @property
    def address(self) -> str:
        return f"postgres:///postgres?user=praxis&host={self._folder}"

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    def _start(self, program: str, *arguments: str) -> subprocess.Popen:
        libc = ctypes.CDLL(None)

        def end_with_parent() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)

        owner = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []} if self._user else {}
        with self._log.open("ab") as log:
            return subprocess.Popen([str(self._programs / program), *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, cwd=self._folder, preexec_fn=end_with_parent, **owner)

    def begin(self) -> None:
        """Starts the server and waits until it answers. Data that is not synced survives a crash of the server."""
        self._process = self._start("postgres", "-D", str(self._data), "-k", str(self._folder), "-h", "", "-F", "-c",
                                    "max_connections=200", "-c", "shared_buffers=16MB")
        until = time.monotonic() + READY
        while self.query("SELECT 1") is None:
            if time.monotonic() > until or self._process.poll() is not None:
                raise Failure("harness", f"the server does not start: {self._log.read_text(errors='replace')[-500:]}")
            time.sleep(0.02)

    def end(self, number: int = signal.SIGQUIT) -> None:
        """Ends the server: SIGINT in order, SIGQUIT as a crash."""
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait()
        self._process = None

    def query(self, sql: str) -> str | None:
        """Returns the first value; nothing if the server does not answer."""
        answer = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", str(self._folder), "-U", "praxis", "-c", sql,
                                 "postgres"], capture_output=True, text=True, check=False)
        return answer.stdout.strip() if answer.returncode == 0 else None

    def remove(self) -> None:
        self.end()
        shutil.rmtree(self._folder, ignore_errors=True)


class Journal:
    """The journal in a server, as the rounds use a path."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __str__(self) -> str:
        return self._server.address

    def exists(self) -> bool:
        """Whether a process has made the tables."""
        return self._server.query("SELECT to_regclass('praxis_sessions') IS NOT NULL") == "t"


def on_database(play: Callable[[Round, Server], None]) -> Callable[[Round], None]:
    """Returns the kind of round that plays with a server of its own, and checks before it is removed."""

    def played(round_: Round) -> None:
        server = Server()
        try:
            server.begin()
            round_.journal = Journal(server)
            play(round_, server)
            checks.after(round_)
            round_.checked = True
        finally:
            server.remove()

    return played


def _outage(round_: Round, server: Server) -> None:
    """The server crashes or restarts while runs work; they wait for it, and come to their end."""
    for _ in range(round_.choice.choice((1, 2, 3))):
        round_.add(round_.choice.choice(("single", "plain", "tree", "notes", "plan")))
    round_.excused += [LOST]
    round_.allowed_statuses |= {1}
    working = {run.tag: round_.begin(run) for run in round_.runs}
    works = threading.Thread(target=strikes.together,
                             args=(round_, lambda run: _work(round_, run, working[run.tag])))
    works.start()
    try:
        # In this thread: the server ends with the one that has started it.
        for _ in range(round_.choice.randint(1, 4)):
            works.join(round_.choice.uniform(0.05, 0.6))
            _interrupt(round_, server)
    finally:
        works.join()
    round_.excused.remove(LOST)
    for run in round_.runs:
        round_.finish(run)


def _interrupt(round_: Round, server: Server) -> None:
    number = round_.choice.choice((signal.SIGQUIT, signal.SIGINT))
    round_.note(f"signal {number} to the server")
    round_.count("faults")
    server.end(number)
    time.sleep(round_.choice.uniform(0, 0.5))
    server.begin()


def _work(round_: Round, run: Run, process) -> None:
    if run.human.choice.random() < 0.3:
        strikes.strike(round_, run, process)
    else:
        strikes.ended(round_, run, process)


kill = on_database(lambda round_, _: strikes.kill(round_))
rivals = on_database(lambda round_, _: strikes.rivals(round_))
crowd = on_database(lambda round_, _: crowds.crowd(round_))
outage = on_database(_outage)
