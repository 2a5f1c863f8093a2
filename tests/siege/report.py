"""Progress, failures and the table at the end."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Outcome:
    """What one round has shown."""

    kind: str
    seed: int
    seconds: float
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)  # check and text
    skipped: str = ""  # what the machine lacks
    place: str = ""  # folder of a failed round


COLUMNS = ("runs", "processes", "kills", "stops", "faults", "damages", "effects", "looks")


class Report:
    """Collects outcomes and prints progress."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._begun = time.monotonic()
        self._rounds: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._checks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self.failed = 0
        self.first: list[str] = []  # checks of the first failed round
        self.first_at = ""  # its number among the finished ones, and its kind

    def add(self, outcome: Outcome, total: int) -> None:
        """Adds a round; prints its failures and, on a terminal, the progress."""
        if outcome.skipped:
            self._skipped[f"{outcome.kind}: {outcome.skipped}"] += 1
            return
        self._rounds[outcome.kind] += 1
        self._seconds[outcome.kind] += outcome.seconds
        self._counts[outcome.kind] += outcome.counts
        if outcome.failures:
            self._fail(outcome)
        if self._terminal:
            done = sum(self._rounds.values())
            self._out.write(f"\rsiege: {done} of {total} rounds, {self.failed} failed, {self._time()}   ")
            self._out.flush()

    def _fail(self, outcome: Outcome) -> None:
        self.failed += 1
        if self.failed == 1:
            self.first = list(dict.fromkeys(f"`{check}`" for check, _ in outcome.failures))
            self.first_at = f"{sum(self._rounds.values())}, `{outcome.kind}`"
        self._checks.update({check for check, _ in outcome.failures})
        start = "\r" if self._terminal else ""
        print(f"{start}FAILED {outcome.kind} {outcome.seed}: "
              f"make siege ONLY={outcome.kind} SEED={outcome.seed} RUNS=1", file=self._out)
        for check, text in outcome.failures[:5]:
            print(f"  {check}: {text}", file=self._out)
        print(f"  kept in {outcome.place}", file=self._out, flush=True)

    def _time(self) -> str:
        return f"{time.monotonic() - self._begun:.0f} s"

    def checks(self) -> Counter[str]:
        """Returns how many rounds failed each check."""
        return self._checks

    def table(self) -> str:
        """Returns the outcome as two tables in Markdown."""
        lines = ["| rounds of | number | " + " | ".join(COLUMNS) + " | seconds each |",
                 "|---|" + "---|" * (len(COLUMNS) + 2)]
        for kind in sorted(self._rounds):
            cells = [self._rounds[kind], *(self._counts[kind][column] for column in COLUMNS)]
            lines.append(f"| `{kind}` | " + " | ".join(f"{cell:,}" for cell in cells) +
                         f" | {self._seconds[kind] / self._rounds[kind]:.1f} |")
        sums = [sum(self._rounds.values()), *(sum(c[column] for c in self._counts.values()) for column in COLUMNS)]
        lines.append("| all | " + " | ".join(f"{cell:,}" for cell in sums) + " | |")
        if self._checks:
            lines += ["", "| failed check | rounds |", "|---|---|"]
            lines += [f"| {check} | {number} |" for check, number in self._checks.most_common()]
        lines += [f"\nskipped {number} rounds of {what}" for what, number in self._skipped.items()]
        return "\n".join(lines) + "\n"

    def closing(self) -> str:
        """Returns the line for logs."""
        rounds = sum(self._rounds.values())
        verdict = f"failed: {self.failed} of" if self.failed else "held:"
        total = sum(self._counts.values(), Counter())
        streams = f", {total['streams']:,} streams resumed {total['resumed streams']:,} times with " \
                  f"{total['deltas']:,} deltas" if total["streams"] else ""
        return (f"{verdict} {rounds:,} rounds of siege, {total['kills']:,} kills, {total['effects']:,} effects counted{streams}, "
                f"{self._time()}")
