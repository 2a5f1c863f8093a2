"""Finds the functions that docs/requirements.md names, and makes each return early on request."""

import re
from dataclasses import dataclass
from pathlib import Path

#: The name in this variable of the environment selects the one break that is active.
VARIABLE = "PRAXIS_BREAK"

#: What a function of this type returns early; other types: `{}`.
EARLY = {
    "void": "return;",
    "Run": 'return Run::failed(make_error(ErrorCode::kInternal, "broken"));',
    "Tool": 'return [] { Tool t; t.definition.name = "NAME"; t.definition.parameters = JsonObject{{"type", "object"}}; '
            't.handler = [](ToolContext&, const Json&) -> Result<ToolOutput> { return ToolOutput{}; }; return t; }();',
    "Agent": 'return Agent("");',
    "SubAgent": 'return SubAgent(fail(ErrorCode::kInternal, "broken"));',
    "PlanStep": "return Conclude{};",
    "Result<Session>": 'return fail(ErrorCode::kInternal, "broken");',
    "Result<Tool>": 'return fail(ErrorCode::kInternal, "broken");',
}


@dataclass(frozen=True)
class Edit:
    """Replaces a text that occurs exactly once in a file. `BROKEN` in the new text is true if the break is active."""

    file: str
    old: str
    new: str


def condition(key: str) -> str:
    """C++ that says whether the break `key` is active."""
    return f'(::getenv("{VARIABLE}") != nullptr && ::std::string_view(::getenv("{VARIABLE}")) == "{key}")'


def sources(root: Path) -> dict[Path, str]:
    """The sources of the library, without tests."""
    files = [file for file in (root / "src").rglob("*.cpp") if not file.name.endswith("_test.cpp")]
    return {file: file.read_text() for file in sorted(files) if not {"testing", "supervisor"} & set(file.parts)}


def definition(name: str, texts: dict[Path, str]) -> tuple[Path, re.Match] | None:
    """The definition of a function at the left margin of a source, by its name without the namespace."""
    scope = "" if "::" in name else r"(?:\w+::)?"
    pattern = re.compile(r"^(?!namespace|class|struct|using|static|constexpr)(?P<type>[A-Za-z][\w:<>,&* ]*?[ &*])" + scope
                         + re.escape(name) + r"\([^;{}]*\)(?: const)?(?: noexcept)? \{", re.MULTILINE)
    for file, text in texts.items():
        if found := pattern.search(text):
            return file, found
    return None


def early_return(kind: str) -> str | None:
    """The statement with which a function of this type returns early; none if it has no such value."""
    if kind.endswith("&"):
        return "return *this;" if kind in ("Agent&", "SubAgent&") else None
    if kind.startswith(("const ", "static ", "auto")) or kind.endswith("*") or "unexpected" in kind:
        return None
    return EARLY.get(kind, "return {};")


def edits_of(rooms: dict[str, str], root: Path) -> dict[str, Edit]:
    """For each name of a function, the edit that lets it return early, by the room that declares it.

    Names of other things are left out.
    """
    texts, edits = sources(root), {}
    for name, room in sorted(rooms.items()):
        found = definition(name, {file: text for file, text in texts.items() if room in file.parts})
        if found is None:
            continue
        file, head = found
        early = early_return(head["type"].strip())
        if early is None or texts[file].count(head[0]) != 1:
            continue
        early = early.replace("NAME", name.removesuffix("_tool"))  # a tool of the right name that does nothing
        edits[name] = Edit(str(file.relative_to(root)), head[0], f"{head[0]}\n  if (BROKEN) {early}\n ")
    return edits
