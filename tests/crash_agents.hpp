// The agents whose processes the crash tests kill. Each brings its own tools; together they use every kind of
// effect.
#pragma once

#include "carried_through.hpp"
#include "crash_world.hpp"
#include "praxis/memory/stores.hpp"
#include "praxis/runtime/memory_tools.hpp"
#include "praxis/tools/python_tool.hpp"

namespace praxis::testing {

/// What the agents of one process share.
struct Ground {
  std::shared_ptr<Runtime> runtime;
  Doom& doom;
  const Ledger& ledger;
  InDoubt in_doubt = InDoubt::kTell;
  std::string memory = {};  ///< the file of the agents that have one

  Tool tool(const std::string& name, bool idempotent) const {
    return doomed_tool(name, idempotent, doom, ledger);
  }
  Agent agent(const std::string& id, std::string_view script) const {
    auto model = script_model(script, id, runtime->model_services().executor);
    if (!model) throw std::runtime_error(model.error().message);
    Agent made("", "Be careful.");
    made.id(id).model(std::make_shared<DoomedModel>(*std::move(model), doom, ledger));
    return made.in_doubt(in_doubt).runtime(runtime);
  }
  /// Adds a tool that may be repeated, one that may not, and one that needs approval.
  Agent equipped(Agent agent) const {
    agent.use(tool("put", true)).use(tool("pay", false)).use(tool("send", true));
    return agent.policy({.allow = {}, .deny = {}, .ask = {"send"}});
  }
};

inline Agent model_agent(const Ground& ground) {
  return ground.equipped(
      ground.agent("crash", R"({"text": "Putting.", "tool_calls": [{"name": "put", "arguments": {}}]}
{"text": "Paying.", "tool_calls": [{"name": "pay", "arguments": {}}]}
{"reasoning": "Better ask.", "tool_calls": [{"name": "send", "arguments": {}}]}
{"text": "Put, paid and sent."})"));
}

inline Agent plan_agent(const Ground& ground) {
  Agent agent = ground.equipped(Agent("", "Be careful."));
  agent.plan(*parse_json(R"([
  {"id": "nap", "sleep_ms": 7},
  {"id": "put", "tool": "put"},
  {"id": "who", "ask": "Who gets it?"},
  {"id": "pay", "tool": "pay", "on_error": "continue"},
  {"id": "both", "tools": [{"tool": "put"}, {"tool": "pay"}], "on_error": "continue"},
  {"id": "end", "finish": "${steps.put.text}, ${steps.who.text}, ${steps.pay.text}"}])"));
  return agent.in_doubt(ground.in_doubt).runtime(ground.runtime);
}

/// An agent whose planner sends the model a side query before and after the work, and asks the user once.
inline Agent steps_agent(const Ground& ground) {
  Agent agent =
      ground.equipped(ground.agent("steps", R"({"text": "{\"ambiguous\": true, \"question\": \"For whom?\"}"}
{"text": "{\"ambiguous\": false, \"question\": \"\"}"}
{"tool_calls": [{"name": "pay", "arguments": {}}]}
{"text": "It is paid."}
{"text": "{\"answer\": \"Paid for a friend.\", \"uncertain\": false, \"question\": \"\"}"})"));
  return agent.plan(JsonObject{{"kind", "six_steps"}});
}

/// An agent whose conversation does not fit the window, so the fifth model call makes a summary.
inline Agent summary_agent(const Ground& ground) {
  std::string words, script;
  for (int i = 0; i < 400; ++i) words += "word ";
  const auto put = [&](int n) {
    return R"({"tool_calls": [{"name": "put", "arguments": {"text": ")" + std::to_string(n) + " " + words +
           "\"}}]}\n";
  };
  for (int n = 0; n < 4; ++n) script += put(n);
  script += R"({"text": "Many words were put; nothing is open."})" + std::string("\n") + put(4);
  script += R"({"text": "All is put."})";
  Limits limits;
  limits.max_context = 2'000;
  return ground.equipped(ground.agent("summary", script)).limits(limits);
}

/// A tool that creates an agent and meanwhile calls two tools.
inline Tool errand_tool(const Ground& ground) {
  Tool tool;
  tool.definition = {"errand", "Does it all", JsonObject{{"type", "object"}}, Millis{0}, true, true};
  tool.handler = [&doom = ground.doom, put = ground.tool("put", true)](ToolContext& context,
                                                                       const Json&) -> Result<ToolOutput> {
    doom.pass("errand", "inside");
    AgentSpec spec;
    spec.id = "twin";
    spec.plan =
        *parse_json(R"([{"id": "put", "tool": "put"}, {"id": "end", "finish": "twin: ${steps.put.text}"}])");
    SubAgent twin = context.spawn(spec, {put});
    if (auto begun = twin.start("go"); !begun) return fail(begun.error());
    auto paid = context.call_tool("pay", JsonObject{});
    auto again = context.call_tool("put", JsonObject{});
    auto done = twin.wait();
    if (!again || !done) return fail(!again ? again.error() : done.error());
    return ToolOutput{(paid ? paid->text : paid.error().message) + ", " + done->text, nullptr, {}, {}};
  };
  return tool;
}

/// A tree: `top` delegates to `manager`, which delegates to `clerk`.
inline Agent above(const Ground& ground, const Agent& clerk, const PolicyRules& rules) {
  Agent manager =
      ground.agent("manager", R"({"tool_calls": [{"name": "clerk", "arguments": {"prompt": "do it"}}]}
{"text": "It was done."})");
  manager.policy(rules).use(clerk.as_tool("clerk", "Does the work"));
  Agent top = ground.agent(
      "top",
      R"({"tool_calls": [{"name": "manager", "arguments": {"prompt": "see to it"}}, {"name": "put", "arguments": {}}]}
{"text": "All is done."})");
  return top.policy(rules).use(manager.as_tool("manager", "Has it done")).use(ground.tool("put", true));
}

/// A lead, a manager below it, and a clerk below that, whose tool does the work.
inline Agent tree_agent(const Ground& ground) {
  Agent clerk = ground.agent("clerk", R"({"tool_calls": [{"name": "errand", "arguments": {}}]}
{"text": "I did it."})");
  clerk.use(errand_tool(ground)).policy({.allow = {}, .deny = {}, .ask = {"pay"}});
  clerk.use(ground.tool("put", true)).use(ground.tool("pay", false));
  return above(ground, clerk, {});
}

/// The same, but the clerk writes a program with three calls that need approval, each within an hour of its
/// request. Without a sandbox, which has its own tests; the code here is trusted.
inline Agent python_agent(const Ground& ground, const std::vector<std::string>& asks = {"pay"}) {
  PythonToolOptions unsandboxed;
  unsandboxed.sandbox = std::nullopt;
  Limits patience;
  patience.max_wait = std::chrono::hours(1);
  const Json code{{"code",
                   "for said in gather([('pay', {'what': w}) for w in 'abc'], return_exceptions=True):\n"
                   "  print(said)"}};
  Agent clerk = ground.agent("clerk", R"({"tool_calls": [{"name": "python", "arguments": )" +
                                          to_json_text(code) + "}]}\n" + R"({"text": "I did it."})");
  clerk.use(python_tool(std::move(unsandboxed))).use(ground.tool("pay", false)).limits(patience);
  clerk.policy({.allow = {"python"}, .deny = {}, .ask = asks});
  return above(ground, clerk, {.allow = {"python"}, .deny = {}, .ask = {}});
}

/// An agent that remembers one note without a key and one with, or forgets the latter.
inline Agent memory_agent(const Ground& ground, bool forgets) {
  Agent agent =
      ground.agent("memory", forgets ? R"({"tool_calls": [{"name": "forget", "arguments": {"key": "k"}}]}
{"text": "It is forgotten."})"
                                     : R"({"tool_calls": [{"name": "remember", "arguments": {"text": "one"}}]}
{"tool_calls": [{"name": "remember", "arguments": {"text": "two", "key": "k"}}]}
{"text": "It is remembered."})");
  auto memory = sqlite_memory(ground.memory);
  if (!memory) throw std::runtime_error(memory.error().message);
  for (Tool& tool : memory_tools(memory->database)) {
    tool.handler = [handler = std::move(tool.handler), name = tool.definition.name, &doom = ground.doom](
                       ToolContext& context, const Json& arguments) {
      doom.pass(name, "inside");
      auto output = handler(context, arguments);
      doom.pass(name, "acted");  // the memory has committed, the journal does not know it
      return output;
    };
    agent.use(std::move(tool));
  }
  return agent.policy({.allow = {"remember", "forget"}, .deny = {}, .ask = {}});
}

/// Returns the agent of this name on the command line; `python_ruled` is `python` with changed rules.
inline Agent agent_called(std::string_view name, const Ground& ground) {
  if (name == "plan") return plan_agent(ground);
  if (name == "steps") return steps_agent(ground);
  if (name == "summary") return summary_agent(ground);
  if (name == "tree") return tree_agent(ground);
  if (name == "memory" || name == "memory_forget") return memory_agent(ground, name != "memory");
  if (name == "python") return python_agent(ground);
  if (name == "python_ruled") return python_agent(ground, {"pay", "put"});
  return model_agent(ground);
}

/// The decision of the approver, always the same.
inline Approval approval_on(const ParkedStep& step, std::string_view doubt) {
  if (step.kind == ParkKind::kApproval) return approve();
  if (step.kind == ParkKind::kQuestion) return answer("a friend");
  if (doubt == "allow") return approve();
  return doubt == "deny" ? reject("I will look into it.") : answer("it was paid");
}

/// As `carried_through` with an approver who passes the point `person` before each decision.
inline Result<AgentResult> carried_through(Session session, std::string_view doubt, Doom& doom) {
  return carried_through(std::move(session), [&](const std::vector<ParkedStep>& pending) {
    doom.pass("person", "inside");
    Approvals decisions;
    for (const ParkedStep& step : pending) decisions.emplace_back(step.id, approval_on(step, doubt));
    return decisions;
  });
}

}  // namespace praxis::testing
