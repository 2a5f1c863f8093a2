"""Breaks what docs/requirements.md claims, and shows whether the named tests notice.

Takes ids by a seed. For each, one named function returns early, drops an argument or swaps an order, and one of
the named tests must fail. All breaks are compiled into one copy of the source, and a variable of the environment
selects one at a time. With `--flows`, breaks places of the core, the driver and the runtime instead (core.py), and
shows which flows of `make scenarios` notice.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from breaks import BREAKS, FILE_BREAKS, FileBreak
from core import CORE_BREAKS
from functions import VARIABLE, Edit, condition, edits_of

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "share", "src", "LICENSE", "README.md",
         "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "scripts", "docs", "examples", "bench", "fuzz", "tests")
ROW = re.compile(r"^\| ([STU]\d*-?\d+) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
#: A row of its table of breaks of the core: the source, what the break does, the flows that notice.
CORE_ROW = re.compile(r"^\| `([\w/]+\.cpp)` \| (.+) \| (.+) \|$", re.MULTILINE)
#: A test that takes longer than this many seconds has noticed the break.
HANGS = 300
#: The same for all flows together, which take a few seconds.
FLOWS_HANG = 60
FLOWS_TEST = "ScenarioBaseline.EachScenario_IsAsItsBaselineSays"
#: What that test says about a flow: that it begins, or how it differs.
FLOW = re.compile(r"^flow (\w+)( begins)?", re.MULTILINE)


class Row:
    """A row of docs/requirements.md."""

    def __init__(self, found: re.Match) -> None:
        self.id, self.what = found[1], found[2]
        self.rooms: dict[str, str] = {}  # of the names
        waiting: list[str] = []
        for name in re.findall("`([^`]+)`", found[3]):  # `name`, `name` (`praxis/room/header.hpp`)
            if name.endswith(".hpp"):
                self.rooms.update((each, name.split("/")[1]) for each in waiting)
                waiting = []
            else:
                waiting.append(name)
        self.names = list(self.rooms)
        self.tests = re.findall("`([^`]+)`", found[4])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="breaks", description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--ids", type=int, default=40, help="how many")
    parser.add_argument("--only", default="", help="these ids, separated by commas; with --flows, keys of core.py")
    parser.add_argument("--flows", action="store_true", help="break the places of core.py, and play the flows")
    parser.add_argument("--jobs", default="2", help="compilers at the same time")
    parser.add_argument("--place", type=Path, help="folder of the copy, in build/breaks if not given")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--check", action="store_true", help="only check that every break fits the source")
    options = parser.parse_args()
    options.place = options.place or ROOT / "build/breaks" / ("core" if options.flows else "source")
    return options


def copy_source(to: Path, texts: dict[str, str]) -> None:
    """Copies the tree with these texts. A file keeps its time unless it changes, so that little is compiled again."""
    for part in PARTS:
        files = [ROOT / part] if (ROOT / part).is_file() else [f for f in (ROOT / part).rglob("*") if f.is_file()]
        for file in files:
            if "__pycache__" not in file.parts:
                name = str(file.relative_to(ROOT))
                content = texts[name].encode() if name in texts else file.read_bytes()
                write_changed(to / name, content, file.stat().st_mode)


def write_changed(file: Path, content: bytes, mode: int) -> None:
    if file.is_file() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(mode)


def broken_texts(edits: dict[str, Edit]) -> dict[str, str]:
    """The sources with all breaks in them, each behind its condition. Removes from `edits` what does not fit."""
    texts: dict[str, str] = {}
    for key, edit in list(edits.items()):
        text = texts.get(edit.file) or (ROOT / edit.file).read_text()
        if text.count(edit.old) != 1:
            print(f"breaks: {key} no longer fits {edit.file}: update tests/breaks", file=sys.stderr)
            del edits[key]
            continue
        texts[edit.file] = text.replace(edit.old, edit.new.replace("BROKEN", condition(key)))
    return texts


def build(source: Path, jobs: str, programs: list[str]) -> Path:
    """Builds the programs of the copy that the tests are made of; returns the folder of the build."""
    targets = [*programs, "praxis_cli", "crash_runner"]
    for command in (["cmake", "--preset", "test"],
                    ["cmake", "--build", "--preset", "test", "--parallel", jobs, "--target", *targets, "--", "-k0"]):
        done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"breaks: {' '.join(command)} failed:\n" + "\n".join(
                line for line in done.stdout.splitlines() if "error" in line or "FAILED" in line)[:6000])
    return source / "build/test"


def programs_of_tests(source: Path) -> dict[str, str]:
    """The program of each test, as `Suite.Name`."""
    programs = {}
    for file in [*(source / "src").rglob("*_test.cpp"), *(source / "tests").rglob("*_test.cpp")]:
        place = file.relative_to(source).parts
        program = f"{place[1]}_test" if place[0] == "src" else "designs_test" if place[1] == "designs" else "whole_test"
        for suite, name in re.findall(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)", file.read_text()):
            programs[f"{suite}.{name}"] = program
    return programs


def failing_test(row: Row, build_folder: Path, programs: dict[str, str], key: str | None) -> str | None:
    """Runs the tests of a row until one fails; returns its name, or none if all pass."""
    for test in row.tests:
        env = dict(os.environ, **({VARIABLE: key} if key else {}))
        command = [str(build_folder / programs[test]), f"--gtest_filter={test}:*/{test}:*/{test}/*", "--gtest_brief=1"]
        try:
            done = subprocess.run(command, cwd=build_folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=HANGS)
        except subprocess.TimeoutExpired:
            return f"{test} (does not end)"
        if done.returncode != 0:
            return test
    return None


def noticing_flows(build_folder: Path, key: str | None) -> list[str]:
    """The flows that are not as their baseline says, with this break."""
    env = dict(os.environ, PRAXIS_SHOW_SCENARIOS="1", **({VARIABLE: key} if key else {}))
    command = [str(build_folder / "whole_test"), f"--gtest_filter={FLOWS_TEST}", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, cwd=build_folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=FLOWS_HANG)
        output, ends = done.stdout, "" if done.returncode in (0, 1) else f" (ends with {done.returncode})"
    except subprocess.TimeoutExpired as late:
        output, ends = late.stdout or b"", " (does not end)"
    said = [(found[1], bool(found[2])) for found in FLOW.finditer(output.decode(errors="replace"))]
    noticed = list(dict.fromkeys(name for name, begins in said if not begins))
    if key is None and not noticed and (ends or done.returncode != 0):
        sys.exit(f"breaks: without any break, {FLOWS_TEST} fails:\n" + output.decode(errors="replace")[-2000:])
    return noticed + [said[-1][0] + ends] if ends and said else noticed


def play_flows(options: argparse.Namespace) -> int:
    """Breaks each place of the core in turn; every break must be noticed by the flows of its row, at least."""
    only = set(filter(None, options.only.split(",")))
    if unknown := only - {each.key for each in CORE_BREAKS}:
        sys.exit(f"breaks: core.py has no {', '.join(sorted(unknown))}")
    texts = broken_texts(edits := {each.key: each.edit for each in CORE_BREAKS})
    if len(edits) != len(CORE_BREAKS) or not table_fits():
        sys.exit(1)
    copy_source(options.place, texts)
    built = build(options.place, options.jobs, ["whole_test"])
    if without := noticing_flows(built, None):
        sys.exit(f"breaks: without any break, these flows are not as their baseline says: {', '.join(without)}")
    played = [each for each in CORE_BREAKS if not only or each.key in only]
    lines, unnoticed = ["| break | file | after the change | noticed by |", "|---|---|---|---|"], 0
    rows, missed = core_rows(), []
    for each in played:
        flows = noticing_flows(built, each.key)
        unnoticed += not flows
        lines.append(f"| `{each.key}` | `{each.edit.file}` | {each.what} | {', '.join(flows) or 'nothing'} |")
        print(lines[-1], flush=True)
        missed += missed_by(each.key, rows[each.edit.file, each.what], flows)
    print("".join(f"{line}\n" for line in missed), end="", file=sys.stderr, flush=True)
    return 1 if report(options, lines, len(played), unnoticed) or missed else 0


def core_rows() -> dict[tuple[str, str], list[str]]:
    """The flows of each row of docs/requirements.md, "Breaks of the core", by the file and what the break does."""
    table = (ROOT / "docs/requirements.md").read_text().partition("\n## Breaks of the core\n")[2]
    return {("src/" + found[1], found[2]): re.findall("`([^`]+)`", found[3]) for found in CORE_ROW.finditer(table)}


def missed_by(key: str, named: list[str], noticed: list[str]) -> list[str]:
    """A line if flows that the row names did not notice. A flow in which the program ended has noticed."""
    names = {flow.partition(" ")[0] for flow in noticed}
    missing = [flow for flow in named if flow not in names]
    if not missing:
        return []
    return [f"breaks: docs/requirements.md says that {', '.join(missing)} would notice {key}, but it was noticed by "
            f"{', '.join(noticed) or 'nothing'}"]


def report(options: argparse.Namespace, lines: list[str], played: int, unnoticed: int) -> int:
    if options.table:
        options.table.write_text("\n".join(lines) + "\n")
    print(f"{played - unnoticed} of {played} breaks were found")
    return 1 if unnoticed else 0


def choose_break(row: Row, seed: str, edits: dict[str, Edit]) -> tuple[str, str] | None:
    """The break of a row: its key, and what it does. One that is written for the id; else the seed selects a name."""
    fitting = [each for each in BREAKS if each.key in edits]
    written = [(each.key, each.what) for each in fitting if row.id in each.ids]
    named = [(each.key, each.what) for each in fitting if set(row.names) & set(each.names)]
    known = {key for key, _ in named}
    early = [(name, f"`{name}` returns early") for name in row.names if name in edits and name not in known]
    choice = written or sorted(named + early)
    if not choice:
        return None
    return choice[int(hashlib.sha256(f"{seed}/{row.id}".encode()).hexdigest(), 16) % len(choice)]


def chosen_rows(options: argparse.Namespace) -> list[Row]:
    """The rows of the ids that the seed selects: those with the lowest digests, so that new ids displace few."""
    rows = [Row(found) for found in ROW.finditer((ROOT / "docs/requirements.md").read_text())]
    if options.only:
        return [row for row in rows if row.id in options.only.split(",")]
    rows.sort(key=lambda row: hashlib.sha256(f"{options.seed}:{row.id}".encode()).hexdigest())
    return rows[:options.ids]


def fits(each: FileBreak) -> bool:
    """Whether the text that a break replaces is there; says so if not."""
    if each.edit.old in (ROOT / each.edit.file).read_text():
        return True
    print(f"breaks: the break of {each.ids[0]} no longer fits {each.edit.file}: update tests/breaks/breaks.py",
          file=sys.stderr)
    return False


def table_fits() -> bool:
    """Whether docs/requirements.md has a row for each break of the core, with flows of the baseline; says what not."""
    rows = core_rows()
    breaks = {(each.edit.file, each.what) for each in CORE_BREAKS}
    baseline = (ROOT / "tests/scenario_baseline.jsonl").read_text().splitlines()
    flows = {json.loads(line)["scenario"] for line in baseline}
    wrong = [f"has no row for {file}: {what}" for file, what in sorted(breaks - set(rows))]
    wrong += [f"has a row that is no break of core.py: {file}: {what}" for file, what in sorted(set(rows) - breaks)]
    for (file, what), named in rows.items():
        wrong += [f"names a flow that is not in the baseline: {name}" for name in named if name not in flows]
        wrong += [] if named else [f"names no flow for {file}: {what}"]
    for each in wrong:
        print(f"breaks: docs/requirements.md, \"Breaks of the core\", {each}", file=sys.stderr)
    return not wrong


def with_file_break(row: Row, source: Path, build_folder: Path, programs: dict[str, str]) -> tuple[str, str | None]:
    """Breaks a text of the tree that a test reads, for the time of the test."""
    each = next(each for each in FILE_BREAKS if row.id in each.ids)
    if not fits(each):
        sys.exit(1)
    file = source / each.edit.file
    former = file.read_bytes()
    try:
        file.write_text(former.decode().replace(each.edit.old, each.edit.new, 1))
        return each.what, failing_test(row, build_folder, programs, None)
    finally:
        file.write_bytes(former)


def main() -> int:
    options = arguments()
    if options.flows and not options.check:
        return play_flows(options)
    rooms: dict[str, str] = {}
    for found in ROW.finditer((ROOT / "docs/requirements.md").read_text()):
        rooms.update(Row(found).rooms)
    functions = edits_of(rooms, ROOT)
    edits = {**{each.key: each.edit for each in BREAKS}, **functions}
    wanted = len(edits)
    texts = broken_texts(edits)
    if options.check:
        core = {each.key: each.edit for each in CORE_BREAKS}
        broken_texts(core)
        whole = len(edits) == wanted and len(core) == len(CORE_BREAKS)
        return 0 if all([*map(fits, FILE_BREAKS), table_fits()]) and whole else 1
    copy_source(options.place, texts)
    programs, rows = programs_of_tests(options.place), chosen_rows(options)
    built = build(options.place, options.jobs, sorted({programs[test] for row in rows for test in row.tests}))
    lines, unnoticed = ["| id | after the change | found by |", "|---|---|---|"], 0
    for row in rows:
        if any(row.id in each.ids for each in FILE_BREAKS):
            what, found = with_file_break(row, options.place, built, programs)
        elif (chosen := choose_break(row, options.seed, edits)) is None:
            what, found = "no break is written for it", None
        else:
            key, what = chosen
            found = failing_test(row, built, programs, key)
        unnoticed += found is None
        lines.append(f"| {row.id} | {what} | {f'`{found}`' if found else 'nothing'} |")
        print(lines[-1], flush=True)
    return report(options, lines, len(lines) - 2, unnoticed)


if __name__ == "__main__":
    sys.exit(main())
