"""Builds each mutant of the binary and besieges it: every one must be caught.

The source is copied once; a mutant is one small change of the copy, so that little is compiled again.
"""

import argparse
import filecmp
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pool
from mutants import MUTANTS, Mutant
from report import Report

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "share", "src", "CHANGELOG.md", "LICENSE", "README.md",
         "docs", "examples", "bench", "tests")
BUILT_FROM = re.compile(r"PROJECT_SOURCE_DIR\}?/(\w[\w.-]*)")  # what the build reads, as far as CMake names it
LATER = ("build", "python", "scripts", "web")  # what only other targets than the binary read


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="siege-mutants", description=__doc__)
    parser.add_argument("--only", default="", help="names of mutants, separated by commas")
    parser.add_argument("--rounds", type=int, default=400, help="rounds for each mutant, at most")
    parser.add_argument("--kinds", default="", help="kinds of rounds, separated by commas")
    parser.add_argument("--jobs", default="2", help="compilers at the same time")
    parser.add_argument("--place", type=Path, default=ROOT / "build/siege-mutants")
    parser.add_argument("--source", type=Path, help="folder of the copy, perhaps with a build from before")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--check", action="store_true", help="only check that every mutant fits the source, and that the copy is whole")
    options = parser.parse_args()
    options.source = options.source or options.place / "source"
    if options.source.resolve() == ROOT:
        parser.error("--source must not be the tree itself, which would be changed")
    return options


def copy_source(to: Path) -> None:
    """Copies what a build needs, but no file that is the same already: that would be compiled again."""
    for part in PARTS:
        files = [ROOT / part] if (ROOT / part).is_file() else [file for file in (ROOT / part).rglob("*") if file.is_file()]
        for file in files:
            copy = to / file.relative_to(ROOT)
            if copy.is_file() and filecmp.cmp(file, copy, shallow=False):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
            copy.touch()


def build(source: Path, jobs: str) -> Path:
    """Builds the binary of the copy and returns its path."""
    def run(*command: str) -> None:
        done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"siege-mutants: {' '.join(command)} failed:\n{done.stdout[-3000:]}")

    run("cmake", "--preset", "test", "-DPRAXIS_TESTS=OFF")
    run("cmake", "--build", "--preset", "test", "--parallel", jobs, "--target", "praxis_cli")
    return source / "build/test/praxis"


def change(source: Path, mutant: Mutant) -> dict[Path, str]:
    """Makes the edits of a mutant; returns the former texts. An edit that does not fit ends everything."""
    former: dict[Path, str] = {}
    for edit in mutant.edits:
        file = source / edit.file
        text = file.read_text()
        former.setdefault(file, text)
        if text.count(edit.old) != 1:
            for changed, old in former.items():
                changed.write_text(old)
            sys.exit(f"siege-mutants: {mutant.name} no longer fits {edit.file}: update tests/siege/mutants.py")
        file.write_text(text.replace(edit.old, edit.new))
    return former


def misfits() -> list[str]:
    """Returns the mutants with an edit that no longer fits the source."""
    return [f"{mutant.name} no longer fits {edit.file}" for mutant in MUTANTS for edit in mutant.edits
            if (ROOT / edit.file).read_text().count(edit.old) != 1]


def missing_parts() -> list[str]:
    """Returns what the build of the binary reads but the copy would not hold."""
    files = [ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))]
    named = {name: file.name for file in files for name in BUILT_FROM.findall(file.read_text())}
    return [f"{file} reads {name}, which is not copied: add it to PARTS" for name, file in named.items()
            if name not in PARTS + LATER and (ROOT / name).exists()]


def besiege(binary: Path, rounds: int, kinds: list[str], place: Path) -> Report:
    """Plays rounds until one fails."""
    options = argparse.Namespace(binary=binary, seed=1, runs=rounds, only=kinds, seconds=0, long=False, workers=2,
                                 place=place, stop_at=1)
    with (place.parent / f"{binary.name}.log").open("w") as log:
        report = Report(log)
        pool.play(options, report)
    return report


def main() -> int:
    options = arguments()
    if options.check:
        print("\n".join(problems := misfits() + missing_parts()), end="\n" if problems else "")
        return 1 if problems else 0
    source = options.source
    options.place.mkdir(parents=True, exist_ok=True)
    copy_source(source)
    build(source, options.jobs)
    only, kinds = set(filter(None, options.only.split(","))), list(filter(None, options.kinds.split(",")))
    rows, missed = ["| mutant | after the change, the binary ... | caught by | in round |", "|---|---|---|---|"], 0
    for mutant in MUTANTS:
        if only and mutant.name not in only:
            continue
        former = change(source, mutant)
        try:
            binary = options.place / mutant.name
            shutil.copy2(build(source, options.jobs), binary)
        finally:
            for file, text in former.items():
                file.write_text(text)
        report = besiege(binary, options.rounds, kinds or list(mutant.kinds), options.place / "rounds")
        caught = f"{', '.join(report.first)} | {report.first_at}" if report.failed else "nothing | -"
        missed += 0 if report.failed else 1
        rows.append(f"| `{mutant.name}` | {mutant.what} | {caught} |")
        print(rows[-1], flush=True)
        shutil.rmtree(options.place / "rounds", ignore_errors=True)
    if options.table:
        options.table.write_text("\n".join(rows) + "\n")
    print(f"{'missed ' + str(missed) + ' of' if missed else 'caught all'} {len(rows) - 2} mutants")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
