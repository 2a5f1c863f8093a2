#include "evals/judge_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "app/plain_text.hpp"
#include "base/regular_file.hpp"
#include "evals/case_table.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLabels = 100'000;

/// Why the label cannot be used; empty if it can.
std::string problem_of_label(const Json& row, const std::vector<EvalCase>& cases) {
  const JsonObject* const members = row.if_object();
  if (members == nullptr) return "a label must be an object";
  for (const auto& [key, value] : *members) {
    if (key != "case" && key != "answer" && key != "pass")
      return fmt::format("a label has no {}; it has case, answer, pass", app::in_quotes(std::string(key)));
  }
  if (!json_at(row, "answer").is_string() || !json_at(row, "pass").is_bool())
    return "a label needs \"case\", \"answer\" (a string) and \"pass\" (true or false)";
  const std::string id = json_string(row, "case");
  const auto test = std::ranges::find(cases, id, &EvalCase::id);
  if (test == cases.end()) return "the suite has no case " + app::in_quotes(id);
  const auto is_judge = [](const Check& check) { return std::holds_alternative<checks::Judged>(check); };
  if (!std::ranges::any_of(test->checks, is_judge))
    return fmt::format("the case {} has no check \"judge\"", app::in_quotes(id));
  return {};
}

Result<std::vector<Label>> read_labels(std::string_view text, const std::string& path,
                                       const std::vector<EvalCase>& cases) {
  std::vector<Label> labels;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto row = parse_json(line);
    const std::string problem = row ? problem_of_label(*row, cases) : row.error().message;
    if (!problem.empty()) return fail(ErrorCode::kInput, fmt::format("{}:{}: {}", path, number, problem));
    if (labels.size() == kMaxLabels)
      return fail(ErrorCode::kInput, fmt::format("{} has more than {} labels", path, kMaxLabels));
    labels.push_back({json_string(*row, "case"), json_string(*row, "answer"), json_bool(*row, "pass")});
  }
  return labels;
}

Status check_judge_keys(const TomlDocument& document, const JsonObject& table) {
  const std::vector<std::string> known{"model", "max_usd", "labels"};
  for (const auto& [name, value] : table) {
    const std::string key(name);
    if (std::ranges::count(known, key) > 0) continue;
    const auto meant = closest(key, known);
    return document.mistake("judge." + key, fmt::format("{} is not known; {}", app::in_quotes(key),
                                                        meant ? "did you mean \"" + *meant + "\"?"
                                                              : "there are " + app::joined(known)));
  }
  return {};
}

}  // namespace

Result<JudgeSpec> read_judge_table(const TomlDocument& document, const std::vector<EvalCase>& cases) {
  JudgeSpec judge;
  const Json& table = document.at("judge");
  if (table.is_null()) return judge;
  if (!table.is_object()) return document.mistake("judge", "\"judge\" must be a table");
  if (auto known = check_judge_keys(document, table.get_object()); !known) return fail(known.error());
  for (const char* key : {"model", "labels"}) {
    if (const Json& value = json_at(table, key); !value.is_null() && !value.is_string())
      return document.mistake(std::string("judge.") + key, fmt::format("\"{}\" must be a string", key));
  }
  judge.model = json_string(table, "model");
  if (const Json& most = json_at(table, "max_usd"); !most.is_null()) {
    constexpr double kMostUsd = 1e6, kMicro = 1e6;
    const double usd = most.is_number() ? most.to_number<double>() : -1;
    if (!(usd > 0 && usd <= kMostUsd))
      return document.mistake("judge.max_usd", "\"max_usd\" must be a number above 0");
    judge.max_usd = {std::max<std::int64_t>(1, std::llround(usd * kMicro))};
  }
  const std::string file = json_string(table, "labels");
  if (file.empty()) return judge;
  const std::string path = (fs::path(document.name()).parent_path() / file).string();
  const auto text = read_regular_file(path, kMaxCaseFileBytes);
  if (!text) return fail(text.error());
  auto labels = read_labels(*text, path, cases);
  if (!labels) return fail(labels.error());
  judge.labels = *std::move(labels);
  return judge;
}

}  // namespace praxis::evals
