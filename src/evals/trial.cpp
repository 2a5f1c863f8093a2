#include "evals/trial.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "evals/kept_result.hpp"
#include "evals/sql_check.hpp"
#include "praxis/json/json.hpp"
#include "praxis/tools/media.hpp"

namespace praxis::evals {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 4> kVerdicts{{{Verdict::kPassed, "passed"},
                                                                         {Verdict::kFailed, "failed"},
                                                                         {Verdict::kError, "error"},
                                                                         {Verdict::kWaiting, "waiting"}}};

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

std::string problem_by_judge(const Judgement& judgement) {
  const std::string run = judgement.run.empty() ? "" : " (run " + judgement.run.str() + ")";
  return "judge: " + judgement.reason + run;
}

/// Adds why the answer of a finished run does not pass. Error: a check could not be made.
Status make_checks(Runtime& runtime, const TrialPlace& place, const Trial& trial, const AgentResult& result,
                   TrialResult& found) {
  for (const Check& check : trial.test->checks) {
    std::optional<std::string> problem;
    if (const auto* program = std::get_if<checks::Program>(&check)) {
      auto judged = problem_by_program(*program, *trial.test, result, place.programs);
      if (!judged) return fail(judged.error());
      problem = *std::move(judged);
    } else if (const auto* sql = std::get_if<checks::Sql>(&check)) {
      auto judged = problem_by_sql(*sql, place.programs);
      if (!judged) return fail(judged.error());
      problem = *std::move(judged);
    } else if (const auto* rubric = std::get_if<checks::Judged>(&check)) {
      if (place.judge == nullptr) return fail(ErrorCode::kInput, "there is no judge");
      const auto judgement = ask_judge(
          runtime, *place.judge, {trial.test, rubric->rubric, result.text, place.round, found.run.str()});
      if (!judgement) return fail(judgement.error());
      if (!judgement->from_journal) found.spent.value += judgement->usage.cost.value;
      if (!judgement->pass) problem = problem_by_judge(*judgement);
    } else {
      problem = problem_of(check, result);
    }
    if (problem) found.problems.push_back(*std::move(problem));
  }
  return {};
}

Verdict judge(Runtime& runtime, const TrialPlace& place, const Trial& trial, const AgentResult& result,
              TrialResult& found) {
  if (!result.reason) {
    found.problems.emplace_back("the run waits for a human");
    return Verdict::kWaiting;
  }
  if (!result.success) {
    found.problems.push_back("the run ended by " + std::string(to_string(*result.reason)) +
                             (result.error ? ": " + result.error->message : ""));
    const bool tries_again =
        *result.reason == StopReason::kModelFailed || *result.reason == StopReason::kCancelled;
    return tries_again ? Verdict::kError : Verdict::kFailed;
  }
  if (auto made = make_checks(runtime, place, trial, result, found); !made) {
    found.problems.push_back("a check could not be made: " + made.error().message);
    return Verdict::kError;
  }
  return found.problems.empty() ? Verdict::kPassed : Verdict::kFailed;
}

/// The run, made again off-line. A run that differs has no verdict: what it would answer is not known.
Result<KeptResult> result_off_line(const OfflineRuns& offline, const Agent& agent, const Trial& trial,
                                   TrialResult& found) {
  auto made = offline.run(agent, trial.run, trial.message);
  if (!made) return fail(made.error());
  if (!made->recorded.empty()) found.run = made->recorded;
  found.differs = !made->difference.empty();
  if (found.differs) found.problems.push_back(std::move(made->difference));
  return KeptResult{std::move(made->result), true};
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
  const auto kept = place.offline == nullptr
                        ? kept_result(runtime, agent_of(place, trial), trial.run, trial.message, {"eval"})
                        : result_off_line(*place.offline, agent_of(place, trial), trial, found);
  if (!kept) {
    found.problems.push_back(kept.error().message);
    return found;
  }
  const AgentResult& result = kept->result;
  found.from_journal = kept->from_journal;
  if (!found.from_journal) found.spent = result.usage_total.cost;
  if (!found.differs) found.verdict = judge(runtime, place, trial, result, found);
  found.steps = result.steps;
  found.tool_calls = static_cast<std::uint32_t>(result.actions.size());
  found.tool_errors = static_cast<std::uint32_t>(std::ranges::count_if(
      result.actions, [](const ActionResult& action) { return action.outcome != Outcome::kOk; }));
  found.usage = result.usage_total;
  found.duration = result.duration;
  return found;
}

}  // namespace praxis::evals
