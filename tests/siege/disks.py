"""Disturbances of the files: small disks, damage between processes, a journal that is taken away under a run."""

import ctypes
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import checks
from binary import Answer
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
    Mounts.small(disk, 4096 * round_.choice.randint(5, 110))
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


# ---- damage between processes -----------------------------------------------------------------------------


def _side(round_: Round) -> list[Path]:
    """Returns the journal's files, and the files next to it."""
    return sorted(path for path in round_.place.iterdir() if path.is_file() and path.name.startswith("J"))


def _copy(files: list[Path], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files:
        shutil.copy2(file, folder / file.name)


def _restore(round_: Round, folder: Path) -> None:
    for file in _side(round_):
        file.unlink()
    for file in folder.iterdir():
        shutil.copy2(file, round_.place / file.name)


def _flip(data: bytearray, choice: random.Random) -> str:
    at = choice.randrange(len(data))
    data[at] ^= 1 << choice.randrange(8)
    return f"bit of byte {at}"


def _zero(data: bytearray, choice: random.Random) -> str:
    at = choice.randrange(len(data)) // 512 * 512
    data[at:at + 512] = bytes(len(data[at:at + 512]))
    return f"sector at {at} zero"


def _cut(data: bytearray, choice: random.Random) -> str:
    at = choice.randrange(len(data))
    del data[at:]
    return f"cut at {at}"


def _noise(data: bytearray, choice: random.Random) -> str:
    at = choice.randrange(len(data))
    data[at:at + 64] = choice.randbytes(len(data[at:at + 64]))
    return f"noise at {at}"


def _damage(round_: Round, older: Path) -> tuple[str, bool]:
    """Damages one file; returns what was done, and whether it was the file of the journal that was deleted."""
    choice = round_.choice
    files = [file for file in _side(round_)]
    file = choice.choice([*files, *(file for file in files if file.name.endswith("-wal"))])
    ways = ["delete"] if file.stat().st_size == 0 else ["delete", "older", "cut", "zero", *("flip", "noise") * 2]
    way = choice.choice(ways)
    if way == "delete":
        file.unlink()
        return f"{file.name} deleted", file.name == "J"
    if way == "older" and (older / file.name).exists():
        shutil.copy2(older / file.name, file)
        return f"{file.name} older", False
    data = bytearray(file.read_bytes())
    done = {"flip": _flip, "zero": _zero, "cut": _cut, "noise": _noise}.get(way, _flip)(data, choice)
    file.write_bytes(data)
    return f"{file.name}: {done}", False


def damage(round_: Round) -> None:
    """Files are damaged after a kill: what is read is refused, or as written; nothing settled is repeated."""
    run = round_.add(round_.choice.choice(("single", "plain", "tree", "approve")))
    copies = round_.place / "copies"
    copies.mkdir()
    round_.side_files.add("copies")
    _kill_after(round_, run, 1)
    _copy(_side(round_), copies / "older")
    _kill_after(round_, run, round_.choice.choice((2, 2, 3)))
    checks.look(round_, run)
    if not run.records:
        round_.finish(run)
        return
    _copy(_side(round_), copies / "sound")
    for _ in range(4):
        _restore(round_, copies / "sound")
        done, gone = _damage(round_, copies / "older")
        round_.note(f"damage: {done}")
        round_.count("damages")
        _read_damaged(round_, run, done, gone)
    _resume_damaged(round_, run, done)
    _restore(round_, copies / "sound")
    round_.checked = True


def _kill_after(round_: Round, run: Run, number: int) -> None:
    """Takes the run on and kills its process once that many effects have happened."""
    process = round_.advance(run)
    if process is None:
        return
    until = time.monotonic() + PATIENCE
    while process.running() and len(round_.world.effects(run.tag)) < number and time.monotonic() < until:
        time.sleep(0.002)
    process.wait(round_.choice.uniform(0.001, 0.03))
    if process.send(signal.SIGKILL):
        round_.count("kills")
    ended(round_, run, process)


def _clear(answer: Answer) -> bool:
    """Whether a call was refused with a text, as opposed to a crash."""
    return answer.status in (1, 2, 7) and len(answer.reason()) > 20


def _read_damaged(round_: Round, run: Run, done: str, gone: bool) -> None:
    for command in checks.RECOVERY:
        answer = round_.ask(*(run.id if word == "ID" else word for word in command))
        if answer.status != 0 and not _clear(answer):
            raise Failure("unclear refusal", f"{done}: {answer.text()}")
    if gone:
        return
    for session, records in run.records.items():
        answer = round_.ask("show", session, "--json")
        if answer.status == 0 and answer.lines() != records:
            raise Failure("damage read as sound", f"{done}: {len(answer.lines())} of {len(records)} records: {session}")


def _resume_damaged(round_: Round, run: Run, done: str) -> None:
    """Resumes on the damaged journal: refused, or the right end."""
    for _ in range(12):
        answer = round_.ask("runs", "--json")
        rows = [row for row in answer.lines() if row["id"] == run.id]
        if not rows or rows[0]["status"] == "completed":
            break
        pending = round_.ask("tree", run.id, "--json")
        steps = [round_.full(step, node["id"]) for node in pending.lines() for step in node["pending"]]
        if steps:
            decision = run.human.decide(steps[0], lambda call: round_.happened(run, call))
            arguments = ["approve", decision.step, *decision.arguments]
        else:
            arguments = ["resume", run.id]
        answer = round_.binary.call([*arguments, "--journal", str(round_.journal), "--json"], run.folder)
        round_.note(answer.text())
        if answer.status not in (0, 3):
            if not _clear(answer):
                raise Failure("unclear refusal", f"{done}: {answer.text()}")
            break
    for name in run.scenario.effects:
        number, most = round_.happened(run, name), 1 + len(run.human.repeats.get(name, ()))
        round_.count("effects", number)
        if number > most:
            raise Failure("effect repeated", f"{done}: {name} happened {number} times, allowed {most}")


# ---- taken away under a run -------------------------------------------------------------------------------


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


def _cut_file(journal: Path, other: Path) -> None:
    os.truncate(journal, 0)


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
    way = round_.choice.choice((_remove, _rename, _folder, _replace, _text, _log, _cut_log, _cut_file))
    round_.world.slow = 6.0
    process = round_.begin(run)
    while process.running() and len(round_.world.effects(run.tag)) < round_.choice.choice((1, 1, 2)):
        time.sleep(0.002)
    if process.wait(round_.choice.uniform(0.0, 0.1)) is None:
        way(round_.journal, round_.place / "other")
        round_.count("damages")
        _stops(round_, run, process, way.__name__.strip("_"))
    round_.world.slow = 1.0


def _stops(round_: Round, run: Run, process, way: str) -> None:
    begun = time.monotonic()
    answer = process.wait(PATIENCE)
    if answer is None:
        raise Failure("hang", f"{way}: {process.end().text()}")
    round_.note(answer.text())
    late = [name for name, arrivals in round_.world.effects(run.tag).items() if arrivals[-1].time > begun + 0.15]
    round_.count("effects", len(round_.world.effects(run.tag)))
    if answer.status == 0:
        raise Failure("journal gone unnoticed", f"{way}: status 0; later effects: {late}")
    if not re.search(r"journal|J\b", answer.err):
        raise Failure("unclear refusal", f"{way}: {answer.text()}")
    if late:
        raise Failure("effect without a journal", f"{way}: {late} began after it; {answer.text()}")
