#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "evals/report.hpp"

namespace praxis::evals {
namespace {

constexpr std::size_t kMostName = 32;  // columns of a variant's name
constexpr std::size_t kLeastName = 8;
constexpr std::size_t kMostShown = 20;     // runs that did not pass
constexpr std::size_t kMostProblem = 400;  // columns of one problem

std::string percent(double share) { return fmt::format("{:.0f}", share * 100); }

std::string cost_of(const VariantSummary& sum) {
  return sum.has_unknown_price ? "$?" : app::show_usd(sum.usage.cost);
}

/// Breaks a text at spaces; the further lines are indented, and the first one too if it has a `start`.
void add_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t columns,
                 std::string_view start = {}) {
  constexpr std::string_view kIndent = "  ";
  std::string line(start);
  const auto flush = [&] {
    if (!line.empty()) lines.push_back(std::exchange(line, std::string(kIndent)));
  };
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_first = line.empty() || line == kIndent;
    if (!is_first && columns_of(line) + 1 + columns_of(word) > columns) flush();
    if (!line.empty() && line != kIndent) line += ' ';
    while (columns_of(line) + columns_of(word) > columns) {  // longer than a line
      const std::string_view part = first_columns(word, columns - columns_of(line));
      if (part.empty()) break;
      line += part;
      word.remove_prefix(part.size());
      flush();
    }
    line += word;
  }
  flush();
}

void add_table(std::vector<std::string>& lines, const Summary& summary, std::size_t columns) {
  constexpr std::size_t kNumbers = 29;  // columns of those after the name
  std::size_t width = kLeastName;
  for (const VariantSummary& sum : summary.variants)
    width = std::max(width, columns_of(app::one_line(sum.name, kMostName)));
  if (columns > kNumbers) width = std::min(width, columns - kNumbers);
  lines.push_back(padded("VARIANT", width) + "  PASSED   95 %     COST");
  for (const VariantSummary& sum : summary.variants) {
    const std::string range = percent(sum.interval.low) + "-" + percent(sum.interval.high);
    lines.push_back(padded(app::one_line(sum.name, width), width) +
                    padded_left(fmt::format("{}/{}", sum.passed, sum.runs), 8) + padded_left(range, 8) +
                    padded_left(cost_of(sum), 10));
  }
}

void add_facts(std::vector<std::string>& lines, const Summary& summary, std::size_t columns) {
  for (const VariantSummary& sum : summary.variants) {
    std::string text = fmt::format("{}: score {:.3f}", app::one_line(sum.name, kMostName), sum.score);
    if (sum.k > 1)
      text += fmt::format(", pass@{0} {1:.3f}, pass^{0} {2:.3f}", sum.k, sum.pass_at_k, sum.pass_all_k);
    if (sum.flaky > 0) text += fmt::format(", {} flaky", sum.flaky);
    if (sum.errors > 0) text += fmt::format(", {} without a result", sum.errors);
    if (sum.waiting > 0) text += fmt::format(", {} waiting for a human", sum.waiting);
    if (sum.from_journal > 0) text += fmt::format(", {} from the journal", sum.from_journal);
    add_wrapped(lines, text, columns);
  }
  for (const Comparison& each : summary.comparisons) {
    add_wrapped(lines,
                fmt::format("{} against {}: {} better, {} worse of {} pairs, p = {:.4f} (McNemar, exact)",
                            app::one_line(each.variant, kMostName), app::one_line(each.against, kMostName),
                            each.better, each.worse, each.pairs, each.p_value),
                columns);
  }
}

void add_failures(std::vector<std::string>& lines, const ReportHead& head, const Summary& summary,
                  std::size_t columns) {
  std::size_t shown = 0, more = 0;
  for (const Cell& cell : summary.cells) {
    for (const TrialResult* trial : cell.trials) {
      if (trial->passed()) continue;
      if (shown++ >= kMostShown) {
        ++more;
        continue;
      }
      lines.emplace_back();
      add_wrapped(lines,
                  fmt::format("{}: {}, {}{}{}", to_string(trial->verdict),
                              app::one_line(trial->test, kMostName), app::one_line(trial->variant, kMostName),
                              cell.trials.size() > 1 ? fmt::format(", repeat {}", trial->repeat) : "",
                              cell.is_flaky() ? " (flaky)" : ""),
                  columns);
      for (const std::string& problem : trial->problems)
        add_wrapped(lines, app::one_line(problem, kMostProblem), columns, "  ");
      lines.push_back(fmt::format("  praxis show {}{}", trial->run.str(), head.place));
    }
  }
  if (more > 0) lines.push_back(fmt::format("and {} more: --json, --html", more));
}

}  // namespace

std::vector<std::string> text_report(const ReportHead& head, const Summary& summary, std::size_t columns) {
  constexpr std::size_t kLeastColumns = 20;
  columns = std::max(columns, kLeastColumns);
  std::vector<std::string> lines;
  add_table(lines, summary, columns);
  add_facts(lines, summary, columns);
  for (const std::string& note : head.notes) add_wrapped(lines, note, columns);
  add_failures(lines, head, summary, columns);
  return lines;
}

}  // namespace praxis::evals
