#include "evals/trial.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/tools/media.hpp"

namespace praxis::evals {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 4> kVerdicts{{{Verdict::kPassed, "passed"},
                                                                         {Verdict::kFailed, "failed"},
                                                                         {Verdict::kError, "error"},
                                                                         {Verdict::kWaiting, "waiting"}}};

/// Ids of runs that are made from a digest: `K` and half of it, as those of sub-agents.
SessionId id_from(const Digest& digest) {
  constexpr std::size_t kIdBytes = 12;
  return SessionId("K" + digest.hex(kIdBytes));
}

/// The agent of one run, which records what the run is for.
Agent agent_of(const TrialPlace& place, const Trial& trial) {
  Agent agent = trial.variant->agent;
  const Json& noted = agent.spec().metadata;
  JsonObject metadata = noted.is_object() ? noted.get_object() : JsonObject{};
  metadata["eval"] = JsonObject{{"suite", place.suite},
                                {"case", trial.test->id},
                                {"variant", trial.variant->name},
                                {"repeat", trial.repeat},
                                {"round", place.round}};
  agent.metadata(std::move(metadata));
  if (!place.seed) return agent;
  ModelOptions options = agent.spec().options;
  if (!options.extra.is_object()) options.extra = JsonObject{};
  options.extra.get_object()["seed"] = *place.seed + trial.repeat - 1;
  agent.options(std::move(options));
  return agent;
}

/// The result that the log holds; nothing if there is still something to do.
std::optional<AgentResult> recorded_result(const State& state) {
  AgentResult result = result_of(state);
  if (state.turn) {
    const bool only_waits = result.status == SessionStatus::kAwaitingUser;
    return only_waits ? std::optional(std::move(result)) : std::nullopt;
  }
  const bool has_ended =
      result.reason && *result.reason != StopReason::kModelFailed && *result.reason != StopReason::kCancelled;
  return has_ended ? std::optional(std::move(result)) : std::nullopt;
}

/// Continues a run that has not ended, or begins it where the process died before the prompt was recorded.
Run continued(Session& session, const State& state, bool has_begun, const Message& message) {
  if (state.turn) return session.resume();
  return has_begun ? session.run() : session.send(message);
}

bool starts_turn(const StoredRecord& stored) {
  return std::holds_alternative<records::TurnStarted>(stored.record.body);
}

Result<AgentResult> result_of_trial(Runtime& runtime, const TrialPlace& place, const Trial& trial,
                                    bool& from_journal) {
  const Agent agent = agent_of(place, trial);
  Journal& journal = runtime.journal();
  const auto row = journal.session(trial.run);
  if (!row && row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
  if (!row) {
    auto session = runtime.create_session(agent, Conversation{trial.run.str(), {}, nullptr});
    if (!session) return fail(session.error());
    auto result = session->send(trial.message).report();
    std::ignore = session->close();
    // Lists can then leave the runs of evaluations out, or show them only.
    std::ignore = journal.label(trial.run, {.add_tags = {"eval"}});
    return result;
  }
  const auto records = read_records(journal, trial.run);
  if (!records) return fail(records.error());
  const auto state = fold(*records);
  if (!state) return fail(state.error());
  if (auto recorded = recorded_result(*state)) {
    from_journal = true;
    return *std::move(recorded);
  }
  auto session = runtime.open_session(trial.run, agent);
  if (!session) return fail(session.error());
  const bool has_begun = std::ranges::any_of(*records, starts_turn);
  auto result = continued(*session, *state, has_begun, trial.message).report();
  std::ignore = session->close();
  return result;
}

Verdict judge(const EvalCase& test, const AgentResult& result, std::vector<std::string>& problems) {
  if (!result.reason) {
    problems.emplace_back("the run waits for a human");
    return Verdict::kWaiting;
  }
  if (!result.success) {
    problems.push_back("the run ended by " + std::string(to_string(*result.reason)) +
                       (result.error ? ": " + result.error->message : ""));
    const bool tries_again =
        *result.reason == StopReason::kModelFailed || *result.reason == StopReason::kCancelled;
    return tries_again ? Verdict::kError : Verdict::kFailed;
  }
  for (const Check& check : test.checks) {
    if (auto problem = problem_of(check, result)) problems.push_back(*std::move(problem));
  }
  return problems.empty() ? Verdict::kPassed : Verdict::kFailed;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  return std::ranges::find(kVerdicts, verdict, &std::pair<Verdict, std::string_view>::first)->second;
}

std::optional<Verdict> verdict_from(std::string_view name) {
  const auto found = std::ranges::find(kVerdicts, name, &std::pair<Verdict, std::string_view>::second);
  return found == kVerdicts.end() ? std::nullopt : std::optional(found->first);
}

Result<Trial> make_trial(const TrialPlace& place, const EvalCase& test, const PreparedVariant& variant,
                         std::uint32_t repeat) {
  Trial trial{.test = &test, .variant = &variant, .repeat = repeat, .message = {}, .run = {}};
  for (const std::string& file : test.files) {
    auto part = attachment(file);
    if (!part) return fail(part.error());
    trial.message.parts.push_back(*std::move(part));
  }
  Message text = text_message(Role::kUser, test.prompt);
  std::ranges::move(text.parts, std::back_inserter(trial.message.parts));
  trial.message.role = Role::kUser;
  const Json key =
      JsonObject{{"suite", place.suite},    {"round", place.round},
                 {"case", test.id},         {"message", to_json(trial.message)},
                 {"variant", variant.name}, {"agent", variant.digest.hex()},
                 {"repeat", repeat},        {"seed", place.seed ? Json(*place.seed) : Json(nullptr)}};
  trial.run = id_from(digest_of(to_canonical_json(key)));
  return trial;
}

TrialResult run_trial(Runtime& runtime, const TrialPlace& place, const Trial& trial) {
  TrialResult found{.test = trial.test->id,
                    .variant = trial.variant->name,
                    .repeat = trial.repeat,
                    .run = trial.run,
                    .weight = trial.test->weight};
  const auto result = result_of_trial(runtime, place, trial, found.from_journal);
  if (!result) {
    found.problems.push_back(result.error().message);
    return found;
  }
  found.verdict = judge(*trial.test, *result, found.problems);
  found.steps = result->steps;
  found.tool_calls = static_cast<std::uint32_t>(result->actions.size());
  found.tool_errors = static_cast<std::uint32_t>(std::ranges::count_if(
      result->actions, [](const ActionResult& action) { return action.outcome != Outcome::kOk; }));
  found.usage = result->usage_total;
  found.duration = result->duration;
  return found;
}

}  // namespace praxis::evals
