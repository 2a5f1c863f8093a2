// Whole flows for the baseline alone that take more than one session, process or clock: agent trees, teams,
// forks, continued and rewound sessions, deadlines, an MCP server, a recorded vendor.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/held_timers.hpp"
#include "must.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/praxis.hpp"
#include "praxis/runtime/mcp_tools.hpp"
#include "praxis/tools/ask_user_tool.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

/// A tool without arguments that says `text`.
Tool tool_that_says(std::string name, std::string text) {
  Tool tool;
  tool.definition = {std::move(name),          "Says it.", JsonObject{{"type", "object"}},
                     std::chrono::seconds(30), true,       true};
  tool.handler = [text = std::move(text)](ToolContext&, const Json&) -> Result<ToolOutput> {
    return ToolOutput{text, nullptr, {}, {}};
  };
  return tool;
}

/// A tool that works until it is stopped.
Tool endless_tool(bool idempotent, Millis timeout) {
  Tool tool = tool_that_says("work", "");
  tool.definition.idempotent = idempotent;
  tool.definition.timeout = timeout;
  tool.handler = [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, context.stop, [] { return false; });
    return fail(ErrorCode::kCancelled, "stopped");
  };
  return tool;
}

std::function<void(Agent&)> with_tools(std::vector<Tool> tools) {
  return [tools](Agent& agent) { agent.use(tools); };
}

// ---- agent trees

/// A tool that runs an agent below, which answers by the lines of the script that name it.
Tool agent_tool(const std::string& id, std::vector<Tool> tools, PolicyRules rules = {}) {
  Tool tool = tool_that_says(id, "");
  tool.handler = [id, tools = std::move(tools), rules = std::move(rules)](
                     ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    AgentSpec spec;
    spec.id = id;
    spec.instructions = "You answer for " + id + ".";
    spec.policy = Agent("").policy(rules).spec().policy;
    SubAgent agent = context.spawn(std::move(spec), tools);
    if (auto started = agent.start(json_string(arguments, "prompt")); !started) return fail(started.error());
    return as_output(agent.report());
  };
  return tool;
}

constexpr const char* kAskGuide =
    R"({"agent": "lead", "tool_calls": [{"name": "guide", "arguments": {"prompt": "Where?"}}]})"
    "\n";

Scenario tree_flow() {
  return {.name = "tree",
          .script = std::string(kAskGuide) + R"({"agent": "lead", "text": "In Lisbon."}
{"agent": "guide", "tool_calls": [{"name": "clerk", "arguments": {"prompt": "Look it up"}}], "usage": {"input": 40, "output": 4, "cost_usd": 0.02}}
{"agent": "guide", "text": "The clerk says Lisbon."}
{"agent": "clerk", "tool_calls": [{"name": "register", "arguments": {}}]}
{"agent": "clerk", "text": "Lisbon"})",
          .shape = [](Agent& agent) {
            agent.id("lead").use(
                agent_tool("guide", {agent_tool("clerk", {tool_that_says("register", "Ada: Lisbon")})}));
          }};
}

Scenario tree_approval_flow() {
  return {.name = "tree_approval",
          .script = std::string(kAskGuide) + R"({"agent": "lead", "text": "It is done."}
{"agent": "guide", "tool_calls": [{"name": "stamp", "arguments": {}}]}
{"agent": "guide", "text": "Stamped."})",
          .decide = [](const ParkedStep&) { return approve(); },
          .shape =
              [](Agent& agent) {
                agent.id("lead").use(agent_tool("guide", {tool_that_says("stamp", "stamped")},
                                                {.allow = {}, .deny = {}, .ask = {"stamp"}}));
              }};
}

Scenario tree_budget_flow() {
  return {.name = "tree_budget",
          .script = std::string(kAskGuide) + R"({"agent": "lead", "text": "never said"}
{"agent": "guide", "text": "It was expensive.", "usage": {"input": 10, "output": 10, "cost_usd": 2}})",
          .shape =
              [](Agent& agent) {
                Limits limits;
                limits.max_usd = MicroUsd{1'000'000};
                agent.id("lead").limits(limits).use(agent_tool("guide", {}));
              },
          .ends = StopReason::kCostLimit};
}

Scenario clone_flow() {
  return {.name = "clone",
          .script = R"({"text": "I count on you."}
{"tool_calls": [{"name": "fork", "arguments": {"prompt": "Count the apples"}}]}
{"asked": "apples", "text": "three"}
{"text": "Three apples."})",
          .prompts = {"Ready?", "How many?"},
          .shape = with_tools({fork_tool()}),
          .turns = 2};
}

Scenario team_flow() {
  return {.name = "team",
          .script = R"({"text": "A draft."}
{"text": "A better text."})",
          .play = [](const Scenario& scenario) {
            RuntimeOptions options;
            options.journal = memory_journal();
            options.environment = fixed_environment(1);
            const auto journal = options.journal;
            const auto runtime = Runtime::create(std::move(options));
            const auto model =
                must(script_model(scenario.script, scenario.name, runtime->model_services().executor));
            Agent writer("", "You write."), editor("", "You correct.");
            writer.id("writer").model(model);
            editor.id("editor").model(model);
            Team both({writer, editor}, runtime);
            if (auto chained = both.route_message(route_chain({"writer", "editor"})); !chained)
              throw std::runtime_error(chained.error().message);
            AgentResult result = must(both.send("Write it"));
            return Played{journal, both.session_id(), {std::move(result)}};
          }};
}

// ---- one session after another

/// The seq of the record that intends the first tool call.
std::uint64_t seq_of_first_call(const std::vector<StoredRecord>& records) {
  for (const StoredRecord& stored : records) {
    const auto* intent = std::get_if<records::EffectIntended>(&stored.record.body);
    if (intent != nullptr && intent->kind == EffectKind::kTool) return stored.seq;
  }
  throw std::runtime_error("no call was intended");
}

/// The seq at which the first turn had ended.
std::uint64_t seq_of_first_turn(const std::vector<StoredRecord>& records) {
  for (const StoredRecord& stored : records) {
    if (const auto* turn = std::get_if<records::TurnSettled>(&stored.record.body))
      return must(seq_of_turn(records, turn->turn));
  }
  throw std::runtime_error("no turn has ended");
}

/// Plays the scenario, forks it at the record that `at` chooses, and brings the fork to an end.
Played forked(const Scenario& scenario, std::uint64_t (*at)(const std::vector<StoredRecord>&)) {
  Setting setting;
  Stage first(scenario, setting);
  std::vector<AgentResult> results = first.play();
  const std::uint64_t seq = at(must(read_records(first.journal(), first.session())));
  setting.environment = fixed_environment(2);
  const SessionId fork = must(fork_session(first.journal(), *setting.environment, first.session(), seq));
  Stage second(scenario, setting);
  results.push_back(second.finish(fork));
  return {setting.journal, fork, std::move(results)};
}

Scenario fork_flow() {
  return {.name = "fork",
          .script = R"({"text": "one"}
{"text": "two"}
{"text": "three"})",
          .prompts = {"a", "b"},
          .turns = 2,
          .play = [](const Scenario& scenario) { return forked(scenario, seq_of_first_turn); }};
}

Scenario resume_in_doubt_flow() {
  return {.name = "resume_in_doubt",
          .script = R"({"tool_calls": [{"name": "note", "arguments": {"text": "milk"}}]}
{"text": "I am not sure that it is noted."})",
          .play = [](const Scenario& scenario) { return forked(scenario, seq_of_first_call); }};
}

/// The process ends while a call waits for an approval, and another one continues.
Scenario resume_flow() {
  return {.name = "resume",
          .script = R"({"tool_calls": [{"name": "note", "arguments": {"text": "milk"}}]}
{"text": "noted"})",
          .approvals = {approve()},
          .shape = [](Agent& agent) { agent.policy({.allow = {}, .deny = {}, .ask = {"note"}}); },
          .play =
              [](const Scenario& scenario) {
                const auto journal = memory_journal();
                SessionId session;
                {
                  Setting first;
                  first.journal = journal;
                  Stage stage(scenario, first);
                  Session begun = must(stage.agent().session());
                  session = begun.session_id();
                  if (!begun.send_user_message("go").report()) throw std::runtime_error("no turn");
                }
                Setting second;
                second.journal = journal;
                second.environment = fixed_environment(2);
                Stage stage(scenario, second);
                AgentResult result = stage.finish(session);
                return Played{journal, session, {std::move(result)}};
              }};
}

Scenario rewind_flow() {
  return {.name = "rewind",
          .script = R"({"text": "one"}
{"text": "two"}
{"text": "two again"})",
          .play = [](const Scenario& scenario) {
            Setting setting;
            Stage stage(scenario, setting);
            Session session = must(stage.agent().session());
            std::vector<AgentResult> results{must(session.ask("a")), must(session.ask("b"))};
            const std::string& second = results.back().id;
            if (auto done = session.rewind(TurnId{second.substr(second.find('/') + 1)}); !done)
              throw std::runtime_error(done.error().message);
            results.push_back(must(session.ask("b, but better")));
            return Played{setting.journal, session.session_id(), std::move(results)};
          }};
}

// ---- clocks

using Delays = std::vector<std::chrono::nanoseconds>;
constexpr Millis kLimit{20};
constexpr std::chrono::minutes kAnswers{10};  // longer than any limit

/// Waits until a timer for each of the delays has been set.
void await_timers(const HeldTimers& timers, const Delays& delays) {
  constexpr std::chrono::seconds kPatience{60};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!std::ranges::all_of(delays, [&](const auto delay) { return timers.set_for(delay) != 0; })) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("a timer is not set");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

/// Plays a turn of which something takes longer than `kLimit`. No time passes before all these timers are
/// set, so the machine cannot be too slow for what comes before.
Played out_of_time(const Scenario& scenario, const Delays& delays) {
  const auto timers = std::make_shared<HeldTimers>(make_executor());
  Setting setting;
  setting.executor = timers;
  Stage stage(scenario, setting);
  Session session = must(stage.agent().session());
  Run run = session.send_user_message(scenario.prompts.front());
  await_timers(*timers, delays);
  timers->advance(kLimit);
  AgentResult result = must(run.report());
  return {setting.journal, session.session_id(), {std::move(result)}};
}

Scenario deadline_flow() {
  return {.name = "deadline",
          .script = R"({"text": "never said", "delay_ms": 600000})",
          .shape =
              [](Agent& agent) {
                Limits limits;
                limits.timeout = kLimit;
                agent.limits(limits);
              },
          .ends = StopReason::kTimeLimit,
          .play = [](const Scenario& scenario) { return out_of_time(scenario, {kLimit, kAnswers}); }};
}

Scenario late_tool_flow(std::string name, bool idempotent) {
  return {.name = std::move(name),
          .script = R"({"tool_calls": [{"name": "work", "arguments": {}}]}
{"text": "It took too long."})",
          .shape = with_tools({endless_tool(idempotent, kLimit)}),
          .play = [](const Scenario& scenario) { return out_of_time(scenario, {kLimit}); }};
}

Scenario retries_spent_flow() {
  Tool busy = tool_that_says("busy", "");
  busy.retries = 1;
  busy.retry_delay = Millis{1};
  busy.handler = [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    return fail(ErrorCode::kTool, "busy, attempt " + std::to_string(context.attempt), true);
  };
  return {.name = "retries_spent",
          .script = R"({"tool_calls": [{"name": "busy", "arguments": {}}]}
{"text": "It is too busy."})",
          .shape = with_tools({busy})};
}

// ---- approvers, hooks, servers, vendors

Scenario ask_user_flow() {
  return {.name = "ask_user",
          .script = R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "Which colour?"}}]}
{"text": "Blue it is."})",
          .approvals = {answer("blue")},
          .shape = with_tools({ask_user_tool()})};
}

Scenario hooks_flow() {
  return {.name = "hooks",
          .script =
              R"({"tool_calls": [{"name": "note", "arguments": {"text": "a"}}]}
{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
{"tool_calls": [{"name": "register", "arguments": {}}]}
{"text": "done"})",
          .shape = [](Agent& agent) {
            agent.use(tool_that_says("register", "a secret"));
            agent.on_before_tool([](const HookContext&, const ToolCall& call) -> ToolHookResult {
              if (call.name == "note") return {std::nullopt, ToolOutput{"not noted", nullptr, {}, {}}};
              if (call.name == "add") return {R"({"a": 2, "b": 2})", std::nullopt};
              return {};
            });
            agent.on_after_tool([](const HookContext&, const ToolCall& call, Result<ToolOutput>& output) {
              if (call.name == "register" && output) output->text = "withheld";
            });
          }};
}

Scenario mcp_flow() {
  return {.name = "mcp",
          .script = R"({"tool_calls": [{"name": "fix__sum", "arguments": {"a": 2, "b": 3}}]}
{"tool_calls": [{"name": "fix__break", "arguments": {}}]}
{"text": "5"})",
          .shape = [](Agent& agent) {
            McpProgram program;
            program.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/server.py", "usual"};
            program.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
            McpToolOptions options;
            options.server = "fix";
            options.only = {"sum", "break"};
            agent.tools_from(mcp_tools({std::make_shared<McpClient>(program), options}));
            agent.policy({.allow = {"fix__*"}, .deny = {}, .ask = {}});
          }};
}

/// A model under a fixed name: that of a cassette has the folder of the source, which requests are hashed
/// with.
class NamedModel final : public Model {
 public:
  NamedModel(std::string name, std::shared_ptr<Model> model)
      : name_(std::move(name)), model_(std::move(model)) {}
  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return model_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return model_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override { return model_->open_session(); }

 private:
  const std::string name_;
  const std::shared_ptr<Model> model_;
};

Scenario recorded_vendor_flow() {
  return {.name = "recorded_vendor", .prompts = {"I live in Lisbon."}, .shape = [](Agent& agent) {
            agent.model(std::make_shared<NamedModel>(
                "cassette:notes", must(make_model("cassette:" PRAXIS_SOURCE_DIR "/tests/cassettes/notes",
                                                  Runtime::create()->model_services()))));
            agent.policy({.allow = {"kv"}, .deny = {}, .ask = {}});
          }};
}

}  // namespace

std::vector<Scenario> session_scenarios() {
  return {tree_flow(),
          tree_approval_flow(),
          tree_budget_flow(),
          clone_flow(),
          team_flow(),
          fork_flow(),
          resume_in_doubt_flow(),
          resume_flow(),
          rewind_flow(),
          deadline_flow(),
          late_tool_flow("late_tool", false),
          late_tool_flow("late_repeatable_tool", true),
          retries_spent_flow(),
          ask_user_flow(),
          hooks_flow(),
          mcp_flow(),
          recorded_vendor_flow()};
}

}  // namespace praxis::testing
