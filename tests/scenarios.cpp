#include "scenarios.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "journal/testing/remove_folder.hpp"
#include "must.hpp"
#include "praxis/tools/kv_tool.hpp"
#include "praxis/tools/text_tool.hpp"

namespace praxis::testing {

// ---- MemoryFolder

MemoryFolder::MemoryFolder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  const auto parent =
      std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
  path_ = parent / "praxis-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make the folder " + path_);
}
MemoryFolder::~MemoryFolder() { remove_folder(path_); }

// ---- World

void World::enter(const Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert_or_assign(session.session_id(), session);
}

void World::close() {
  std::map<SessionId, Session> gone;  // destroyed outside the lock: the end of a session may call `World`
  const std::lock_guard lock(mutex_);
  gone.swap(sessions_);
}

Session World::session(const SessionId& id) const {
  const std::lock_guard lock(mutex_);
  return sessions_.at(id);
}

void World::executed(const std::string& tool) {
  const std::lock_guard lock(mutex_);
  ++executions_[tool];
}

std::map<std::string, int> World::executions() const {
  const std::lock_guard lock(mutex_);
  return executions_;
}

void World::hear(const Event& event) {
  // Events of sub-agents and of the agent tree have no fixed place among the root's.
  if (event.agent.depth != 0 || std::holds_alternative<events::AgentStatus>(event.body)) return;
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
  if (std::holds_alternative<events::ToolCompleted>(event.body)) ++completions_;
  const std::string_view name = event_name(event.body);
  if (name == "turn.completed" || name == "turn.failed" || name == "turn.timed_out" ||
      name == "turn.cancelled")
    ++turns_;
  changed_.notify_all();
}

std::vector<Event> World::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

void World::await_completions(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completions_ >= count || !in_order_; });
}

void World::await_turns(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turns_ >= count; });
}

void World::out_of_order() {
  const std::lock_guard lock(mutex_);
  in_order_ = false;
}

// ---- tools

namespace {

using Work = std::function<Result<ToolOutput>(ToolContext&, const Json& arguments)>;

/// A tool that counts its executions, then works.
Tool counting(const std::shared_ptr<World>& world, std::string name, bool idempotent, Work work) {
  Tool tool;
  tool.definition = {
      name, "Does " + name, JsonObject{{"type", "object"}}, std::chrono::seconds(30), idempotent, true};
  tool.handler = [world, name, work = std::move(work)](ToolContext& context, const Json& arguments) {
    world->executed(name);
    return work(context, arguments);
  };
  return tool;
}

ToolOutput says(std::string text) { return {std::move(text), nullptr, {}, {}}; }

std::unexpected<Error> breaks(std::string message, bool retriable) {
  return fail(ErrorCode::kTool, std::move(message), retriable);
}

std::vector<Tool> tools_of(const std::shared_ptr<World>& world) {
  std::vector<Tool> tools{kv_tool(), text_tool()};
  tools.push_back(counting(world, "add", true, [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    const std::int64_t sum = json_int(arguments, "a") + json_int(arguments, "b");
    return ToolOutput{std::to_string(sum), JsonObject{{"sum", sum}}, {}, {}};
  }));
  tools.push_back(
      counting(world, "note", false, [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
        return says("noted: " + json_string(arguments, "text"));
      }));
  tools.push_back(
      counting(world, "ordered", true, [world](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
        world->await_completions(static_cast<std::size_t>(json_int(arguments, "after")));
        return says("after " + std::to_string(json_int(arguments, "after")));
      }));
  tools.push_back(
      counting(world, "delegate", true, [](ToolContext& context, const Json&) -> Result<ToolOutput> {
        AgentSpec spec;
        spec.id = "below";
        spec.plan = JsonArray{JsonObject{{"finish", "from below"}}};
        auto below = context.spawn(std::move(spec)).run("go");
        if (!below) return fail(below.error());
        auto sum = context.call_tool("add", JsonObject{{"a", 1}, {"b", 2}});
        if (!sum) return fail(sum.error());
        return says(below->text + ", " + sum->text);
      }));
  tools.push_back(counting(world, "big", true, [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    return says(std::string(static_cast<std::size_t>(json_int(arguments, "bytes")), 'x'));
  }));
  tools.push_back(counting(world, "broken", true, [](ToolContext&, const Json&) -> Result<ToolOutput> {
    return breaks("the disk is on fire", false);
  }));
  tools.push_back(counting(world, "flaky", true, [](ToolContext& context, const Json&) -> Result<ToolOutput> {
    if (context.attempt <= 2) return breaks("busy, attempt " + std::to_string(context.attempt), true);
    return says("at last");
  }));
  tools.back().retries = 3;
  tools.back().retry_delay = Millis{1};
  tools.push_back(counting(world, "steer", true,
                           [world](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
                             world->session(context.session).steer(json_string(arguments, "text"));
                             return says("steered");
                           }));
  tools.push_back(counting(world, "enqueue", true,
                           [world](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
                             world->session(context.session).enqueue(json_string(arguments, "text"));
                             return says("queued");
                           }));
  tools.push_back(
      counting(world, "interrupt", true, [world](ToolContext& context, const Json&) -> Result<ToolOutput> {
        world->session(context.session).interrupt();
        return says("interrupted");
      }));
  return tools;
}

std::string with_chunk(const std::string& script, std::size_t chunk) {
  std::string out;
  for (std::size_t at = 0; at < script.size();) {
    const std::size_t end = std::min(script.find('\n', at), script.size());
    Json line = *parse_json(script.substr(at, end - at));
    line.get_object()["chunk"] = chunk;
    out += to_json_text(line) + '\n';
    at = end + 1;
  }
  return out;
}

std::shared_ptr<Runtime> runtime_for(const Setting& setting) {
  RuntimeOptions options;
  options.journal = setting.journal;
  options.environment = setting.environment ? setting.environment : fixed_environment(1);
  options.executor = setting.executor;
  options.http = setting.http;
  options.stream = setting.stream;
  options.suspend_when_waiting = setting.suspend;
  options.cancel_grace = std::chrono::minutes(1);  // a cancelled tool always has time to report its outcome
  return Runtime::create(std::move(options));
}

Agent agent_for(const Scenario& scenario, const Setting& setting, const std::shared_ptr<World>& world,
                const std::shared_ptr<Runtime>& runtime) {
  Agent agent("", "You are terse.");
  if (!scenario.script.empty()) {
    auto model = must(script_model(with_chunk(scenario.script, setting.chunk), scenario.name,
                                   runtime->model_services().executor));
    agent.model(setting.wrap ? setting.wrap(std::move(model)) : std::move(model));
  }
  if (!scenario.plan.empty()) agent.plan(must(parse_json(scenario.plan)));
  agent.use(tools_of(world)).in_doubt(InDoubt::kTell).runtime(runtime);
  if (scenario.shape) scenario.shape(agent);
  return agent;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Scenario& scenario) { return out << scenario.name; }

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kAll = all_scenarios();
  return kAll;
}

// ---- Stage

Stage::Stage(const Scenario& scenario, Setting setting)
    : scenario_(scenario),
      call_(setting.call),
      runtime_(runtime_for(setting)),
      observer_(runtime_->on("*", [world = world_](const Event& event) { world->hear(event); })),
      agent_(agent_for(scenario, setting, world_, runtime_)) {}

AgentResult Stage::decide_all(const Session& session, Result<AgentResult> result,
                              std::vector<AgentResult>* all) const {
  Session handle = session;
  for (;;) {
    AgentResult settled = must(std::move(result));
    if (all != nullptr) all->push_back(settled);
    if (settled.status != SessionStatus::kAwaitingUser) return settled;
    Approvals decisions;
    for (const ParkedStep& step : settled.pending) {
      if (scenario_.decide) {
        decisions.emplace_back(step.id, scenario_.decide(step));
        continue;
      }
      const std::size_t number = std::stoul(step.id.str().substr(1));
      decisions.emplace_back(step.id,
                             scenario_.approvals.at(std::min(number, scenario_.approvals.size()) - 1));
    }
    result = call([&] { return handle.resume(decisions); }).report();
  }
}

/// Plays queued turns, which begin automatically after the requested one.
void Stage::play_queued(const Session& session, std::vector<AgentResult>& results) const {
  for (;;) {
    const SessionStatus status = call([&] { return session.status(); });
    if (status == SessionStatus::kAwaitingUser) {
      Run run = call([&] { return Session(session).resume(); });
      decide_all(session, run.report(), &results);
    } else if (status == SessionStatus::kRunning) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else {
      return;
    }
  }
}

std::vector<AgentResult> Stage::play() {
  Session session = must(call([&] { return runtime_->create_session(agent_); }));
  session_ = session.session_id();
  world_->enter(session);
  std::vector<AgentResult> results;
  for (const std::string& prompt : scenario_.prompts) {
    Run run = call([&] { return session.send_user_message(prompt); });
    decide_all(session, run.report(), &results);
    play_queued(session, results);
  }
  world_->await_turns(scenario_.turns);
  return results;
}

AgentResult Stage::finish(const SessionId& id) {
  world_->out_of_order();
  Session session = must(runtime_->open_session(id, agent_));
  world_->enter(session);
  auto carried = session.resume().report();
  if (!carried && carried.error().code == ErrorCode::kInput)
    carried = session.send_user_message("more").report();
  return decide_all(session, std::move(carried), nullptr);
}

}  // namespace praxis::testing
