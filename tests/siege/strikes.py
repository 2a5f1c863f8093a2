"""Disturbances that strike processes while they work: kills, stops, interrupts, rivals."""

import signal
import threading
import time
from collections.abc import Callable

import checks
from binary import Process, on_this_machine
from rounds import PATIENCE, Failure, Round, Run

NAMES = ("mix", "tell", "linger", "plain", "tree", "approve", "treeask", "python", "notes", "plan")
STOPPED = r"belongs to another writer|taken over by another process|lease"


def together(round_: Round, work: Callable[[Run], None]) -> None:
    """Calls `work` for each run in a thread of its own; failures are collected."""

    def guarded(run: Run) -> None:
        try:
            work(run)
        except Failure as failure:
            round_.fail(failure.check, f"{run.scenario.name} {run.tag}: {failure.text}")

    threads = [threading.Thread(target=guarded, args=(run,)) for run in round_.runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def moment(run: Run) -> float:
    """Returns a time after the start of a process, in seconds; short ones are more frequent."""
    return run.human.choice.uniform(0, 0.35) * run.human.choice.random() ** 0.5


def ended(round_: Round, run: Run, process: Process) -> None:
    """Waits for the end of a process of the run, and judges it."""
    answer = process.wait(on_this_machine(PATIENCE))
    if answer is None:
        raise Failure("hang", process.end().text())
    round_.over(run, answer)


def strike(round_: Round, run: Run, process: Process, number: int = signal.SIGKILL) -> None:
    """Sends the signal to the process or its group some time after its start; it may have ended before."""
    if process.wait(moment(run)) is None:
        group = run.human.choice.random() < 0.4
        if process.send(number, group):
            round_.count("kills")
            round_.note(f"signal {number} to {process.pid}{' and its group' if group else ''}")
    ended(round_, run, process)


def kill(round_: Round) -> None:
    """One to three runs on one journal, each killed up to six times, also while it recovers."""
    for _ in range(round_.choice.choice((1, 1, 2, 3))):
        round_.add(round_.choice.choice(NAMES))

    def work(run: Run) -> None:
        for _ in range(run.human.choice.randint(1, 6)):
            process = round_.advance(run)
            if process is None:
                break
            strike(round_, run, process)
            checks.programs_gone(round_, run)
            checks.look(round_, run)
            if run.id and run.human.choice.random() < 0.15:
                checks.every_command(round_, run)
        round_.finish(run)

    together(round_, work)


def stop(round_: Round) -> None:
    """The owner is stopped, another process takes the run by force, and the owner wakes."""
    run = round_.add(round_.choice.choice(("mix", "plain", "tree", "approve", "single", "treeask", "notes")))
    run.human.careful = True
    owner = round_.begin(run)
    if owner.wait(moment(run)) is not None or not owner.send(signal.SIGSTOP):
        round_.over(run, owner.end())
        round_.finish(run)
        return
    round_.count("stops")
    round_.note(f"stopped {owner.pid}")
    round_.excused += [STOPPED, rf"process {owner.pid}\b", r"has not answered yet"]
    if round_.row(run) is not None:
        take_over(round_, run)
    wakes = threading.Timer(8, lambda: owner.send(signal.SIGCONT, group=True))  # for those that rightly wait for it
    wakes.start()
    if run.id and run.human.choice.random() < 0.6:
        round_.finish(run)
    wakes.cancel()
    owner.send(signal.SIGCONT, group=True)
    ended(round_, run, owner)
    round_.orderly = False
    round_.finish(run)


def take_over(round_: Round, run: Run) -> None:
    """Resumes the run by force, if it is not over. Its owner is stopped, perhaps with a lock of the journal."""
    row = round_.row(run)
    if row["status"] in ("completed", "awaiting_user"):
        return
    arguments = ["resume", run.id, "--force", "--journal", str(round_.journal), "--json"]
    ended(round_, run, round_.start(arguments, run))


def interrupt(round_: Round) -> None:
    """A run is asked to end by a signal: what has left it is recorded as unknown, not as cancelled."""
    run = round_.add(round_.choice.choice(("mix", "plain", "tree", "single", "treeask", "plan")))
    round_.world.slow = 4.0
    number = round_.choice.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    process = round_.begin(run)
    round_.allowed_statuses |= {130, 143, 129, -number}
    if process.wait(round_.choice.uniform(0.02, 0.8)) is None and process.send(number):
        round_.count("interrupts")
        sent = time.monotonic()
        ended(round_, run, process)
        if time.monotonic() - sent > on_this_machine(8):
            raise Failure("slow stop", f"signal {number} took {time.monotonic() - sent:.1f} s")
    else:
        ended(round_, run, process)
    round_.world.slow = 1.0
    if run.answers[-1].status == -number and (run.answers[-1].out or round_.happened_at_all(run)):
        raise Failure("exit status", run.answers[-1].text())  # only a process that has not begun may die of the signal
    checks.look(round_, run)
    checks.reached(round_, run)
    if run.answers[-1].status in (0, 3):
        round_.finish(run)


def rivals(round_: Round) -> None:
    """Two or three processes resume one run, or decide one step, at the same moment."""
    run = round_.add(round_.choice.choice(("mix", "plain", "tree", "approve", "treeask", "notes", "single")))
    process = round_.advance(run)
    if process is not None:
        strike(round_, run, process)
    if round_.row(run) is None:
        round_.finish(run)
        return
    round_.orderly = False
    round_.excused += [r"in use by process", r"has no turn to resume", r"is not pending|decided already|is decided",
                       r"nothing .*(waits|pending)", r"no longer", STOPPED, r"is owned by|owner"]
    round_.allowed_statuses |= {1, 2}
    for _ in range(3):
        processes = [round_.advance(run) for _ in range(round_.choice.choice((2, 2, 3)))]
        for process in filter(None, processes):
            ended(round_, run, process)
        if not all(processes):
            break
        checks.look(round_, run)
    round_.finish(run)
