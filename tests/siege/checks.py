"""What must hold during and after a round."""

import re

from binary import KILLED, survivors
from rounds import Failure, Round, Run

TRANSIENT = {"text.delta", "agent.status", "reasoning.delta", "tool_call.delta", "tool.progress", "hook.failed", "result"}
RECOVERY = (("runs",), ("show", "ID"), ("logs", "ID"), ("replay", "ID"), ("tree", "ID"), ("approve",), ("doctor",),
            ("export", "ID"))


def look(round_: Round, run: Run) -> None:
    """Reads all sessions of the run: each log must extend what an earlier look has seen."""
    if not round_.journal.exists() or round_.row(run) is None:
        if run.records:
            raise Failure("record lost", f"{run.tag} has vanished from the journal")
        return
    for node in round_.must("tree", run.id):
        session = node["id"]
        records = round_.must("show", session)
        before = run.records.get(session, [])
        if records[:len(before)] != before:
            raise Failure("record lost", f"{session} had {len(before)} records; now {len(records)} or others")
        run.records[session] = records


def programs_gone(round_: Round, run: Run) -> None:
    """Soon after the end of a process, no program that it started is left."""
    if run.scenario.sandbox:
        for line in survivors(run.tag, 2.5):
            raise Failure("process left", line)


def every_command(round_: Round, run: Run) -> None:
    """Makes every call that a user has for recovery; each must end well within 5 seconds."""
    for command in RECOVERY:
        arguments = [run.id if word == "ID" else word for word in command]
        answer = round_.ask(*arguments)
        if answer.status != 0 and not round_.excuses(answer):
            round_.fail("command of recovery", answer.text())


def after(round_: Round) -> None:
    """Checks everything that must hold when all runs have ended."""
    for run in round_.runs:
        if not run.ended:
            continue
        for check in (look, effects, tree_agrees, outcome, answer, replay, shown, every_command):
            try:
                check(round_, run)
            except Failure as failure:
                round_.fail(failure.check, f"{run.scenario.name} {run.tag}: {failure.text}")
    for line in survivors(round_.place.name):
        round_.fail("process left", line)
    for text in round_.world.strange():
        round_.fail("conversation", text)
    files(round_)


def effects(round_: Round, run: Run) -> None:
    """Each effect happened once, and again only where the human allowed it."""
    seen = round_.world.effects(run.tag)
    for name in sorted({*seen, *run.scenario.effects, *run.scenario.lines}):
        number = round_.happened(run, name)
        round_.count("effects", number)
        expected = name in run.scenario.effects or name in run.scenario.lines
        most = (1 if expected else 0) + len(run.human.repeats.get(name, ()))
        least = 1 if expected and not run.scenario.tell and name not in run.human.refused else 0
        if number > most:
            raise Failure("effect repeated", f"{name} happened {number} times, allowed {most}")
        if number < least:
            raise Failure("effect lost", f"{name} never happened")
        if run.scenario.verdicts.get(name, ("",))[0] == "edit":
            for arrival in seen.get(name, []):
                if arrival.body != f"{run.tag} {name} edited":
                    raise Failure("edit ignored", f"{name} was sent as {arrival.body!r}")
    for name in run.scenario.written:
        file = run.folder / f"{name}-{run.tag}"
        if not file.exists() or file.read_text() != f"{name} of {run.tag}\n":
            raise Failure("effect lost", f"the file {file.name} is missing or incomplete")


def tree_agrees(round_: Round, run: Run) -> None:
    """The tree and the list show every agent of an ended run as completed."""
    nodes = round_.must("tree", run.id)
    wrong = [f"{node['agent']} {node['status']}" for node in nodes if node["status"] != "completed" or node["pending"]]
    if wrong:
        raise Failure("tree", f"the run has ended, and the tree shows {', '.join(wrong)}")
    if len(nodes) != run.scenario.agents:
        raise Failure("tree", f"{len(nodes)} agents instead of {run.scenario.agents}")


def outcome(round_: Round, run: Run) -> None:
    """The log ends with a finished turn, and the last process said the same with its status."""
    last = run.records[run.id][-1] if run.records.get(run.id) else {}
    if last.get("kind") != "turn_settled" or last["body"].get("reason") != "finished":
        raise Failure("outcome", f"the log of {run.id} ends with {last.get('kind')} {last.get('body')}")
    for answer_ in run.answers[:-1]:
        if answer_.status == 0 and round_.orderly:
            raise Failure("exit status", f"the run went on after {answer_.text()}")


def answer(round_: Round, run: Run) -> None:
    """The answer is that of the undisturbed run, but for calls in doubt that were refused or reported."""
    events = round_.must("logs", run.id)
    run.answer = _last_answer(events)
    pattern = re.escape(run.scenario.answer(run.tag))
    loose = _names(run) if run.scenario.tell else run.human.refused
    for name in loose:
        pattern = re.sub(rf"\b{name}=(ok\\ {name}|ran\\ {name})", rf"{name}=(\1|denied|unknown)", pattern)
    if not re.fullmatch(pattern, run.answer, re.DOTALL):
        raise Failure("answer", f"{run.answer!r} instead of {run.scenario.answer(run.tag)!r}")


def _last_answer(events: list[dict]) -> str:
    """Returns the answer of the last turn: the text of the model, or of a written plan."""
    said = ""
    for event in events:
        if event["event"] == "assistant.text":
            said = event["text"]
        if event["event"] == "turn.completed":
            said = event["result"].get("result", said)
    return said


def reached(round_: Round, run: Run) -> None:
    """A call that has reached the outside is not recorded as one that did nothing."""
    for records in run.records.values():
        calls = {}
        for record in records:
            body = record["body"]
            if record["kind"] == "effect_intended" and body.get("kind") == "tool":
                calls[body["effect"]] = body.get("call", "").removeprefix(run.tag + "-")
            name = calls.get(body.get("effect"), "")
            seen = name in run.scenario.effects and round_.happened(run, name)
            if record["kind"] == "effect_settled" and seen and body.get("outcome", "ok") not in ("ok", "unknown"):
                raise Failure("sent and not unknown", f"{name} has arrived; the log says {body.get('outcome')}")


def _names(run: Run) -> list[str]:
    return [*run.scenario.effects, *run.scenario.lines]


def replay(round_: Round, run: Run) -> None:
    """Every session replays identically."""
    for session, records in run.records.items():
        report = round_.ask("replay", session, "--json").envelope()
        if not report.get("identical") or report.get("records") != len(records):
            raise Failure("replay", f"{session}: {report}")


def shown(round_: Round, run: Run) -> None:
    """What any process has shown as durable is in the log, and as it was shown."""
    logged = {}
    for session in run.records:
        for event in round_.must("logs", session):
            logged[_key(event)] = event
    for answer_ in run.answers:
        for event in answer_.lines():
            if event.get("event") in TRANSIENT or "seq" not in event:
                continue
            if logged.get(_key(event)) != event:
                raise Failure("shown and lost", f"{event} is {logged.get(_key(event))} in the log")


def _key(event: dict) -> tuple:
    return event.get("session"), event.get("seq"), event["event"], event.get("call"), event.get("text")


def files(round_: Round) -> None:
    """After the last process nothing is left but the journal and its owners' file."""
    if not all(run.ended for run in round_.runs):
        return
    known = {"J", "J.files", "home", "output", *(run.tag for run in round_.runs), *round_.side_files}
    killed = any(run.answers and run.answers[-1].status == KILLED for run in round_.runs)
    if killed or len(round_.runs) > 1 or not round_.orderly:  # the last to close may be a reader, which copies nothing
        known |= {"J-wal", "J-shm"}
    extra = sorted(entry.name for entry in round_.place.iterdir() if entry.name not in known)
    # The file of changes is opened by calls that write files only: what a kill left there waits for the next of them,
    # and the beginning of one that was being made has another name.
    if any(answer.status == KILLED for run in round_.runs for answer in run.answers):
        extra = [name for name in extra if not name.startswith(("J.files-", "J.files.new-"))]
    if extra:
        round_.fail("file left", ", ".join(extra))
    for run in round_.runs:
        expected = {*run.scenario.files, *(f"{name}-{run.tag}" for name in _files(run))}
        names = [entry.name for entry in run.folder.iterdir() if not entry.name.startswith(("edit-", "go-"))]
        extra = sorted(name for name in names if name not in expected)
        if extra:
            round_.fail("file left", f"{run.tag}: {', '.join(extra)}")


def _files(run: Run) -> tuple[str, ...]:
    return (*run.scenario.lines, *run.scenario.written)
