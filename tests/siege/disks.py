"""Disturbances of the disk: one that is too small, and a journal that is taken away under a run."""

import ctypes
import os
import re
import shutil
import signal
import time
from pathlib import Path

import checks
from binary import Answer, Process
from rounds import PATIENCE, Failure, Round, Run, Skip
from strikes import ended

NEW_MOUNTS, RECURSIVE, PRIVATE, REMOUNT = 0x20000, 0x4000, 1 << 18, 32


class Mounts:
    """Mounts that only this process and those below it see."""

    _private: bool | None = None

    @classmethod
    def prepare(cls) -> bool:
        """Leaves the name space of the machine's mounts; returns whether that is allowed."""
        if cls._private is None:
            libc = ctypes.CDLL(None, use_errno=True)
            cls._private = libc.unshare(NEW_MOUNTS) == 0 and cls._mount(b"none", b"/", None, RECURSIVE | PRIVATE, None)
        return cls._private

    @staticmethod
    def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, data: bytes | None) -> bool:
        return ctypes.CDLL(None, use_errno=True).mount(source, target, kind, ctypes.c_ulong(flags), data) == 0

    @classmethod
    def small(cls, folder: Path, size: int, again: bool = False) -> None:
        """Mounts a disk of `size` bytes on the folder, or changes the size of the one there."""
        flags = REMOUNT if again else 0
        if not cls.prepare() or not cls._mount(b"siege", os.fsencode(folder), b"tmpfs", flags, b"size=%d" % size):
            raise Skip("mounting a small disk is not allowed here")

    @staticmethod
    def remove(folder: Path) -> None:
        ctypes.CDLL(None).umount2(os.fsencode(folder), 2)


def small(round_: Round) -> None:
    """The journal is on a disk that is too small; with room, the run comes to its end."""
    disk = round_.place / "disk"
    disk.mkdir()
    run = round_.add(round_.choice.choice(("plain", "tree", "single", "approve", "treeask", "notes")))
    round_.journal = disk / "J"
    round_.side_files.add("disk")
    Mounts.small(disk, 4096 * round_.choice.randint(5, round_.choice.choice((30, 110))))
    try:
        round_.excused += [r"no space left"]
        ended(round_, run, round_.begin(run))
        round_.count("faults")
        if round_.choice.random() < 0.5:
            process = round_.advance(run)
            if process is not None:
                ended(round_, run, process)
        round_.excused.clear()
        Mounts.small(disk, 64 << 20, again=True)
        round_.finish(run)
        checks.after(round_)
        round_.checked = True
        if round_.failures:
            shutil.copytree(disk, round_.place / "disk-kept")
    finally:
        Mounts.remove(disk)


def _remove(journal: Path, other: Path) -> None:
    journal.unlink()


def _rename(journal: Path, other: Path) -> None:
    journal.rename(journal.with_name("elsewhere"))


def _folder(journal: Path, other: Path) -> None:
    journal.parent.rename(journal.parent.with_name("elsewhere"))


def _replace(journal: Path, other: Path) -> None:
    other.replace(journal)


def _text(journal: Path, other: Path) -> None:
    other.write_text("a text\n" * 100)
    other.replace(journal)


def _log(journal: Path, other: Path) -> None:
    Path(f"{journal}-wal").unlink()


def _cut_log(journal: Path, other: Path) -> None:
    os.truncate(f"{journal}-wal", 0)


def _overwrite_log(journal: Path, other: Path) -> None:
    with open(f"{journal}-wal", "r+b") as log:
        log.write(os.urandom(os.path.getsize(f"{journal}-wal")))


def _cut_file(journal: Path, other: Path) -> None:
    os.truncate(journal, 0)


def _index(journal: Path, other: Path) -> None:
    Path(f"{journal}-shm").unlink()


def _cut_index(journal: Path, other: Path) -> None:
    os.truncate(f"{journal}-shm", 0)


WAYS = (_remove, _rename, _folder, _replace, _text, _log, _cut_log, _overwrite_log, _cut_file, _index, _cut_index)


def taken(round_: Round) -> None:
    """The journal is moved, replaced, cut or deleted under a run: it stops before the next effect, and says why."""
    run = round_.add(round_.choice.choice(("single", "plain", "tree")))
    folder = round_.place / "disk"
    folder.mkdir()
    round_.journal = round_.place / "other"
    ended_run = round_.add("single")
    round_.finish(ended_run)
    round_.journal = folder / "J"
    round_.checked = True
    way = round_.choice.choice(WAYS)
    round_.world.slow = 20.0
    process = round_.begin(run)
    while process.running() and len(round_.world.effects(run.tag)) < round_.choice.choice((1, 1, 2)):
        time.sleep(0.002)
    if process.wait(round_.choice.uniform(0.0, 0.1)) is None:
        way(round_.journal, round_.place / "other")
        round_.count("damages")
        _stops(round_, run, process, way.__name__.strip("_"))
    round_.world.slow = 1.0


def _stops(round_: Round, run: Run, process: Process, way: str) -> None:
    begun = time.monotonic()
    answer = process.wait(PATIENCE)
    if answer is None:
        raise Failure("hang", f"{way}: {process.end().text()}")
    round_.note(answer.text())
    # What was recorded before may still leave: on a busy machine a process may not get the processor for a while.
    late = [name for name, arrivals in round_.world.effects(run.tag).items() if arrivals[-1].time > begun + 0.5]
    round_.count("effects", len(round_.world.effects(run.tag)))
    if way == "cut_index":
        round_.must("show", "last")  # the journal is whole
        if answer.status == -signal.SIGBUS and not late:
            return  # a commit was under way, and touched memory that was gone
    if answer.status == 0:
        raise Failure("journal gone unnoticed", f"{way}: status 0; later effects: {late}")
    if not re.search(r"journal|J\b", answer.err):
        raise Failure("unclear refusal", f"{way}: {answer.text()}")
    if late:
        raise Failure("effect without a journal", f"{way}: {late} began after it; {answer.text()}")
    if way != "cut_index":  # what is not in memory cannot be read without it
        _kept(round_, answer, way)


def _kept(round_: Round, answer: Answer, way: str) -> None:
    """What the run had is in files that `import` takes, with every event that the process printed."""
    files = re.findall(r"^kept: praxis import (\S+) --journal OTHER$", answer.err, re.MULTILINE)
    printed = {(event["session"], event["seq"]) for event in answer.lines()
               if "seq" in event and event["event"] not in checks.TRANSIENT}
    other, kept = ["--journal", str(round_.place / "kept")], set()
    for file in files:
        imported = round_.binary.call(["import", file, *other])
        Path(file).unlink()
        if imported.status != 0:
            raise Failure("run not kept", f"{way}: {imported.text()}")
        session = imported.out.strip()
        shown = round_.binary.call(["show", session, "--json", *other])
        kept |= {(session, record["seq"]) for record in shown.lines()}
    destroyed = way in ("cut_file", "cut_log", "overwrite_log")  # what is not in memory is gone
    if destroyed and "not kept: " in answer.err:
        return
    if not printed <= kept:
        raise Failure("run not kept", f"{way}: {len(printed - kept)} records are missing; {answer.text()}")
