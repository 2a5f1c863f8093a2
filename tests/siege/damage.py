"""Damage of files between processes: what is read is refused, or as it was written."""

import json
import random
import re
import shutil
import signal
import time
from pathlib import Path

import checks
from binary import Answer
from rounds import PATIENCE, Failure, Round, Run
from strikes import ended


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


def _damage(round_: Round, log: bool, older: Path) -> tuple[str, bool]:
    """Damages one file; returns what was done, and whether it was the file of the journal that was deleted."""
    choice = round_.choice
    files = [file for file in _side(round_) if log or not file.name.endswith("-wal")]
    file = choice.choice([*files, *[file for file in files if file.name.endswith("-wal")] * 4])
    ways = ["delete"] if file.stat().st_size == 0 else ["delete", "cut", "zero", *("flip", "noise") * 2]
    if log:
        ways.append("older")
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
    """A file is damaged, but the log of SQLite: what is read is refused, or as written; nothing is repeated."""
    _play(round_, log=False)


def log_damage(round_: Round) -> None:
    """As `damage`, mostly of the log of SQLite, and with files that are older than the others."""
    _play(round_, log=True)


def _play(round_: Round, log: bool) -> None:
    run = round_.add(round_.choice.choice(("single", "plain", "tree", "approve")))
    copies = round_.place / "copies"
    copies.mkdir()
    round_.side_files.add("copies")
    _kill_after(round_, run, 1)
    _copy(_side(round_), copies / "older")
    if round_.choice.random() < 0.4:
        round_.finish(run)
    else:
        _kill_after(round_, run, round_.choice.choice((2, 2, 3)))
    checks.look(round_, run)
    if not run.records:
        round_.finish(run)
        return
    _copy(_side(round_), copies / "sound")
    for _ in range(4):
        _restore(round_, copies / "sound")
        done, gone = _damage(round_, log, copies / "older")
        round_.note(f"damage: {done}")
        round_.count("damages")
        _read_damaged(round_, run, done, gone)
    _resume_damaged(round_, run, done)
    _restore(round_, copies / "sound")
    round_.checked = True


def altered(round_: Round) -> None:
    """A run is exported, altered and imported elsewhere: it is refused, or its replay diverges."""
    run = round_.add(round_.choice.choice(("single", "plain", "mix", "notes")))
    round_.finish(run)
    lines = [json.loads(line) for line in round_.must_text("export", run.id).splitlines()]
    places = [line for line in lines if '"outcome"' not in json.dumps(line) and '"result"' in json.dumps(line)]
    round_.checked = True
    for number in range(3):
        place = round_.choice.choice(places)
        text = json.dumps(place)
        changed = json.loads(re.sub(r"ok (\w)", lambda found: f"ok {found[1].upper()}!", text, count=1))
        if changed == place:
            continue
        file = round_.place / f"altered-{number}.jsonl"
        file.write_text("".join(json.dumps(changed if line is place else line) + "\n" for line in lines))
        round_.count("damages")
        journal = ["--journal", str(round_.place / f"K{number}")]
        taken_in = round_.binary.call(["import", str(file), *journal])
        if taken_in.status == 0:
            answer = round_.binary.call(["replay", "last", "--json", *journal])
            if answer.status != 7 or answer.envelope().get("identical"):
                raise Failure("replay", f"the result {text[:150]} was altered; {answer.text()} {answer.out[:200]}")
        elif not _clear(taken_in):
            raise Failure("unclear refusal", taken_in.text())


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
        seen = answer.lines()
        whole = seen == records[:len(seen)] and len(seen) >= _acknowledged(run, session)
        if answer.status == 0 and not whole:
            raise Failure("damage read as sound", f"{done}: {len(seen)} of {len(records)} records: {session}")


def _acknowledged(run: Run, session: str) -> int:
    """Returns the last record of a session that a process has shown. A kill may leave a further one in the
    log whose commit was never acknowledged: it may be lost with a damaged end of the log."""
    events = [event for answer in run.answers for event in answer.lines() if event.get("session") == session]
    return max((event["seq"] for event in events if event.get("event") not in checks.TRANSIENT), default=0)


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
