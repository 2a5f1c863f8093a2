"""Disturbances that strike processes while they work: kills, stops, interrupts."""

import signal
import threading

from binary import Process
from rounds import PATIENCE, Failure, Round, Run

NAMES = ("mix", "tell", "plain", "tree", "approve", "treeask", "python", "notes", "plan")


def together(round_: Round, work) -> None:
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


def _kill(round_: Round, run: Run, process: Process) -> None:
    """Kills the process, or its group, some time after its start; it may have ended before."""
    moment = run.human.choice.uniform(0, 0.35) * run.human.choice.random() ** 0.5
    answer = process.wait(moment)
    if answer is None:
        group = run.human.choice.random() < 0.4
        if process.send(signal.SIGKILL, group):
            round_.count("kills")
            round_.note(f"kill {process.pid}{' and its group' if group else ''}")
        answer = process.wait(PATIENCE)
    if answer is None:
        raise Failure("hang", process.end().text())
    round_.over(run, answer)


def kill(round_: Round) -> None:
    """One to three runs on one journal, each killed up to six times, also while it recovers."""
    from checks import look

    for _ in range(round_.choice.choice((1, 1, 2, 3))):
        round_.add(round_.choice.choice(NAMES))

    def work(run: Run) -> None:
        for _ in range(run.human.choice.randint(1, 6)):
            process = round_.advance(run)
            if process is None:
                break
            _kill(round_, run, process)
            look(round_, run)
        round_.finish(run)

    together(round_, work)
