"""The scenarios: agent files, the parts that the model plays in them, and what an undisturbed run answers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dialogue import PARTS, Call, Script, final, part

HEAD = """id = "{part}"
model = "compatible:m"
instructions = "You play {part}."
"""
HTTP = '[tools.http]\nallow = ["127.0.0.1:{port}"]\n'
FILES = '[tools.file]\nread = ["."]\nwrite = ["."]\n'
SHELL = '[tools.shell]\nfolder = "."\n'
ASK = "[tools.ask_user]\n"
KV = "[tools.kv]\n"
PYTHON = '[tools.python]\nfolder = "."\n[tools.fork]\n'


def allow(*tools: str, ask: tuple[str, ...] = ()) -> str:
    """Returns the rules of an agent file."""
    names = ", ".join(f'"{tool}"' for tool in tools)
    asked = ", ".join(f'"{tool}"' for tool in ask)
    return f"[policy]\nallow = [{names}]\nask = [{asked}]\n"


def below(*names: str) -> str:
    """Returns the tables of sub-agents, each in a file of its name."""
    return "".join(f'[agents.{name}]\nfile = "{name}.toml"\ndescription = "plays {name}"\n' for name in names)


@dataclass(frozen=True)
class Scenario:
    """What is run: files, the part of the first agent, and facts that the checks need."""

    name: str
    files: dict[str, str]  # by name; {port} and {tag} are filled in
    first: str = ""  # agent file of the root, and its part; default: the name
    verdicts: dict[str, tuple[str, str]] = field(default_factory=dict)  # name of the call: verb and text
    expected: Callable[[str], str] | None = None  # the answer, if the calls alone do not say it
    effects: tuple[str, ...] = ()  # names of effects that happen once
    lines: tuple[str, ...] = ()  # names of shell calls; each writes a line to a file NAME-TAG
    written: tuple[str, ...] = ()  # names of file_write calls; each leaves a file NAME-TAG
    tell: bool = False  # calls in doubt are reported to the model
    sandbox: bool = False  # it starts programs
    strict: bool = False  # a refused call ends it otherwise
    agents: int = 1  # sessions in its tree

    @property
    def root(self) -> str:
        return self.first or self.name

    def answer(self, tag: str) -> str:
        """The answer of the undisturbed run."""
        return self.expected(tag) if self.expected else answer_of(self.root, tag, self.verdicts)


def answer_of(name: str, tag: str, verdicts: dict[str, tuple[str, str]]) -> str:
    """Returns the last answer of the part `name` when every call works or is decided as in `verdicts`."""
    calls = [call for step in PARTS[name](Script(tag, 0)) for call in step]
    return final(tag, [(call.name, _result(call, tag, verdicts)) for call in calls])


def _result(call: Call, tag: str, verdicts: dict[str, tuple[str, str]]) -> str:
    verb, text = verdicts.get(call.name, ("allow", ""))
    if verb == "deny":
        return "denied"
    if verb == "answer":
        return text
    if call.tool == "http":
        return f"ok {call.name}"
    if call.tool == "file_write":
        return "written"
    if call.tool == "shell":
        return f"ran {call.name}"
    if call.tool == "kv":
        return "stored \"k\"" if call.arguments["op"] == "put" else f"precious {tag}"
    return answer_of(call.arguments["prompt"].split()[0], tag, verdicts)


# ---- parts ------------------------------------------------------------------------------------------------


def _shell(script: Script, name: str) -> Call:
    line = f"echo line >> {name}-{script.tag}; sleep 0.01; echo ran {name}"
    return script.call(name, "shell", argv=["sh", "-c", line])


def _write(script: Script, name: str) -> Call:
    return script.call(name, "file_write", path=f"{name}-{script.tag}", content=f"{name} of {script.tag}\n")


@part
def mix(script: Script) -> list[list[Call]]:
    return [
        [script.send("a")],
        [script.send("b"), script.send("c", "PUT"), _write(script, "w")],
        [_shell(script, "s")],
        [script.send("d")],
    ]


@part
def linger(script: Script) -> list[list[Call]]:
    """Its program runs until the round lets it end, or for some seconds: a kill hits it while it runs."""
    wait = f"for i in $(seq 200); do [ -e go-{script.tag} ] && break; sleep 0.02; done"
    line = f"echo line >> s-{script.tag}; {wait}; echo ran s"
    return [[script.send("a")], [script.call("s", "shell", argv=["sh", "-c", line])], [script.send("b")]]


@part
def plain(script: Script) -> list[list[Call]]:
    return [[script.send("a")], [script.send("b"), script.send("c", "PUT"), _write(script, "w")], [script.send("d")]]


@part
def single(script: Script) -> list[list[Call]]:
    return [[script.send(name)] for name in ("a", "b", "c", "d")]


@part
def lead(script: Script) -> list[list[Call]]:
    return [[script.delegate("alpha"), script.delegate("beta")], [script.send("l")]]


@part
def alpha(script: Script) -> list[list[Call]]:
    return [[script.send("a1")], [script.delegate("deep")]]


@part
def beta(script: Script) -> list[list[Call]]:
    return [[script.send("b1"), script.send("b2")], [script.send("b3")]]


@part
def deep(script: Script) -> list[list[Call]]:
    return [[script.send("d1")], [script.send("d2")]]


@part
def approve(script: Script) -> list[list[Call]]:
    return [
        [script.send("a")],
        [script.send("b"), script.send("c")],
        [script.call("q", "ask_user", question="Which colour?")],
    ]


@part
def above(script: Script) -> list[list[Call]]:
    return [[script.delegate("asker"), script.delegate("worker")], [script.send("l")]]


@part
def asker(script: Script) -> list[list[Call]]:
    return [[script.send("a1")], [script.send("a2")]]


@part
def worker(script: Script) -> list[list[Call]]:
    return [[script.send(name)] for name in ("w1", "w2", "w3")]


@part
def notes(script: Script) -> list[list[Call]]:
    return [
        [script.call("put", "kv", op="put", key="k", value=f"precious {script.tag}")],
        [script.call("q", "ask_user", question="Shall I go on?")],
        [script.send("a")],
        [script.call("get", "kv", op="get", key="k")],
    ]


CODE = """import re
def plain(result):
  return re.findall(r"ok \\w+", str(result))[-1]
def one(name, method="POST"):
  return ("http", {"url": "URL" + name, "method": method, "body": "TAG " + name})
print(plain(call("http", **one("a")[1])))
print([plain(result) for result in gather([one("b"), one("c", "PUT")])])
forks = [fork("left TAG please"), fork("right TAG please")]
print(plain(call("http", **one("d")[1])))
print(wait(forks))
"""


@part
def python(script: Script) -> list[list[Call]]:
    code = CODE.replace("URL", script.url("")).replace("TAG", script.tag)
    return [[script.call("p", "python", code=code)], [script.send("e")]]


@part
def left(script: Script) -> list[list[Call]]:
    return [[script.send("l1")]]


@part
def right(script: Script) -> list[list[Call]]:
    return [[script.send("r1")]]


def _python_answer(tag: str) -> str:
    forks = str([answer_of(name, tag, {}) for name in ("left", "right")])
    return final(tag, [("p", f"ok a\n['ok b', 'ok c']\nok d\n{forks}"), ("e", "ok e")])


PLAN = """
[[plan]]
id = "put"
tool = "kv"
input = {{ op = "put", key = "k", value = "precious ${{prompt}}" }}
[[plan]]
id = "a"
tool = "http"
input = {{ url = "http://127.0.0.1:{port}/effect/{tag}/a", method = "POST", body = "a" }}
[[plan]]
id = "both"
tools = [
  {{ tool = "http", input = {{ url = "http://127.0.0.1:{port}/effect/{tag}/b", method = "POST", body = "b" }} }},
  {{ tool = "http", input = {{ url = "http://127.0.0.1:{port}/effect/{tag}/c", method = "PUT", body = "c" }} }},
]
[[plan]]
sleep_ms = 10
[[plan]]
id = "q"
ask = "Which colour?"
[[plan]]
id = "get"
tool = "kv"
input = {{ op = "get", key = "k" }}
[[plan]]
id = "d"
tool = "http"
input = {{ url = "http://127.0.0.1:{port}/effect/{tag}/d", method = "POST", body = "d" }}
[[plan]]
finish = "${{steps.q.text}}, ${{steps.get.text}}, ${{steps.a.ok}}, ${{steps.both.ok}}, ${{steps.d.ok}}"
"""


# No server slows this one down, so that many of them crowd at the journal.
STEPS = "".join(f"""
[[plan]]
id = "put{step}"
tool = "kv"
input = {{{{ op = "put", key = "k{step}", value = "{{tag}} {step}" }}}}
[[plan]]
sleep_ms = 20
""" for step in range(6)) + '[[plan]]\nfinish = "${{steps.put5.text}}"\n'


def _file(name: str, *tables: str) -> dict[str, str]:
    return {f"{name}.toml": HEAD.format(part=name) + "".join(tables)}


def _scenarios() -> list[Scenario]:
    mixed = HTTP + FILES + SHELL + allow("http", "file_write", "shell")
    effects = ("a", "b", "c", "d")
    team = [_file("lead", HTTP, below("alpha", "beta"), allow("http", "alpha", "beta", "deep")),
            _file("alpha", HTTP, below("deep"), allow("http", "deep")),
            _file("beta", HTTP, allow("http")), _file("deep", HTTP, allow("http"))]
    asking = [_file("above", HTTP, below("asker", "worker"), allow("http", "asker", "worker")),
              _file("asker", HTTP, allow(ask=("http",))), _file("worker", HTTP, allow("http"))]
    colour, consent = ("answer", "green"), ("answer", "yes")
    return [
        Scenario("mix", _file("mix", mixed), effects=effects, lines=("s",), written=("w",), sandbox=True),
        Scenario("tell", {"mix.toml": 'in_doubt = "tell"\n' + HEAD.format(part="mix") + mixed}, "mix", effects=effects,
                 lines=("s",), written=("w",), tell=True, sandbox=True),
        Scenario("linger", _file("linger", mixed), effects=("a", "b"), lines=("s",), sandbox=True),
        Scenario("plain", _file("plain", HTTP, FILES, allow("http", "file_write")), effects=effects, written=("w",)),
        Scenario("single", _file("single", HTTP, allow("http")), effects=effects),
        Scenario("tree", _merge(team), "lead", effects=("a1", "d1", "d2", "b1", "b2", "b3", "l"), agents=4),
        Scenario("approve", _file("approve", HTTP, ASK, allow(ask=("http",))), effects=("a", "c"),
                 verdicts={"a": ("allow", ""), "b": ("deny", "no"), "c": ("edit", ""), "q": colour}),
        Scenario("treeask", _merge(asking), "above", effects=("a1", "a2", "w1", "w2", "w3", "l"), agents=3),
        Scenario("python", _file("python", HTTP, PYTHON, allow("http", "python", "fork")), sandbox=True, agents=3, strict=True,
                 effects=("a", "b", "c", "d", "e", "l1", "r1"), expected=_python_answer),
        Scenario("notes", _file("notes", HTTP, ASK, KV, allow("http")), effects=("a",), verdicts={"q": consent}),
        Scenario("plan", {"plan.toml": 'id = "{tag}"\n' + HTTP + KV + ASK + allow("http", "kv", "ask_user") + PLAN},
                 effects=effects, verdicts={"q": colour}, strict=True,
                 expected=lambda tag: f"green, precious plan {tag} please, true, true, true"),
        Scenario("local", {"local.toml": 'id = "{tag}"\n' + KV + STEPS}, expected=lambda tag: 'stored "k5"'),
    ]


def _merge(files: list[dict[str, str]]) -> dict[str, str]:
    return {name: text for one in files for name, text in one.items()}


SCENARIOS = {scenario.name: scenario for scenario in _scenarios()}
