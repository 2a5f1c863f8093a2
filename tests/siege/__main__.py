"""The siege: runs of the built binary are disturbed from outside, and must come to the right end all the same.

See docs/reliability.md. A round is one seed: `--seed N --runs 1 --only KIND` repeats it.
"""

import argparse
import os
import sys
from pathlib import Path

import pool
from kinds import KINDS
from report import Report

ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="siege", description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / "build/test/praxis")
    parser.add_argument("--seed", type=int, default=1, help="number of the first round")
    parser.add_argument("--runs", type=int, default=600, help="number of rounds")
    parser.add_argument("--only", default="", help="kinds of rounds, separated by commas")
    parser.add_argument("--seconds", type=float, default=0, help="begin no round after this time")
    parser.add_argument("--long", action="store_true", help="also the rounds with up to 300 processes")
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1), help="rounds at the same time")
    parser.add_argument("--place", type=Path, default=ROOT / "build/siege", help="folder of the rounds")
    parser.add_argument("--table", type=Path, help="writes the table to this file")
    parser.add_argument("--stop-at", type=int, default=0, help="stop after so many failed rounds")
    options = parser.parse_args()
    options.only = [kind for kind in options.only.split(",") if kind]
    if unknown := [kind for kind in options.only if kind not in KINDS]:
        parser.error(f"unknown kind {unknown[0]}; there are {', '.join(KINDS)}")
    options.binary = options.binary.resolve()
    if not os.access(options.binary, os.X_OK):
        parser.error(f"{options.binary} is not a program; build it or give --binary")
    return options


def main() -> int:
    options = arguments()
    report = Report(sys.stdout)
    pool.play(options, report)
    if options.table:
        options.table.parent.mkdir(parents=True, exist_ok=True)
        options.table.write_text(report.table())
    print(report.table())
    print(report.closing())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
