#include "evals/counterfactual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <variant>

#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "base/regular_file.hpp"
#include "evals/log_requests.hpp"
#include "evals/recorded_agent.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

constexpr std::size_t kMaxStaticBytes = 1024UL * 1024;

// ---- what is replayed

/// A place of a run: a turn and one of its steps.
struct Place {
  std::string turn;  ///< empty: the last one, or the first one if `step` is 0
  std::uint32_t step = 0;
};

Result<Place> place_of(const std::string& from) {
  const auto wrong = [&] {
    return fail(
        app::usage_error(fmt::format("{} is not a step", app::in_quotes(from)),
                         "--from 3 is the third step of the last turn, t2 the turn t2, t2.3 its third step"));
  };
  Place place;
  std::string number = from;
  if (from.starts_with('t')) {
    const auto dot = from.find('.');
    place.turn = from.substr(0, dot);
    if (dot == std::string::npos) return place;
    number = from.substr(dot + 1);
  }
  constexpr std::size_t kMostDigits = 6;
  const bool is_number = !number.empty() && number.size() <= kMostDigits &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::stoul(number) == 0) return wrong();
  place.step = static_cast<std::uint32_t>(std::stoul(number));
  return place;
}

/// A turn of a log.
struct LoggedTurn {
  ReplayPlan::Turn turn;
  std::uint64_t before = 0;  ///< number of the last record before it
};

std::vector<LoggedTurn> turns_of(const std::vector<StoredRecord>& records) {
  std::vector<LoggedTurn> turns;
  for (const StoredRecord& stored : records) {
    if (const auto* started = std::get_if<records::TurnStarted>(&stored.record.body)) {
      turns.push_back({{started->turn.str(), std::nullopt, started->output_schema}, stored.seq - 1});
      continue;
    }
    const auto* appended = std::get_if<records::MessageAppended>(&stored.record.body);
    const bool begins = appended != nullptr && (appended->source == MessageSource::kUser ||
                                                appended->source == MessageSource::kQueue);
    if (!begins || turns.empty() || turns.back().turn.message) continue;
    const MessagePtr& message = appended->original ? appended->original : appended->message;
    Message again;
    again.role = message->role;
    again.parts = message->parts;
    again.metadata = message->metadata;
    turns.back().turn.message = std::move(again);
  }
  return turns;
}

/// Whether a hook or a server of tools changed the description of the agent, as it does again in a replay.
bool is_described_again(const records::Intervened& command) {
  return command.verb == CommandVerb::kSetAgent && command.author.surface == Surface::kHook;
}

/// Error `kInput` if a user intervened after `seq`, which a replay cannot repeat.
Status check_no_commands(const std::vector<StoredRecord>& records, std::uint64_t seq) {
  for (const StoredRecord& stored : records) {
    const auto* command = std::get_if<records::Intervened>(&stored.record.body);
    if (command == nullptr || stored.seq <= seq || command->verb == CommandVerb::kAnnotate) continue;
    if (is_described_again(*command)) continue;
    return fail(
        app::usage_error(fmt::format("record {} is a command ({}), which a replay with changes cannot repeat",
                                     stored.seq, to_string(command->verb)),
                         "--from t2 begins after it, at turn t2"));
  }
  return {};
}

void set_prompt(ReplayPlan::Turn& turn, const std::string& prompt) {
  Message message = turn.message.value_or(Message{});
  message.role = Role::kUser;
  std::erase_if(message.parts, [](const Part& part) { return std::holds_alternative<TextPart>(part); });
  message.parts.emplace_back(TextPart{prompt});
  turn.message = std::move(message);
}

// ---- running

/// Carries out calls as the changes say.
ToolExecutor executor_of(const std::shared_ptr<RecordedOutcomes>& outcomes, const Changes& changes) {
  return [outcomes, tools = changes.tools](ToolContext& context, const Tool& tool,
                                           const Json& arguments) -> Result<ToolOutput> {
    const std::string& name = tool.definition.name;
    const auto change = tools.find(name);
    const ToolChange found = change == tools.end() ? ToolChange{} : change->second;
    switch (found.source) {
      case ResultSource::kLive:
        return tool.handler(context, arguments);
      case ResultSource::kStatic: {
        ToolOutput output;
        output.text = found.text;
        return output;
      }
      case ResultSource::kFail:
        return fail(ErrorCode::kTool, "the tool failed");
      case ResultSource::kRecorded:
        break;
    }
    if (auto recorded = outcomes->result(name, arguments)) return *std::move(recorded);
    return fail(ErrorCode::kTool, ErrorKind::kNotFound,
                fmt::format("the recorded run has no call of {} with these arguments", name));
  };
}

/// Whether a replay may run the calls of a tool.
bool runs_live(const Changes& changes, std::string_view tool) {
  const auto change = changes.tools.find(tool);
  return change != changes.tools.end() && change->second.source == ResultSource::kLive;
}

/// Decides as the record does. Calls that do not run are approved; live ones wait for a human.
ApprovalHandler approver_of(const std::shared_ptr<RecordedOutcomes>& outcomes, const Changes& changes) {
  return [outcomes, changes](const ParkedStep& step,
                             const std::stop_token& /*stop*/) -> std::optional<Approval> {
    if (runs_live(changes, step.tool)) return std::nullopt;
    if (auto recorded = outcomes->decision(step)) return recorded;
    return step.kind == ParkKind::kApproval ? std::optional(approve()) : std::nullopt;
  };
}

/// Runs the turns of the plan. Stops where one waits for a human.
Result<AgentResult> run_turns(Session& session, const ReplayPlan& plan, const std::stop_token& stop) {
  Result<AgentResult> last = fail(ErrorCode::kInput, "the run has no turn");
  bool continues = plan.within_turn;
  for (const ReplayPlan::Turn& turn : plan.turns) {
    Run run = std::exchange(continues, false) ? session.resume()
              : turn.message                  ? session.send(*turn.message, turn.output_schema, stop)
                                              : session.run(stop);
    last = run.report();
    if (!last || !last->reason) break;
  }
  return last;
}

/// The requests that the run made after record `seq`.
Result<std::vector<LoggedRequest>> requests_after(const std::vector<StoredRecord>& records,
                                                  std::uint64_t seq) {
  auto all = requests_of(records);
  if (all) std::erase_if(*all, [seq](const LoggedRequest& request) { return request.seq <= seq; });
  return all;
}

struct Setting {
  std::shared_ptr<Runtime> runtime;
  SessionId run;
  std::shared_ptr<RecordedModel> model = nullptr;  ///< null: another model answers
};

Result<Replayed> replay_in(const Setting& setting, const app::StoredSession& stored,
                           const app::Workspace& workspace, const ReplayPlan& plan, const Changes& changes,
                           const std::shared_ptr<RecordedOutcomes>& outcomes, const ReplayRun& how) {
  setting.runtime->set_approval_handler(approver_of(outcomes, changes));
  const std::shared_ptr<Journal> journal(setting.runtime, &setting.runtime->journal());
  const auto fork = app::read_session(journal, setting.run);
  if (!fork) return fail(fork.error());
  const auto requests = requests_after(stored.records, plan.seq);
  if (!requests) return fail(requests.error());
  const auto adjust = [&](Agent& agent) -> Status {
    agent = recorded_agent(agent, *requests, [&](std::string_view tool) { return runs_live(changes, tool); });
    agent.executor(executor_of(outcomes, changes));
    if (setting.model) agent.model(std::shared_ptr<Model>(setting.model));
    return {};
  };
  auto session = app::reopen_run_in(setting.runtime, *fork, workspace,
                                    {.use = {.principal = how.principal},
                                     .model = changes.model,
                                     .accept = how.accept,
                                     .accept_home = how.accept_home,
                                     .adjust = adjust});
  if (!session) return fail(session.error());
  auto last = run_turns(*session, plan, how.stop);
  std::ignore = session->close();
  if (!last) return fail(last.error());
  const auto now = read_records(*journal, setting.run);
  if (!now) return fail(now.error());
  const auto before = steps_of(stored.records, plan.seq), after = steps_of(*now, plan.seq);
  if (!before || !after) return fail(before ? after.error() : before.error());
  Replayed replayed{.run = setting.run,
                    .steps = compare_steps(*before, *after),
                    .answers = setting.model ? setting.model->count() : AnswerCount{},
                    .recorded_steps = before->size(),
                    .steps_now = after->size(),
                    .last = *std::move(last)};
  for (const RunStep& step : *before) replayed.recorded_usage += step.usage;
  for (const RunStep& step : *after) replayed.usage_now += step.usage;
  return replayed;
}

}  // namespace

Result<std::pair<std::string, ToolChange>> read_tool_change(const std::string& text) {
  constexpr std::string_view kStaticPrefix = "static:";
  const auto at = text.find('=');
  const std::string name = text.substr(0, at), source = at == std::string::npos ? "" : text.substr(at + 1);
  const std::array<std::pair<std::string_view, ResultSource>, 3> sources{
      {{"recorded", ResultSource::kRecorded}, {"live", ResultSource::kLive}, {"fail", ResultSource::kFail}}};
  const auto found = std::ranges::find(sources, source, &std::pair<std::string_view, ResultSource>::first);
  if (!name.empty() && found != sources.end()) return std::pair(name, ToolChange{found->second});
  if (name.empty() || !source.starts_with(kStaticPrefix)) {
    return fail(app::usage_error(app::in_quotes(text) + " does not say where the results of a tool come from",
                                 "--tool NAME=recorded, =live, =fail or =static:FILE"));
  }
  const std::string path = source.substr(kStaticPrefix.size());
  auto content = read_regular_file(path, kMaxStaticBytes);
  if (!content) return fail(content.error());
  return std::pair(name, ToolChange{ResultSource::kStatic, *std::move(content)});
}

Result<ReplayPlan> plan_replay(const app::StoredSession& stored, const Changes& changes) {
  const State& state = stored.state;
  if (state.turn) {
    return fail(app::usage_error("the last turn of run " + stored.id.str() + " has not ended",
                                 "praxis resume ends it"));
  }
  if (state.team || !state.agent->plan.is_null())
    return fail(
        app::usage_error("a run that a written plan or a team decides cannot be replayed with changes"));
  std::vector<LoggedTurn> turns = turns_of(stored.records);
  auto place = place_of(changes.from.empty() ? "t1" : changes.from);
  if (!place) return fail(place.error());
  if (turns.empty()) return fail(app::usage_error("run " + stored.id.str() + " has no turn"));
  if (changes.from.empty()) place->turn = turns.front().turn.id;
  if (place->turn.empty()) place->turn = turns.back().turn.id;
  const auto first =
      std::ranges::find_if(turns, [&](const LoggedTurn& each) { return each.turn.id == place->turn; });
  if (first == turns.end())
    return fail(
        app::usage_error(fmt::format("run {} has no turn {}", stored.id.str(), app::in_quotes(place->turn))));
  ReplayPlan plan{.seq = first->before, .within_turn = place->step > 1};
  if (plan.within_turn) {
    if (changes.prompt)
      return fail(
          app::usage_error("--prompt begins a turn, but --from is within one", "--from " + place->turn));
    const auto seq = seq_of_turn(stored.records, TurnId(place->turn), place->step - 1);
    if (!seq) return fail(seq.error());
    plan.seq = *seq;
  }
  if (auto none = check_no_commands(stored.records, plan.seq); !none) return fail(none.error());
  for (auto each = first; each != turns.end(); ++each) plan.turns.push_back(std::move(each->turn));
  if (changes.prompt) set_prompt(plan.turns.front(), *changes.prompt);
  return plan;
}

bool Replayed::is_same() const {
  return std::ranges::all_of(steps, [](const StepPair& pair) { return pair.differences.empty(); });
}

Result<Replayed> replay_unchanged(const app::StoredSession& stored, const app::Workspace& workspace,
                                  const ReplayPlan& plan, const ReplayRun& how) {
  app::Workspace in_memory = workspace;
  in_memory.journal = "memory";
  auto runtime = app::open_runtime(in_memory, {.principal = how.principal, .stream = false});
  if (!runtime) return fail(runtime.error());
  const auto text = export_session(*stored.journal, stored.id);
  if (!text) return fail(text.error());
  const auto copy = import_session((*runtime)->journal(), *text);
  if (!copy) return fail(copy.error());
  const auto fork = fork_session((*runtime)->journal(), (*runtime)->environment(), *copy, plan.seq);
  if (!fork) return fail(fork.error());
  auto outcomes = RecordedOutcomes::from(stored.records, plan.seq);
  if (!outcomes) return fail(outcomes.error());
  const AgentSpec& agent = *stored.state.agent;
  const Setting setting{
      *runtime, *fork,
      recorded_model({.name = agent.model, .profile = agent.profile, .outcomes = *outcomes})};
  return replay_in(setting, stored, in_memory, plan, {}, *outcomes, how);
}

Result<Replayed> replay_changed(const app::StoredSession& stored, const app::Workspace& workspace,
                                const ReplayPlan& plan, const Changes& changes, const ReplayRun& how) {
  auto runtime = app::open_runtime(workspace, {.principal = how.principal, .stream = false});
  if (!runtime) return fail(runtime.error());
  auto outcomes = RecordedOutcomes::from(stored.records, plan.seq);
  if (!outcomes) return fail(outcomes.error());
  Setting setting{*runtime, {}, nullptr};
  const AgentSpec& agent = *stored.state.agent;
  if (changes.model.empty()) {
    // Without its key the model cannot answer what is new, but the rest of the replay needs no key.
    auto live = make_model(agent.model, (*runtime)->model_services(), agent.route);
    setting.model = recorded_model({.name = agent.model,
                                    .profile = agent.profile,
                                    .outcomes = *outcomes,
                                    .live = live ? *live : nullptr});
  }
  Journal& journal = (*runtime)->journal();
  const auto fork = fork_session(journal, (*runtime)->environment(), stored.id, plan.seq);
  if (!fork) return fail(fork.error());
  setting.run = *fork;
  std::ignore = journal.label(*fork, {.add_tags = {"counterfactual"}});
  return replay_in(setting, stored, workspace, plan, changes, *outcomes, how);
}

}  // namespace praxis::evals
