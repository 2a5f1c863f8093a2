"""The human of the runs: decides what waits, as the scenario says, and remembers what was accepted."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agents import Scenario


@dataclass
class Decision:
    """One decision on one parked step, as arguments of `approve`."""

    step: str  # RUN/p1
    call: str
    kind: str
    verb: str
    arguments: list[str]


@dataclass
class Human:
    """Decides the steps of one run. Calls in doubt are answered, repeated or refused by the seed."""

    scenario: Scenario
    tag: str
    choice: random.Random
    folder: Path
    accepted: dict[str, str] = field(default_factory=dict)  # step that was decided for good: its call
    repeats: dict[str, set[str]] = field(default_factory=dict)  # call: steps in doubt that were allowed again
    refused: set[str] = field(default_factory=set)  # calls in doubt that were refused
    doubts: dict[str, str] = field(default_factory=dict)  # step in doubt: what was decided
    careful: bool = False  # never allows a repeat of what did happen

    def decide(self, step: dict, happened: Callable[[str], int]) -> Decision:
        """Returns the decision on a pending step; `happened` counts the effect or line of a call outside."""
        call = call_of(step, self.tag)
        if step["kind"] == "in_doubt":
            verb, text = self._about_doubt(call, step, happened(call))
        else:
            verb, text = self.scenario.verdicts.get(call, ("allow", ""))
        return Decision(step["id"], call, step["kind"], verb, self._arguments(verb, text, step, call))

    def problem(self, step: dict) -> str:
        """Returns what is wrong with asking about this step, if anything."""
        call = call_of(step, self.tag)
        if step["id"] in self.accepted:
            return f"{step['id']} ({call}) waits again after its decision was accepted"
        if step["kind"] != "in_doubt" and call in self.accepted.values():
            return f"{call} is asked again, as {step['id']}, after its decision was accepted"
        return ""

    def accept(self, decision: Decision) -> None:
        """Notes that the binary has accepted a decision."""
        self.accepted[decision.step] = decision.call if decision.kind != "in_doubt" else ""

    def _about_doubt(self, call: str, step: dict, happened: int) -> tuple[str, str]:
        if step["id"] not in self.doubts:
            self.doubts[step["id"]] = self._verb(happened)
        verb = self.doubts[step["id"]]
        if verb == "allow":
            self.repeats.setdefault(call, set()).add(step["id"])
        elif verb == "deny":
            self.refused.add(call)
        result = f"exit status 0\nstdout:\nran {call}\n" if step.get("tool") == "shell" else f"ok {call}"
        return verb, result if verb == "answer" else "left"

    def _verb(self, happened: int) -> str:
        """When nothing arrived, a repeat is the only way to the answer of the undisturbed run."""
        if not happened:
            return "allow"
        pick = self.choice.random()
        if pick < 0.6 or self.careful or self.scenario.strict:
            return "answer"
        return "allow" if pick < 0.8 else "deny"

    def _arguments(self, verb: str, text: str, step: dict, call: str) -> list[str]:
        if verb == "edit":
            arguments = dict(step["arguments"])
            arguments["body"] = f"{self.tag} {call} edited"
            file = self.folder / f"edit-{call}.json"
            file.write_text(json.dumps(arguments))
            return ["--edit", str(file)]
        if verb == "answer":
            return ["--answer", text]
        return ["--deny", "-m", text] if verb == "deny" else ["--allow"]


def call_of(step: dict, tag: str) -> str:
    """Returns the name of the call that a pending step is about: of an effect, the end of its address."""
    arguments = step.get("arguments") or {}
    if "url" in arguments:
        return arguments["url"].rsplit("/", 1)[1]
    return (step.get("call") or "").removeprefix(tag + "-") or "q"
