"""What the model says: for each agent a list of steps, chosen by the conversation so far.

The last message of the user is the task. It names the agent's part and the run: `PART TAG ...`. The n-th
answer after it is the n-th step of that part. The last answer repeats in short what each tool returned, so
any lost, repeated or changed result changes the answer.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field


class Unknown(Exception):
    """The conversation fits no part."""


@dataclass(frozen=True)
class Call:
    """One tool call: `name` is unique in its run, and is the name of its effect if it has one."""

    name: str
    tool: str
    arguments: dict
    tag: str

    @property
    def id(self) -> str:
        return f"{self.tag}-{self.name}"


@dataclass
class Reply:
    """An answer of the model."""

    tag: str
    calls: list[Call] = field(default_factory=list)
    text: str = ""


class Script:
    """Makes the calls of one run; `port` is that of the world."""

    def __init__(self, tag: str, port: int) -> None:
        self.tag = tag
        self.port = port

    def call(self, name: str, tool: str, **arguments) -> Call:
        return Call(name, tool, arguments, self.tag)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/effect/{self.tag}/{name}"

    def send(self, name: str, method: str = "POST") -> Call:
        """An effect outside, counted under `name`."""
        return self.call(name, "http", url=self.url(name), method=method, body=f"{self.tag} {name}")

    def delegate(self, name: str, part: str = "") -> Call:
        """A call of the sub-agent `name`, which plays `part`."""
        return self.call(name, name, prompt=f"{part or name} {self.tag} please")


Part = Callable[[Script], list[list[Call]]]
PARTS: dict[str, Part] = {}


def part(function: Part) -> Part:
    """Registers the steps of a part under the function's name."""
    PARTS[function.__name__] = function
    return function


def short(text: str) -> str:
    """Returns what counts of a tool's result: equal for a run that was disturbed and one that was not."""
    if found := re.search(r"\n\nok (\w+)$", text) or re.fullmatch(r"ok (\w+)", text):
        return f"ok {found[1]}"
    if found := re.match(r"exit status 0\nstdout:\n(.*)", text, re.DOTALL):
        return found[1].strip()
    if re.match(r"(wrote|created|replaced) ", text):
        return "written"
    if "utcome unknown" in text or "may or may not have" in text:
        return "unknown"
    if re.match(r"(Not allowed by|Denied|Declined|Rejected|denied)", text):
        return "denied"
    return text.strip()


def final(tag: str, results: list[tuple[str, str]]) -> str:
    """Returns the last answer of a part whose calls gave `results`."""
    return f"DONE {tag} " + "; ".join(f"{name}={text}" for name, text in results)


def reply(messages: list[dict], port: int) -> Reply:
    """Returns the model's answer to a conversation. Raises `Unknown`."""
    users = [index for index, message in enumerate(messages)
             if message["role"] == "user" and not _text(message).startswith("Note from the runtime")]
    words = _text(messages[users[-1]]).split() if users else []
    if len(words) < 2 or words[0] not in PARTS:
        raise Unknown(f"the model was asked {words[:6]}")
    script = Script(words[1], port)
    since = messages[users[-1]:]
    steps = PARTS[words[0]](script)
    step = sum(message["role"] == "assistant" for message in since)
    if step < len(steps):
        return Reply(script.tag, calls=steps[step])
    results = [(_name(message, script.tag), short(_text(message))) for message in since if message["role"] == "tool"]
    return Reply(script.tag, text=final(script.tag, results))


def _text(message: dict) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(item.get("text", "") for item in content)


def _name(message: dict, tag: str) -> str:
    return message["tool_call_id"].removeprefix(tag + "-")
