#include "evals/offline_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "app/model_files.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "evals/log_requests.hpp"
#include "evals/recorded_agent.hpp"
#include "evals/recorded_outcomes.hpp"
#include "logs/read_part.hpp"
#include "models/file_models.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

/// `script:`, `cassette:` or `cassette-check:` if that is the whole model; empty for models of providers and
/// for routes, of which any member may be one.
std::string kind_of_file_model(std::string_view model) {
  // A route keeps its separators and its other members.
  std::string kind = app::with_model_paths(model, [](const std::string& /*path*/) { return std::string(); });
  const bool is_one = model.starts_with(kind) && std::ranges::any_of(kFileModels, [&](const char* each) {
                        return kind == std::string(each) + ':';
                      });
  return is_one ? kind : std::string();
}

bool plays_cassette(std::string_view model) { return kind_of_file_model(model).starts_with("cassette"); }

/// What the recorded run holds; nothing of it without such a run.
struct Recording {
  std::vector<StoredRecord> records;
  State state;
  std::vector<LoggedRequest> requests;
  std::shared_ptr<RecordedOutcomes> outcomes = std::make_shared<RecordedOutcomes>();
};

bool waits_for_timer(const StoredRecord& stored) {
  const auto* intent = std::get_if<records::EffectIntended>(&stored.record.body);
  return intent != nullptr && intent->kind == EffectKind::kTimer;
}

Result<Recording> read_recording(Journal& journal, const SessionId& run) {
  Recording recording;
  auto records = read_records(journal, run);
  if (!records) return fail(records.error());
  auto state = fold(*records);
  if (!state) return fail(state.error());
  if (state->turn && result_of(*state).status != SessionStatus::kAwaitingUser)
    return fail(ErrorCode::kInput, "the recorded run " + run.str() +
                                       " has not ended; praxis eval without --replay continues it");
  if (std::ranges::any_of(*records, waits_for_timer))
    return fail(ErrorCode::kInput,
                "the recorded run " + run.str() + " waited for a timer, and cannot be made again off-line");
  auto requests = requests_of(*records);
  if (!requests) return fail(requests.error());
  auto outcomes = RecordedOutcomes::from(*records, 0);
  if (!outcomes) return fail(outcomes.error());
  return Recording{*std::move(records), *std::move(state), *std::move(requests), *std::move(outcomes)};
}

/// A call of which the record has no result.
class MissingCall {
 public:
  void note(const std::string& tool, const CallId& call) {
    const std::scoped_lock lock(mutex_);
    if (!first_) first_ = {tool, call};
  }
  std::optional<std::pair<std::string, CallId>> first() const {
    const std::scoped_lock lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<std::pair<std::string, CallId>> first_;  ///< the tool and its call
};

ToolExecutor recorded_results(const std::shared_ptr<RecordedOutcomes>& outcomes,
                              const std::shared_ptr<MissingCall>& missing) {
  return [outcomes, missing](ToolContext& context, const Tool& tool,
                             const Json& arguments) -> Result<ToolOutput> {
    const std::string& name = tool.definition.name;
    if (auto recorded = outcomes->result(name, arguments)) return *std::move(recorded);
    missing->note(name, context.call);
    return fail(ErrorCode::kTool, ErrorKind::kNotFound,
                fmt::format("the recorded run has no call of {} with these arguments", name));
  };
}

std::shared_ptr<Model> model_of(const Recording& recording, const AgentSpec& agent) {
  return recorded_model(
      {.name = agent.model, .profile = recording.state.agent->profile, .outcomes = recording.outcomes});
}

/// Which step a cassette did not answer.
std::string unanswered_text(const std::vector<LoggedRequest>& now, const AgentResult& result) {
  if (now.empty() || now.back().is_answered || !result.error) return {};
  return fmt::format("step {} has no answer: {}", now.back().step, result.error->message);
}

}  // namespace

bool answers_from_files(std::string_view model) { return !kind_of_file_model(model).empty(); }

/// The run that was made.
struct OfflineRuns::Made {
  AgentResult result;
  std::vector<StoredRecord> records;
  std::vector<LoggedRequest> requests;
};
/// Which run.
struct OfflineRuns::Making {
  SessionId run;
  const Message& message;
  std::shared_ptr<RecordedOutcomes> outcomes;
};

Result<std::shared_ptr<Runtime>> OfflineRuns::open_runtime() const {
  app::Workspace in_memory = options_.workspace;
  in_memory.journal = "memory";
  return app::open_runtime(in_memory, {.principal = options_.principal, .stream = false});
}

Result<OfflineRuns::Made> OfflineRuns::make(const Agent& agent, const Making& making) const {
  const auto runtime = open_runtime();
  if (!runtime) return fail(runtime.error());
  (*runtime)->set_approval_handler(
      [outcomes = making.outcomes](const ParkedStep& step, const std::stop_token& /*stop*/) {
        return outcomes->decision(step);
      });
  auto session = (*runtime)->create_session(agent, Conversation{making.run.str(), {}, nullptr});
  if (!session) return fail(session.error());
  auto result = session->send(making.message, nullptr, options_.stop).report();
  std::ignore = session->close();
  if (!result) return fail(result.error());
  auto records = read_records((*runtime)->journal(), making.run);
  if (!records) return fail(records.error());
  auto requests = requests_of(*records);
  if (!requests) return fail(requests.error());
  return Made{*std::move(result), *std::move(records), *std::move(requests)};
}

Status OfflineRuns::read_index() const {
  if (index_) return {};
  const auto rows = options_.journal->sessions();
  if (!rows) return fail(rows.error());
  std::map<std::string, SessionId> index;
  for (const SessionRow& row : *rows) {
    const auto tagged = [&](const char* tag) { return std::ranges::find(row.tags, tag) != row.tags.end(); };
    if (!tagged("eval") || tagged("eval-judge")) continue;
    const auto first = read_some_records(*options_.journal, row.id, 1, 1);
    if (!first || first->empty()) continue;
    const auto* created = std::get_if<records::SessionCreated>(&first->front().record.body);
    const Json eval = created == nullptr ? Json(nullptr) : json_at(created->agent->metadata, "eval");
    if (eval.is_object()) index.emplace(to_canonical_json(eval), row.id);
  }
  index_ = std::move(index);
  return {};
}

Result<std::optional<SessionId>> OfflineRuns::recorded_run(const SessionId& run, const Json& eval) const {
  const auto row = options_.journal->session(run);
  if (row) return run;
  if (row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
  const std::scoped_lock lock(mutex_);
  if (auto read = read_index(); !read) return fail(read.error());
  const auto found = index_->find(to_canonical_json(eval));
  return found == index_->end() ? std::nullopt : std::optional(found->second);
}

Result<OfflineRun> OfflineRuns::run(const Agent& agent, const SessionId& run, const Message& message) const {
  const auto recorded = recorded_run(run, json_at(agent.spec().metadata, "eval"));
  if (!recorded) return fail(recorded.error());
  const bool plays = plays_cassette(agent.spec().model);
  if (!*recorded && !plays)
    return fail(ErrorCode::kInput, ErrorKind::kNotFound,
                "no run of this case is recorded; praxis eval without --replay makes it");
  const auto recording =
      *recorded ? read_recording(*options_.journal, **recorded) : Result<Recording>(Recording());
  if (!recording) return fail(recording.error());
  const auto missing = std::make_shared<MissingCall>();
  Agent alone = recorded_agent(agent, recording->requests, [](std::string_view /*tool*/) { return false; });
  alone.executor(recorded_results(recording->outcomes, missing));
  if (!plays) alone.model(model_of(*recording, agent.spec()));
  auto made = make(alone, {run, message, recording->outcomes});
  if (!made) return fail(made.error());
  OfflineRun offline{std::move(made->result), recorded->value_or(SessionId()), {}};
  const std::string name = offline.recorded.empty() ? "" : " " + offline.recorded.str();
  if (const auto call = missing->first()) {
    offline.difference =
        fmt::format("step {} calls {} with arguments of which the recorded run{} has no result",
                    step_of_call(made->records, call->second), app::in_quotes(call->first), name);
  } else if (plays) {
    offline.difference = unanswered_text(made->requests, offline.result);
  } else if (const auto differs = request_difference(recording->requests, made->requests)) {
    offline.difference = fmt::format("step {} asks the model something else than the recorded run{}: {}",
                                     differs->step, name, differs->what);
  } else if (AgentResult was = result_of(recording->state);
             made->requests.size() == recording->requests.size() && was.reason == offline.result.reason) {
    offline.result = std::move(was);  // what it took is what it took then
  }
  return offline;
}

}  // namespace praxis::evals
