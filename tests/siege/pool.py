"""Plays rounds in several processes, each with a world of its own."""

import argparse
import multiprocessing
import os
import queue
import random
import shutil
import time
import traceback
from pathlib import Path

import checks
from kinds import KINDS, Kind
from report import Outcome, Report
from rounds import Failure, Round, Skip
from world import World

MOST = 900.0  # seconds without a finished round, after which the siege gives up


def kind_of(seed: int, kinds: list[Kind]) -> Kind:
    """Returns the kind of the round `seed`, by weight."""
    choice = random.Random(f"kind {seed}")
    return choice.choices(kinds, [kind.weight for kind in kinds])[0]


def usual_files(binary: Path, place: Path, world: World) -> set[str]:
    """Returns the names of the files that an undisturbed run leaves next to its journal."""
    round_ = Round(0, binary, place, world)
    round_.finish(round_.add("single"))
    return {file.name for file in place.iterdir() if file.is_file()}


def play_round(kind: Kind, seed: int, binary: Path, place: Path, world: World, usual: set[str]) -> Outcome:
    """Plays one round and checks it. The folder remains if a check failed."""
    begun = time.monotonic()
    round_ = Round(seed, binary, place / f"{kind.name}-{seed}", world)
    round_.side_files |= usual
    outcome = Outcome(kind.name, seed, 0, place=str(round_.place))
    try:
        kind.play(round_)
        if not round_.checked:
            checks.after(round_)
    except Skip as skip:
        outcome.skipped = str(skip)
    except Failure as failure:
        round_.fail(failure.check, failure.text)
    except Exception:  # an error of the harness is a failed round, too
        round_.fail("harness", traceback.format_exc())
    finally:
        round_.close()
    outcome.failures = [(failure.check, failure.text) for failure in round_.failures]
    outcome.counts = round_.counts
    outcome.counts["runs"] += len(round_.runs)
    outcome.seconds = time.monotonic() - begun
    for run in round_.runs:
        world.forget(run.tag)
    if outcome.failures:
        (round_.place / "story").write_text("\n".join([*round_.notes, *map(str, round_.failures)]) + "\n")
    else:
        shutil.rmtree(round_.place, ignore_errors=True)
    return outcome


def _work(options: argparse.Namespace, kinds: list[Kind], next_seed, current, outcomes, until: float) -> None:
    world = World()
    first = options.place / f"undisturbed-{os.getpid()}"
    try:
        usual = usual_files(options.binary, first, world)
    except Failure as failure:  # even an undisturbed run does not come to its end
        outcomes.put(Outcome("undisturbed", 0, 0, failures=[(failure.check, failure.text)], place=str(first)))
        outcomes.put(None)
        return
    shutil.rmtree(first)
    while True:
        with next_seed.get_lock():
            seed = next_seed.value
            next_seed.value += 1
        if seed >= options.seed + options.runs or (until and time.monotonic() > until):
            break
        current.value = seed
        outcomes.put(play_round(kind_of(seed, kinds), seed, options.binary, options.place, world, usual))
    outcomes.put(None)


def play(options: argparse.Namespace, report: Report) -> None:
    """Plays all rounds that the options name, and reports each."""
    kinds = [kind for name, kind in KINDS.items()
             if (name in options.only if options.only else options.long or not kind.long)]
    options.place.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + options.seconds if options.seconds else 0
    context = multiprocessing.get_context("fork")
    next_seed = context.Value("q", options.seed)
    outcomes = context.Queue()
    workers = {}
    for _ in range(min(options.workers, options.runs)):
        current = context.Value("q", 0)
        worker = context.Process(target=_work, args=(options, kinds, next_seed, current, outcomes, until), daemon=True)
        worker.start()
        workers[worker] = current
    _collect(options, report, kinds, workers, outcomes, next_seed)
    for worker in workers:
        worker.join(1)
        worker.terminate()


def _collect(options: argparse.Namespace, report: Report, kinds: list[Kind], workers: dict, outcomes, next_seed) -> None:
    """Reports outcomes until every worker has said that it ends, has died, or does nothing any more."""
    left, dead, last = len(workers), set(), time.monotonic()
    while left:
        try:
            outcome = outcomes.get(timeout=2)
        except queue.Empty:
            for worker in workers.keys() - dead:
                if worker.exitcode:
                    dead.add(worker)
                    left -= 1
                    report.add(_lost(workers[worker].value, kinds, f"a worker died, {worker.exitcode}"), options.runs)
            if time.monotonic() - last > MOST:
                for worker in workers.keys() - dead:
                    if worker.is_alive():
                        report.add(_lost(workers[worker].value, kinds, f"no end within {MOST:.0f} s"), options.runs)
                return
            continue
        last = time.monotonic()
        if outcome is None:
            left -= 1
            continue
        report.add(outcome, options.runs)
        if options.stop_at and report.failed >= options.stop_at:
            next_seed.value = options.seed + options.runs


def _lost(seed: int, kinds: list[Kind], text: str) -> Outcome:
    return Outcome(kind_of(seed, kinds).name, seed, 0, failures=[("harness", text)])
