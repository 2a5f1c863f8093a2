"""Breaks that are written by hand, for names that are no function with a value to return early."""

from dataclasses import dataclass

from functions import Edit


@dataclass(frozen=True)
class Break:
    """One change of the source; serves the requirements with these ids, and those that name one of these names."""

    key: str
    what: str
    edit: Edit
    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def event(name: str) -> Break:
    """An event that is made from a record is not published."""
    old = "    if (!wants<Body>()) return;\n    Event& event = events_.emplace_back();\n"
    drop = f"    if (BROKEN && std::is_same_v<Body, events::{name}>) return;\n"
    return Break(f"events::{name}", f"`events::{name}` is never published", Edit("src/core/project.cpp", old, drop + old),
                 names=(f"events::{name}",))


def delta(name: str) -> Break:
    """A transient piece of an answer is not published."""
    old = "    event_.body = std::visit(*this, delta);\n"
    drop = f"    if (BROKEN && std::holds_alternative<events::{name}>(event_.body)) return;\n"
    return Break(f"events::{name}", f"`events::{name}` is never published", Edit("src/runtime/perform.cpp", old, old + drop),
                 names=(f"events::{name}",))


def hook(name: str) -> Break:
    """Hooks of one kind are dropped."""
    old = "  append(hooks.pause_check, std::move(more.pause_check));\n"
    return Break(f"Hooks::{name}", f"hooks of the kind `{name}` are dropped",
                 Edit("src/runtime/agent.cpp", old, old + f"  if (BROKEN) hooks.{name}.clear();\n"), names=(f"Hooks::{name}",))


def result(member: str, *names: str, ids: tuple[str, ...] = ()) -> Break:
    """A member of the result of a turn stays empty."""
    old = "  result.session = state.id;\n"
    return Break(f"AgentResult::{member}", f"`AgentResult::{member}` stays empty",
                 Edit("src/core/state.cpp", old, old + f"  if (BROKEN) result.{member} = {{}};\n"), ids,
                 (f"AgentResult::{member}", *names))


def described(member: str, *names: str, ids: tuple[str, ...] = (), statement: str = "") -> Break:
    """A member of an agent's description is lost when a session records it."""
    old = "    state_.agent = std::move(agent);\n"
    change = statement or f"changed->{member} = {{}};"
    new = ("    if (BROKEN) {\n      auto changed = std::make_shared<AgentSpec>(*agent);\n"
           f"      {change}\n      agent = std::move(changed);\n    }}\n" + old)
    return Break(f"AgentSpec::{member}", f"a session forgets `{member}` of its agent", Edit("src/core/apply.cpp", old, new), ids, names)


def tools_of(member: str, *names: str, ids: tuple[str, ...] = ()) -> Break:
    """A member of the tools in an agent's description is lost when a session records it."""
    return described(f"tools.{member}", *names, ids=ids,
                     statement=f"for (ToolSpec& tool : changed->tools) tool.{member} = {{}};")


EVENTS = ("TurnStarted", "MessageAdded", "StepStarted", "StepCompleted", "TurnCompleted", "TurnFailed", "TurnTimedOut",
          "TurnCancelled", "ModelRequested", "AssistantText", "AssistantReasoning", "ModelResponded", "ModelFailed",
          "AttemptSuperseded", "ToolCalled", "ToolStarted", "ToolCompleted", "ToolFailed", "ToolTimedOut", "ChildSpawned",
          "ChildSettled", "StepParked", "StepDecided", "SessionPaused", "SessionUnpaused", "SessionRecovered",
          "SessionIntervened", "HistoryCut", "PrefixBroken")
HOOKS = ("outgoing_message", "before_turn", "after_turn", "before_model", "after_model", "before_tool", "approve",
         "after_tool", "pause_check")

BREAKS = (
    *(event(name) for name in EVENTS),
    *(delta(name) for name in ("TextDelta", "ReasoningDelta", "ToolCallDelta")),
    *(hook(name) for name in HOOKS),
    result("model_calls", "ModelCall::usage", ids=("S2-49", "S3-25", "S2-05")),
    result("actions", "ActionResult", ids=("S3-06", "S3-27")),
    result("duration"),
    result("full_text", ids=("S1-37",)),
    result("text", ids=("S1-12", "S3-63", "S1-30")),
    result("structured"),
    result("usage_children"),
    result("denials", ids=("S3-48",)),
    result("started_at", ids=("S3-24",)),
    result("retries", "RetryInfo", ids=("S3-26",)),
    described("instructions"),
    described("limits.max_steps", "Limits::max_steps", ids=("S2-28", "S3-10")),
    described("limits.max_messages", "Limits::max_messages", ids=("S2-12",)),
    described("limits", "Limits", ids=("S2-22",)),
    described("tool_failure", "ToolFailureMode"),
    described("metadata", ids=("S5-27",)),
    tools_of("retries", "Tool::retries"),
    tools_of("fatal_errors", "Tool::fatal_errors"),
    tools_of("definition.timeout", "ToolDefinition::timeout"),
    Break("judge.safe", "`judge` lets every tool run that no rule names",
          Edit("src/policy/policy.cpp", "  if (tool.safe_by_default) return {allow(), \"the tool\"};\n",
               "  if (tool.safe_by_default || BROKEN) return {allow(), \"the tool\"};\n"),
          ids=("S3-30", "S3-57")),
    Break("AgentCreator.scope", "`AgentCreator` drops the context of the call",
          Edit("src/runtime/agent_creator.cpp", "AgentCreator::AgentCreator(const ToolContext& context) : scope_(context.scope) {\n",
               "AgentCreator::AgentCreator(const ToolContext& context)\n    : scope_(BROKEN ? nullptr : context.scope) {\n"),
          ids=("S4-15", "S4-23")),
    Break("LiveCall.close", "a call that returns leaves its sub-agents running",
          Edit("src/runtime/call_scope.cpp", "    closed_ = true;\n", "    if (BROKEN) return;\n    closed_ = true;\n"),
          ids=("S4-19", "T5")),
    Break("chat.result", "a tool result in a Chat Completions request loses its call id",
          Edit("src/models/wire/chat/messages.cpp", '  append_field(out, "tool_call_id", call_id_of(result, state));\n',
               '  if (!BROKEN) append_field(out, "tool_call_id", call_id_of(result, state));\n'),
          ids=("S2-19", "T1", "S1-28")),
    Break("Agent.run", "`Agent::run` drops the prompt",
          Edit("src/runtime/agent.cpp", "  return runtime_or_default()->run_once(*this, std::move(prompt), stop);\n",
               "  return runtime_or_default()->run_once(*this, BROKEN ? std::string() : std::move(prompt), stop);\n"),
          ids=("S2-01",)),
    Break("Event.turn", "events do not name their turn",
          Edit("src/core/project.cpp", "    event.turn = after_.turn ? after_.turn->id : turn_;\n",
               "    if (!BROKEN) event.turn = after_.turn ? after_.turn->id : turn_;\n"), names=("Event::turn",)),
    Break("Event.agent", "events do not name their session",
          Edit("src/core/project.cpp", "    event.agent = {after_.id, after_.depth, after_.parent};\n",
               "    if (!BROKEN) event.agent = {after_.id, after_.depth, after_.parent};\n"), ids=("S4-26", "S4-20")),
    Break("Strand.run", "tasks of one strand run at the same time",
          Edit("src/base/strand.cpp", "    if (busy_) {\n      queue_.push_back(std::move(task));\n",
               "    if (busy_ && !BROKEN) {\n      queue_.push_back(std::move(task));\n"), ids=("S4-28", "S5-04")),
    Break("Message.id", "messages are stored without their id",
          Edit("src/domain/message.cpp", '  out.text_if_any("id", message.id.str());\n',
               '  if (!BROKEN) out.text_if_any("id", message.id.str());\n'), ids=("S1-02",)),
    Break("role_from", "`role_from` knows no developer",
          Edit("src/domain/message.cpp", "    if (known == name) return value;\n",
               '    if (known == name && !(BROKEN && name == "developer")) return value;\n'), ids=("S1-01",)),
    Break("PartWriter.text", "text parts are stored without their text",
          Edit("src/domain/message.cpp", '    out.text("text", part.text);\n    put_citations(out, part.citations);\n',
               '    out.text("text", BROKEN ? "" : part.text);\n    put_citations(out, part.citations);\n'),
          ids=("S1-03", "S1-06")),
    Break("PartWriter.call", "calls are stored without their arguments",
          Edit("src/domain/message.cpp", '    out.text("arguments", part.arguments);\n',
               '    out.text("arguments", BROKEN ? "" : part.arguments);\n'), ids=("S1-04", "S1-24")),
    Break("PartWriter.status", "failed results are stored as successful",
          Edit("src/domain/message.cpp", '    out.text("status", part.status == ToolStatus::kOk ? "ok" : "error");\n',
               '    out.text("status", part.status == ToolStatus::kOk || BROKEN ? "ok" : "error");\n'),
          ids=("S1-05", "S2-10")),
    Break("PartWriter.summary", "summaries are stored empty",
          Edit("src/domain/message.cpp", '    out.text("summary", part.summary);\n    put_vendor(out, part.vendor);\n',
               '    out.text("summary", BROKEN ? "" : part.summary);\n    put_vendor(out, part.vendor);\n'), ids=("S2-07",)),
    Break("PartWriter.image", "images are stored as files",
          Edit("src/domain/message.cpp", '    out.text("type", "image");\n',
               '    out.text("type", BROKEN ? "file" : "image");\n'), ids=("S2-09",)),
    Break("ToolContext.depth", "a handler does not learn how deep its agent is",
          Edit("src/runtime/perform.cpp", "  context.depth = state().depth;\n",
               "  if (!BROKEN) context.depth = state().depth;\n"), names=("ToolContext::depth",)),
    Break("ToolContext.agent", "a handler does not learn which agent calls",
          Edit("src/runtime/perform.cpp", "  context.agent = state().agent->id;\n",
               "  if (!BROKEN) context.agent = state().agent->id;\n"), ids=("S4-39", "S1-17")),
    Break("request.tools", "tools are offered to every model",
          Edit("src/runtime/perform.cpp", "  request.session = id();\n",
               "  if (BROKEN) request.tools = tools()->definitions();\n  request.session = id();\n"),
          names=("ModelCapabilities::tools",)),
    Break("request.stream", "every model is asked to stream",
          Edit("src/runtime/perform.cpp",
               "  request.stream = services_->options.stream && model_->capabilities().streaming;\n",
               "  request.stream = services_->options.stream && (model_->capabilities().streaming || BROKEN);\n"),
          ids=("S1-20",)),
    Break("AgentFile.within", "an agent of a project may name files outside of it",
          Edit("src/app/agent_file.cpp", "    return why.empty() ? Status{} : document_.mistake(place, why);\n",
               "    return why.empty() || BROKEN ? Status{} : document_.mistake(place, why);\n"), ids=("U2",)),
    Break("six_steps.clarify", "the six steps never ask whether the request is clear",
          Edit("src/planners/six_steps.cpp", "  return decide(progress, {kClarify, \"ambiguous\",",
               "  if (BROKEN) return std::nullopt;\n  return decide(progress, {kClarify, \"ambiguous\","),
          ids=("S5-07", "S5-08")),
    Break("six_steps.fork", "the six steps work on the first sub-question only",
          Edit("src/planners/six_steps.cpp", "    // Unique among the calls of the turn.\n",
               "    if (BROKEN && !forks.calls.empty()) break;\n    // Unique among the calls of the turn.\n"),
          ids=("S5-09", "S5-10")),
    Break("six_steps.conclude", "the six steps never ask the last question",
          Edit("src/planners/six_steps.cpp", "  if (question.empty() || asked_before) return finish_with(progress.all, answer);\n",
               "  if (question.empty() || asked_before || BROKEN) return finish_with(progress.all, answer);\n"),
          ids=("S5-12",)),
    Break("TurnState.step", "steps count from 8",
          Edit("src/core/apply.cpp", "    state_.marks.push_back({r.turn, state_.conversation.history().messages().size()});\n",
               "    if (BROKEN) state_.turn->step = 7;\n"
               "    state_.marks.push_back({r.turn, state_.conversation.history().messages().size()});\n"),
          ids=("S2-47", "T13")),
    Break("next.limits", "`next` checks no limit before a step",
          Edit("src/core/next.cpp", "  if (limits.max_steps != 0 && turn.step >= limits.max_steps && !goes_on) {\n",
               "  if (BROKEN) return std::nullopt;\n"
               "  if (limits.max_steps != 0 && turn.step >= limits.max_steps && !goes_on) {\n"), ids=("S2-21",)),
    Break("ToolSet.find", "no tool of an agent is found by its name",
          Edit("src/tools/tool.cpp", "  return found == tools_.end() ? nullptr : &*found;\n",
               "  return found == tools_.end() || BROKEN ? nullptr : &*found;\n"), ids=("S1-19", "S3-37")),
    Break("ToolSet.unknown", "a call of an unknown tool counts as a call without arguments",
          Edit("src/tools/tool.cpp", "  if (tool == nullptr) return unknown_tool(name, tools_);\n",
               "  if (tool == nullptr && BROKEN) return JsonObject{};\n"
               "  if (tool == nullptr) return unknown_tool(name, tools_);\n"), ids=("S2-04",)),
    Break("ToolSet.validate", "arguments are not checked against the schema",
          Edit("src/tools/tool.cpp", "  if (problems.empty()) return json;\n",
               "  if (problems.empty() || BROKEN) return json;\n"), ids=("S3-16", "S1-15")),
    Break("chat.tools", "tools are declared without their definition",
          Edit("src/models/wire/chat/request.cpp", "    Json function = to_json(tool);\n",
               "    Json function = to_json(BROKEN ? ToolDefinition{} : tool);\n"), ids=("S1-22", "S1-16", "S1-23")),
    Break("history.order", "results keep the order in which they arrived",
          Edit("src/core/history.cpp", "    auto& answer = answers_[index];\n",
               "    auto& answer = answers_[BROKEN ? arrivals_.size() : index];\n"), ids=("S2-11",)),
    Break("history.orphans", "a result without its call ends up in the history",
          Edit("src/core/history.cpp", "    if (call == open_.end()) {\n",
               "    if (call == open_.end() && BROKEN) {\n      append(message);\n      continue;\n    }\n"
               "    if (call == open_.end()) {\n"), ids=("S2-43",)),
    Break("chat.instructions", "the agent's instructions are left out where they are a message",
          Edit("src/models/wire/chat/request.cpp", "  if (!opens_with_developer(request.history)) out = request.instructions;\n",
               "  if (!opens_with_developer(request.history) && !BROKEN) out = request.instructions;\n"),
          ids=("S2-14", "S2-13")),
    Break("http.hosts", "`http` asks any host",
          Edit("src/tools/http_tool.cpp", "      if (!rules_.allows(*url)) {\n",
               "      if (!rules_.allows(*url) && !BROKEN) {\n"), ids=("S3-56",)),
    Break("trust.digest", "a trusted project may change",
          Edit("src/app/trust.cpp", "    if (trust) project.trusted = trust->digest == project.digest().hex();\n",
               "    if (trust) project.trusted = trust->digest == project.digest().hex() || BROKEN;\n"), ids=("U1",)),
    Break("redactor", "keys are not masked",
          Edit("src/redact/known_secrets.cpp", "    out.append(text, at, place.begin - at) += kSecretMask;\n    at = place.end;\n",
               "    if (BROKEN) continue;\n    out.append(text, at, place.begin - at) += kSecretMask;\n    at = place.end;\n"),
          ids=("U4",)),
    Break("AgentNode.parent", "no agent in the tree has a parent",
          Edit("src/runtime/agent_tree_nodes.cpp", "  node.parent = state.parent;\n",
               "  if (!BROKEN) node.parent = state.parent;\n"), ids=("S5-02",)),
    Break("AgentNode.content", "no agent in the tree has a task",
          Edit("src/runtime/agent_tree_nodes.cpp", "  node.content = content_of(state);\n",
               "  if (!BROKEN) node.content = content_of(state);\n"), ids=("S5-24",)),
    Break("StepDecision.batch", "a step of a plan has one call at most",
          Edit("src/core/next.cpp",
               "    for (const ToolCallPart& call : step.calls) message.parts.emplace_back(call);\n",
               "    for (const ToolCallPart& call : step.calls) {\n      message.parts.emplace_back(call);\n"
               "      if (BROKEN) break;\n    }\n"), ids=("T14",)),
    Break("StepDecision.ask", "a step of a plan that asks a person calls the model",
          Edit("src/core/next.cpp", "  Decision operator()(const AskPerson& step) const { return Park{step.prompt}; }\n",
               "  Decision operator()(const AskPerson& step) const {\n    if (BROKEN) return CallModel{};\n"
               "    return Park{step.prompt};\n  }\n"), ids=("S3-01", "S3-13", "S3-34", "S3-35", "S3-36")),
    Break("next.finish", "an answer without calls does not end the turn",
          Edit("src/core/next.cpp", "      if (auto decision = check_output(state)) return decision;\n",
               "      if (BROKEN) return Finish{StopReason::kModelFailed, {}, std::nullopt};\n"
               "      if (auto decision = check_output(state)) return decision;\n"), ids=("S2-25", "S1-14")),
    Break("State.status", "a session that waits for an approver counts as running",
          Edit("src/core/state.cpp", "  return !parked.empty() && !turn->in_flight() && !turn->stop ? SessionStatus::kAwaitingUser\n",
               "  return !parked.empty() && !BROKEN && !turn->in_flight() && !turn->stop ? SessionStatus::kAwaitingUser\n"),
          ids=("T10", "S5-13")),
    Break("finished", "a turn without an answer counts as finished",
          Edit("src/core/state.cpp", "  if (!report || report->success || !report->reason) return report;\n",
               "  if (!report || report->success || !report->reason || BROKEN) return report;\n"), ids=("S1-51",)),
    Break("Agent.edit", "copies of an agent share what is changed later",
          Edit("src/runtime/agent.cpp", "  auto copy = std::make_shared<AgentDescription>(*description_);\n",
               "  if (BROKEN) return const_cast<AgentDescription&>(*description_);\n"
               "  auto copy = std::make_shared<AgentDescription>(*description_);\n"), ids=("S1-09",)),
)


@dataclass(frozen=True)
class FileBreak:
    """A change of a text of the tree that a test reads when it runs, so that nothing is compiled."""

    ids: tuple[str, ...]
    what: str
    edit: Edit


FILE_BREAKS = (
    FileBreak(("S1-10", "S3-09", "S3-39"), "the core includes the runtime",
              Edit("src/core/next.cpp", '#include "praxis/core/next.hpp"\n',
                   '#include "praxis/core/next.hpp"\n#include "praxis/runtime/agent.hpp"\n')),
    FileBreak(("S2-44", "S5-19", "S2-30"), "an event is missing on its page",
              Edit("docs/events.md", "| `turn.started` |", "| `turn.began` |")),
)
