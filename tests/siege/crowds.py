"""Many processes on one journal."""

import threading
import time

import checks
from binary import on_this_machine
from rounds import Failure, Round, Run
from strikes import NAMES, ended, strike, together

READERS = (("runs",), ("approve",), ("tree", "--all"), ("show", "last"), ("doctor",))


def crowd(round_: Round) -> None:
    """Many runs begin at the same moment on one journal; all come to their end."""
    _crowd(round_, round_.choice.choice((2, 4, 8, 8, 16, 30)))


def host(round_: Round) -> None:
    """As `crowd`, with up to 300 processes."""
    _crowd(round_, round_.choice.choice((50, 100, 200, 300)))


def _crowd(round_: Round, number: int) -> None:
    if round_.choice.random() < 0.5:
        round_.finish(round_.add("single"))
    scenario = round_.choice.choice(("single", "local"))
    runs = [round_.add(scenario) for _ in range(number)]
    begun = time.monotonic()
    processes = [round_.begin(run) for run in runs]
    limit = on_this_machine(max(60.0, number * 0.6))
    for run, process in zip(runs, processes, strict=True):
        answer = process.wait(limit + begun - time.monotonic())
        if answer is None:
            raise Failure("hang", process.end().text())
        try:
            round_.over(run, answer)
        except Failure as failure:
            round_.fail(failure.check, failure.text)
    round_.note(f"{number} runs took {time.monotonic() - begun:.1f} s")
    for run in runs:
        checks.effects(round_, run)
    rows = [row for row in round_.must("runs", "-n", "0") if row["status"] == "completed"]
    if len(rows) != len(round_.runs):
        raise Failure("outcome", f"{len(rows)} of {len(round_.runs)} runs are completed")
    round_.side_files |= {run.tag for run in round_.runs}
    round_.runs = round_.choice.sample(round_.runs, min(3, len(round_.runs)))
    for run in round_.runs:
        round_.finish(run)


def readers(round_: Round) -> None:
    """Readers look all the time while runs work, are killed and close the journal; no look fails."""
    for _ in range(round_.choice.choice((1, 2))):
        round_.add(round_.choice.choice(NAMES))
    round_.finish(first := round_.add("single"))
    round_.orderly = False
    done = threading.Event()
    threads = [threading.Thread(target=_read, args=(round_, done, number)) for number in (0, 2)]
    for thread in threads:
        thread.start()

    def work(run: Run) -> None:
        if run is first:
            return
        for _ in range(2):
            process = round_.advance(run)
            if process is None:
                break
            if run.human.choice.random() < 0.4:
                strike(round_, run, process)
            else:
                ended(round_, run, process)
        round_.finish(run)

    try:
        round_.world.on_effect = lambda tag, name: _announced(round_, tag, name)
        together(round_, work)
    finally:
        round_.world.on_effect = None
        done.set()
        for thread in threads:
            thread.join()


def _read(round_: Round, done: threading.Event, number: int) -> None:
    while not done.is_set():
        answer = round_.ask(*READERS[number % len(READERS)])
        number += 1
        if answer.status != 0 and not round_.excuses(answer):
            round_.fail("reader", answer.text())
        done.wait(0.01)


def _announced(round_: Round, tag: str, name: str) -> None:
    """When an effect arrives outside, the journal says already that it would."""
    run = next((run for run in round_.runs if run.tag == tag), None)
    if run is None or run.scenario.name not in ("mix", "plain", "tell", "single"):
        return
    try:
        row = round_.row(run)
        records = round_.must("show", row["id"]) if row else []
    except Failure as failure:
        round_.fail(failure.check, failure.text)
        return
    calls = [record["body"].get("call") for record in records if record["kind"] == "effect_intended"]
    if f"{tag}-{name}" not in calls:
        round_.fail("effect before its record", f"{name} of {tag} has arrived; the journal has {len(records)} records")
