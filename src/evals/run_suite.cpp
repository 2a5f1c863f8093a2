#include "evals/run_suite.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "app/agent_sources.hpp"
#include "app/hints.hpp"
#include "app/model_files.hpp"
#include "app/plain_text.hpp"
#include "app/run_agent.hpp"
#include "evals/case_table.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

Error in_variant(const Variant& variant, const Error& error) {
  Error named = error;
  named.message = "variant " + app::in_quotes(variant.name) + ": " + error.message;
  return named;
}

/// The agent file of a variant, and the trusted project that it belongs to.
Result<app::AgentChoice> agent_file_of(const Variant& variant, const app::Workspace& workspace) {
  if (variant.agent.empty()) return app::AgentChoice{};
  auto found = app::find_agent_file(workspace, variant.agent);
  if (!found) return fail(found.error());
  if (!*found) return fail(app::no_such_agent(workspace, variant.agent));
  return **std::move(found);
}

/// Lays the settings of a variant over its agent.
Status apply_settings(const Variant& variant, Agent& agent) {
  if (variant.instructions) agent.instructions(*variant.instructions);
  if (!variant.limits.is_null()) {
    Limits limits = agent.spec().limits;
    if (auto read = read_limits(variant.limits, limits); !read) return read;
    agent.limits(limits);
  }
  if (variant.options.is_null()) return {};
  static const std::vector<std::string> kKeys{"temperature", "max_output_tokens", "reasoning_effort",
                                              "tool_choice", "extra"};
  Json options = to_json(agent.spec().options);
  if (!options.is_object()) options = JsonObject{};
  for (const auto& [name, value] : variant.options.get_object()) {
    const std::string key(name);
    const auto meant = closest(key, kKeys);
    if (!std::ranges::count(kKeys, key))
      return fail(ErrorCode::kInput,
                  "there is no option " + app::in_quotes(key) +
                      (meant ? "; did you mean \"" + *meant + "\"?" : "; there are " + app::joined(kKeys)));
    const bool fits = key == "temperature"         ? value.is_number()
                      : key == "max_output_tokens" ? value.is_int64()
                      : key == "extra"             ? value.is_object()
                                                   : value.is_string();
    if (!fits) return fail(ErrorCode::kInput, "the option \"" + key + "\" has a value of the wrong type");
    options.get_object()[key] = value;
  }
  agent.options(model_options_from_json(options));
  return {};
}

/// What the runs of an agent depend on: its description, and the bytes of the files that it was made from.
Digest digest_of_agent(const AgentSpec& spec, const app::Workspace& workspace) {
  AgentSpec described = spec;
  const Json& noted = json_at(spec.metadata, app::kAgentFiles);
  JsonObject files = noted.is_object() ? noted.get_object() : JsonObject{};
  for (const std::string& file : app::model_files(spec.model)) {
    if (const auto text = workspace.model_files->read(file, kMaxCaseFileBytes))
      files["model:" + file] = digest_of(*text).hex();
  }
  described.metadata = nullptr;
  return digest_of(to_canonical_json(JsonObject{{"agent", to_json(described)}, {"files", files}}));
}

Result<PreparedVariant> prepare_variant(const Variant& variant, const VariantMaking& making,
                                        const app::Workspace& workspace, const Runtime& runtime) {
  const auto choice = agent_file_of(variant, workspace);
  if (!choice) return fail(choice.error());
  auto agent = app::agent_for_run({.file = choice->file,
                                   .project = choice->project,
                                   .model = variant.model.empty() ? making.model : variant.model,
                                   .accept_home = making.accept_home,
                                   .warn = making.warn},
                                  workspace, runtime);
  if (!agent) return fail(agent.error());
  if (auto applied = apply_settings(variant, *agent); !applied) return fail(applied.error());
  const Digest digest = digest_of_agent(agent->spec(), workspace);
  return PreparedVariant{variant.name, *std::move(agent), digest};
}

/// Hands out the trials to the threads that run them.
class Crew {
 public:
  Crew(const TrialPlace& place, std::vector<Trial> trials, Runtime& runtime, const SuiteRun& how)
      : place_(place), trials_(std::move(trials)), runtime_(runtime), how_(how), results_(trials_.size()) {}

  SuiteResult run() {
    const std::size_t threads =
        std::clamp<std::size_t>(how_.jobs, 1, std::max<std::size_t>(trials_.size(), 1));
    {
      std::vector<std::jthread> crew;
      for (std::size_t i = 0; i < threads; ++i) crew.emplace_back([this] { work(); });
    }
    SuiteResult result;
    result.over_budget = over_budget_;
    for (auto& each : results_) {
      if (!each) ++result.missing;
      if (each) result.trials.push_back(*std::move(each));
    }
    return result;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < trials_.size(); i = next_++) {
      if (how_.stop.stop_requested() || over_budget_) return;
      TrialResult result = run_trial(runtime_, place_, trials_[i]);
      const std::scoped_lock lock(mutex_);
      spent_ += result.spent.value;
      if (how_.max_usd.value > 0 && spent_ >= how_.max_usd.value) over_budget_ = true;
      if (how_.done) how_.done(result);
      results_[i] = std::move(result);
    }
  }

  const TrialPlace& place_;
  const std::vector<Trial> trials_;
  Runtime& runtime_;
  const SuiteRun& how_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> over_budget_ = false;
  std::mutex mutex_;
  std::int64_t spent_ = 0;  ///< micro-dollars, by runs and judgements that were not read from the journal
  std::vector<std::optional<TrialResult>> results_;
};

}  // namespace

Result<std::vector<PreparedVariant>> prepare_variants(const Suite& suite, const VariantMaking& making,
                                                      const app::Workspace& workspace,
                                                      const Runtime& runtime) {
  std::vector<PreparedVariant> prepared;
  for (const Variant& variant : suite.variants) {
    auto each = prepare_variant(variant, making, workspace, runtime);
    if (!each) return fail(in_variant(variant, each.error()));
    prepared.push_back(*std::move(each));
  }
  return prepared;
}

Result<std::optional<PreparedJudge>> prepare_judge(const Suite& suite, const VariantMaking& making,
                                                   const app::Workspace& workspace, const Runtime& runtime) {
  const bool is_needed = std::ranges::any_of(suite.cases, [](const EvalCase& test) {
    return std::ranges::any_of(
        test.checks, [](const Check& check) { return std::holds_alternative<checks::Judged>(check); });
  });
  if (!is_needed) return std::nullopt;
  auto agent = app::agent_for_run(
      {.model = suite.judge.model.empty() ? making.model : suite.judge.model, .warn = making.warn}, workspace,
      runtime);
  if (!agent) {
    Error named = agent.error();
    named.message = "the judge: " + named.message;
    return fail(std::move(named));
  }
  make_judge(*agent, suite.judge);
  const Digest digest = digest_of_agent(agent->spec(), workspace);
  return PreparedJudge{*std::move(agent), digest};
}

Result<SuiteResult> run_suite(const Suite& suite, const std::vector<PreparedVariant>& variants,
                              Runtime& runtime, const SuiteRun& how) {
  const TrialPlace place{
      suite.name, how.round, suite.seed, {suite.folder, how.hide}, how.judge ? &*how.judge : nullptr,
      how.offline};
  std::vector<Trial> trials;
  for (const EvalCase& test : suite.cases) {
    for (const PreparedVariant& variant : variants) {
      for (std::uint32_t repeat = 1; repeat <= suite.repeats; ++repeat) {
        auto trial = make_trial(place, test, variant, repeat);
        if (!trial) return fail(trial.error());
        trials.push_back(*std::move(trial));
      }
    }
  }
  SuiteResult result = Crew(place, std::move(trials), runtime, how).run();
  if (how.judge && !suite.judge.labels.empty() && result.missing == 0)
    result.judge = judge_labels(runtime, *how.judge, suite, how.round, how.jobs);
  return result;
}

}  // namespace praxis::evals
