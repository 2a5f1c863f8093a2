#include "evals/summary.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/envelope.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

constexpr const char* kItem = "eval_run";

/// The place of a name among those seen so far; adds it at the end.
template <class T, class Key>
T& entry_of(std::vector<T>& all, std::map<Key, std::size_t>& places, const Key& key, T made) {
  const auto [found, is_new] = places.emplace(key, all.size());
  if (is_new) all.push_back(std::move(made));
  return all[found->second];
}

void add_trial(VariantSummary& sum, const TrialResult& trial) {
  ++sum.runs;
  sum.passed += trial.passed() ? 1 : 0;
  sum.errors += trial.verdict == Verdict::kError ? 1 : 0;
  sum.waiting += trial.verdict == Verdict::kWaiting ? 1 : 0;
  sum.from_journal += trial.from_journal ? 1 : 0;
  sum.usage += trial.usage;
  sum.has_unknown_price = sum.has_unknown_price || app::cost_or_null(trial.usage).is_null();
  sum.duration += trial.duration;
  sum.steps += trial.steps;
  sum.tool_calls += trial.tool_calls;
  sum.tool_errors += trial.tool_errors;
}

/// Adds what is counted by case.
void add_cells(VariantSummary& sum, const std::vector<Cell>& cells) {
  const auto is_own = [&](const Cell& cell) { return cell.variant == sum.name; };
  double weights = 0;
  std::optional<std::uint64_t> fewest;
  for (const Cell& cell : cells) {
    if (is_own(cell))
      fewest = std::min(fewest.value_or(cell.trials.size()), std::uint64_t{cell.trials.size()});
  }
  sum.k = fewest.value_or(1);
  for (const Cell& cell : cells) {
    if (!is_own(cell)) continue;
    const double weight = cell.trials.front()->weight;
    const std::uint64_t runs = cell.trials.size();
    weights += weight;
    sum.flaky += cell.is_flaky() ? 1 : 0;
    sum.score += weight * static_cast<double>(cell.passed) / static_cast<double>(runs);
    sum.pass_at_k += weight * pass_at_k(runs, cell.passed, sum.k);
    sum.pass_all_k += weight * pass_all_k(runs, cell.passed, sum.k);
  }
  for (double* mean : {&sum.score, &sum.pass_at_k, &sum.pass_all_k}) *mean /= weights;
}

using RunKey = std::pair<std::string, std::uint32_t>;  // case and repeat

std::map<RunKey, bool> passes_of(const std::vector<TrialResult>& trials, const std::string& variant) {
  std::map<RunKey, bool> passes;
  for (const TrialResult& trial : trials) {
    if (trial.variant == variant) passes[{trial.test, trial.repeat}] = trial.passed();
  }
  return passes;
}

Comparison compare(const std::map<RunKey, bool>& own, const std::map<RunKey, bool>& other) {
  Comparison found;
  for (const auto& [key, passed] : own) {
    const auto pair = other.find(key);
    if (pair == other.end()) continue;
    ++found.pairs;
    found.better += passed && !pair->second ? 1 : 0;
    found.worse += !passed && pair->second ? 1 : 0;
  }
  found.p_value = mcnemar_exact(found.better, found.worse);
  return found;
}

JsonObject variant_json(const VariantSummary& sum) {
  return JsonObject{{"name", sum.name},
                    {"runs", sum.runs},
                    {"passed", sum.passed},
                    {"errors", sum.errors},
                    {"waiting", sum.waiting},
                    {"from_journal", sum.from_journal},
                    {"flaky_cases", sum.flaky},
                    {"score", sum.score},
                    {"k", sum.k},
                    {"pass_at_k", sum.pass_at_k},
                    {"pass_all_k", sum.pass_all_k},
                    {"interval_95", JsonArray{sum.interval.low, sum.interval.high}},
                    {"usage", to_json(sum.usage)},
                    {"cost_usd", sum.has_unknown_price ? Json(nullptr) : Json(sum.usage.cost.usd())},
                    {"duration_ms", sum.duration.count()},
                    {"steps", sum.steps},
                    {"tool_calls", sum.tool_calls},
                    {"tool_errors", sum.tool_errors}};
}

std::optional<TrialResult> trial_from_json(const Json& json) {
  TrialResult trial{.test = json_string(json, "case"),
                    .variant = json_string(json, "variant"),
                    .repeat = static_cast<std::uint32_t>(json_int(json, "repeat", 1)),
                    .run = SessionId(json_string(json, "run_id"))};
  const auto verdict = verdict_from(json_text(json, "verdict"));
  if (trial.test.empty() || !verdict) return std::nullopt;
  trial.verdict = *verdict;
  return trial;
}

}  // namespace

Summary summarise(const std::vector<TrialResult>& trials, const std::vector<TrialResult>* baseline) {
  Summary summary;
  std::map<std::string, std::size_t> variants;
  std::map<std::pair<std::string, std::string>, std::size_t> cells;
  for (const TrialResult& trial : trials) {
    add_trial(entry_of(summary.variants, variants, trial.variant, VariantSummary{.name = trial.variant}),
              trial);
    Cell& cell = entry_of(summary.cells, cells, std::pair(trial.test, trial.variant),
                          Cell{.test = trial.test, .variant = trial.variant});
    cell.trials.push_back(&trial);
    cell.passed += trial.passed() ? 1 : 0;
  }
  for (VariantSummary& sum : summary.variants) {
    add_cells(sum, summary.cells);
    sum.interval = wilson_interval(sum.runs, sum.passed);
  }
  const auto add = [&](Comparison found, const std::string& variant, const std::string& against) {
    found.variant = variant;
    found.against = against;
    if (found.pairs > 0) summary.comparisons.push_back(std::move(found));
  };
  for (const VariantSummary& sum : summary.variants) {
    const std::string& first = summary.variants.front().name;
    if (sum.name != first)
      add(compare(passes_of(trials, sum.name), passes_of(trials, first)), sum.name, first);
  }
  for (const VariantSummary& sum : summary.variants) {
    if (baseline != nullptr)
      add(compare(passes_of(trials, sum.name), passes_of(*baseline, sum.name)), sum.name, kBaselineName);
  }
  return summary;
}

JsonObject trial_json(const TrialResult& trial) {
  return JsonObject{{"case", trial.test},
                    {"variant", trial.variant},
                    {"repeat", trial.repeat},
                    {"run_id", trial.run.str()},
                    {"verdict", to_string(trial.verdict)},
                    {"problems", JsonArray(trial.problems.begin(), trial.problems.end())},
                    {"steps", trial.steps},
                    {"tool_calls", trial.tool_calls},
                    {"tool_errors", trial.tool_errors},
                    {"usage", to_json(trial.usage)},
                    {"cost_usd", app::cost_or_null(trial.usage)},
                    {"duration_ms", trial.duration.count()},
                    {"weight", trial.weight},
                    {"from_journal", trial.from_journal}};
}

JsonObject summary_json(const Summary& summary) {
  JsonArray variants, comparisons;
  for (const VariantSummary& sum : summary.variants) variants.emplace_back(variant_json(sum));
  for (const Comparison& each : summary.comparisons) {
    comparisons.emplace_back(JsonObject{{"variant", each.variant},
                                        {"against", each.against},
                                        {"pairs", each.pairs},
                                        {"better", each.better},
                                        {"worse", each.worse},
                                        {"test", "mcnemar_exact"},
                                        {"p_value", each.p_value}});
  }
  return JsonObject{{"variants", std::move(variants)}, {"comparisons", std::move(comparisons)}};
}

Result<std::vector<TrialResult>> read_baseline(std::string_view text, const std::string& path) {
  std::vector<TrialResult> trials;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string place = path + ":" + std::to_string(number) + ": ";
    const auto json = parse_json(line);
    if (!json) return fail(ErrorCode::kInput, place + json.error().message);
    if (json_text(*json, "item") != kItem) continue;
    auto trial = trial_from_json(*json);
    if (!trial) return fail(ErrorCode::kInput, place + "this is not a run of an evaluation");
    trials.push_back(*std::move(trial));
  }
  if (trials.empty())
    return fail(ErrorCode::kInput,
                path + " has no runs of an evaluation: praxis eval SUITE --json writes them");
  return trials;
}

}  // namespace praxis::evals
