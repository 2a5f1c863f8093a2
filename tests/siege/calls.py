"""Disturbances at system calls, by strace: the n-th call of a kind kills the process or fails."""

import contextlib
import os
import re
import shutil
import signal
import time
from pathlib import Path

import checks
from binary import Process
from rounds import Failure, Round, Run, Skip
from strikes import PATIENCE, STOPPED, ended, take_over

NAMES = ("plain", "single", "tree", "approve", "notes", "plan", "treeask")
CALLS = ("fdatasync", "pwrite64", "fcntl", "unlink", "ftruncate", "/rename", "openat", "fsync", "mmap")
ERRORS = ("EIO", "EIO", "ENOSPC", "EINTR")
SENDS = re.compile(r"(sendmsg|sendto|write|writev)\(.*\"(POST|PUT) /")


def strace() -> str:
    """Returns the program; without it, the round is skipped."""
    program = shutil.which("strace")
    if program is None:
        raise Skip("strace is not installed")
    return program


def inject(round_: Round) -> None:
    """One system call on the journal's files kills the process or fails: once, or from then on."""
    program = strace()
    run = round_.add(round_.choice.choice(NAMES))
    if round_.choice.random() < 0.5:  # a journal that exists already, with another run in it
        other = round_.add("single")
        round_.finish(other)
    round_.excused += [re.escape(str(round_.journal)), r"disk I/O error", r"no space left"]
    for _ in range(round_.choice.choice((1, 1, 2, 3))):
        process = round_.advance(run, _wrapper(round_, program))
        if process is None:
            break
        round_.count("faults")
        ended(round_, run, process)
        checks.look(round_, run)
    round_.orderly = False
    round_.finish(run)


def halt(round_: Round) -> None:
    """The owner is stopped in a system call on the journal's files: others read at once, and take its run by force."""
    run = round_.add(round_.choice.choice(NAMES))
    run.human.careful = True
    if round_.choice.random() < 0.5:
        round_.finish(round_.add("single"))
    call = round_.choice.choice(("fdatasync", "pwrite64", "fcntl", "ftruncate", "unlink", "openat"))
    first = round_.choice.randint(1, {"fdatasync": 25, "pwrite64": 25, "fcntl": 120}.get(call, 4))
    round_.note(f"strace: stopped at {call} {first}")
    trace = round_.place / "trace"
    process = round_.begin(run, _strace(round_, strace(), call, "signal=STOP", str(first), trace))
    owner = _stopped(process, trace)
    if owner is None:
        ended(round_, run, process)
        trace.unlink(missing_ok=True)
        round_.finish(run)
        return
    round_.count("stops")
    process.send(signal.SIGKILL)  # strace
    _hold(owner)
    trace.unlink()
    round_.excused += [STOPPED, rf"process {owner}\b"]
    try:
        if round_.journal.exists() and round_.row(run) is not None:
            checks.every_command(round_, run)
            take_over(round_, run)
        if round_.choice.random() < 0.5:
            _end(owner, signal.SIGCONT, 20)
    finally:
        _end(owner, signal.SIGKILL, 10)
    ended(round_, run, process)
    round_.orderly = False
    round_.finish(run)


def _stopped(process: Process, trace: Path) -> int | None:
    """Returns the process below strace once it is stopped; nothing if it ends before.

    Only strace can tell: it stops each thread for a moment at every call that it shows, and at its own start it stops
    a child of its own, which is not the process of the run.
    """
    until = time.monotonic() + PATIENCE
    while process.running() and time.monotonic() < until:
        text = trace.read_text(errors="replace") if trace.exists() else ""
        if stop := re.search(r"^(\d+) +--- stopped by SIGSTOP", text, re.MULTILINE):
            return _group(int(stop[1]))
        time.sleep(0.01)
    return None


def _group(thread: int) -> int | None:
    """Returns the process that a thread belongs to; nothing if it has ended."""
    try:
        status = Path(f"/proc/{thread}/status").read_text()
    except OSError:
        return None
    return int(re.search(r"^Tgid:\s*(\d+)", status, re.MULTILINE)[1])


def _hold(owner: int) -> None:
    """Waits until all threads of a process are stopped without a tracer, which may have let some go."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner, signal.SIGSTOP)
        threads = [_state(int(task.name)) for task in Path(f"/proc/{owner}/task").glob("*")]
        if all(state == "T" for state in threads):
            return
        time.sleep(0.01)
    raise Failure("harness", f"process {owner} does not stop")


def _state(pid: int) -> str:
    """Returns the state of a process, such as `T`; empty if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0]
    except OSError:
        return ""


def _end(pid: int, number: int, seconds: float) -> None:
    """Sends the signal to a process that is not our child, and waits for its end."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    while _state(pid) not in ("", "Z") and time.monotonic() < until:
        time.sleep(0.01)


def _wrapper(round_: Round, program: str) -> list[str]:
    """Returns the strace that strikes once; small numbers of calls are more frequent."""
    choice = round_.choice
    call = choice.choice(CALLS)
    most = {"fdatasync": 40, "pwrite64": 120, "fcntl": 150, "openat": 8}.get(call, 6)
    first = choice.randint(1, max(1, int(most * choice.random())))
    if choice.random() < 0.15:  # in the first sync after the opening, the log of SQLite is but a header
        call, tamper, when = "fdatasync", "signal=KILL", "1"
    elif choice.random() < 0.4:
        tamper, when = "signal=KILL", str(first)
    else:
        tamper = f"error={choice.choice(ERRORS)}"
        when = choice.choice((f"{first}", f"{first}..{first + 3}", f"{first}+"))
        if "EINTR" in tamper and when.endswith("+"):
            when = str(first)  # a call that is always interrupted is repeated for ever, and rightly so
    round_.note(f"strace: {call} {tamper} when={when}")
    return _strace(round_, program, call, tamper, when)


def _strace(round_: Round, program: str, call: str, tamper: str, when: str,
            output: Path = Path("/dev/null")) -> list[str]:
    """Returns the strace that tampers with calls on the journal's files, and writes what it sees to a file."""
    names = [round_.journal, *(f"{round_.journal}{end}" for end in ("-wal", "-shm", ".owners"))]
    names += sorted(round_.place.glob("J.*"))
    paths = [word for name in dict.fromkeys(map(str, names)) for word in ("-P", name)]
    return [program, "-f", "-o", str(output), "-e", f"trace={call}", "-e", f"inject={call}:{tamper}:when={when}",
            *paths]


def order(round_: Round) -> None:
    """Nothing leaves for the model or an effect before the records that announce it are synced."""
    run = round_.add("single")
    output = round_.place / "trace"
    calls = "trace=pwrite64,fdatasync,fsync,sendmsg,sendto,write,writev"
    process = round_.begin(run, [strace(), "-f", "-y", "-qq", "-s", "40", "-o", str(output), "-e", calls])
    answer = process.wait(PATIENCE)
    if answer is None:
        raise Failure("hang", process.end().text())
    round_.over(run, answer)
    sends = _early_sends(round_, output.read_text(errors="replace").splitlines())
    output.unlink()
    if sends < 9:
        raise Failure("harness", f"the trace shows {sends} requests instead of 9")
    round_.count("faults")
    round_.finish(run)


def _early_sends(round_: Round, lines: list[str]) -> int:
    """Returns the number of requests; reports those that left between a write to the log and its sync."""
    sends, unsynced, syncing = 0, "", {}
    for line in lines:
        thread = line.split()[0]
        if re.search(r"pwrite64\(\d+<[^>]*J-wal>", line):
            unsynced = line
        elif re.search(r"fdatasync\(\d+<[^>]*J-wal>", line):
            if "unfinished" in line:
                syncing[thread] = unsynced
            else:
                unsynced = ""
        elif "fdatasync resumed" in line and syncing.pop(thread, None) == unsynced:
            unsynced = ""
        elif SENDS.search(line):
            sends += 1
            if unsynced:
                round_.fail("early send", f"{line[:120]} after {unsynced[:120]}, which is not synced")
    return sends
