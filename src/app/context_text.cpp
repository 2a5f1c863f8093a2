// How a report on the window of a model is shown.
#include <algorithm>
#include <string>
#include <utility>

#include "app/context_report.hpp"
#include "app/plain_text.hpp"
#include "base/columns.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostBar = 60;  // columns

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// With one digit after the point, rounded down.
std::string percent(std::int64_t tokens, std::int64_t window) {
  const std::int64_t tenths = tokens * 1000 / window;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " %";
}

std::string label_of(const ContextPart& part) {
  const std::size_t n = part.count;
  const auto counted = [&](const char* name, const char* unit) {
    if (n == 0) return std::string(name);
    return std::string(name) + " (" + std::to_string(n) + ' ' + unit + (n == 1 ? ")" : "s)");
  };
  switch (part.kind) {
    case ContextKind::kInstructions:
      return "instructions";
    case ContextKind::kFolderFile:
      return part.name;
    case ContextKind::kTools:
      return "tools (" + std::to_string(n) + ')';
    case ContextKind::kSkills:
      return "list of skills";
    case ContextKind::kNotes:
      return "recalled notes";
    case ContextKind::kSystem:
      return counted("system", "message");
    case ContextKind::kSummary:
      return "summary";
    case ContextKind::kUser:
      return counted("user", "message");
    case ContextKind::kAssistant:
      return counted("assistant", "message");
    case ContextKind::kResults:
      return counted("tool results", "message");
  }
  return "";
}

/// `[####....|...]`: `#` is full, `|` is where compaction comes.
std::string bar(const ContextReport& report, std::size_t columns) {
  const auto wide = static_cast<std::int64_t>(std::min(columns > 4 ? columns - 2 : 2, kMostBar));
  const auto at = [&](std::int64_t tokens) {
    return std::clamp(tokens * wide / report.window, std::int64_t{0}, wide);
  };
  std::string line(static_cast<std::size_t>(wide), '.');
  const std::int64_t full = report.used > 0 ? std::max(at(report.used), std::int64_t{1}) : 0;
  std::fill_n(line.begin(), full, '#');
  if (report.compacts_above)
    line[static_cast<std::size_t>(std::min(at(*report.compacts_above), wide - 1))] = '|';
  return '[' + line + ']';
}

std::string mark_line(const ContextReport& report) {
  if (report.compacts_itself) return "the provider compacts the conversation itself";
  if (!report.compacts_above) return "";
  const std::int64_t left = *report.compacts_above - report.used;
  const std::string mark =
      "older messages are summarised above " + with_commas(*report.compacts_above) + " tokens (|): ";
  return mark + (left >= 0 ? with_commas(left) + " from here" : "at the next step");
}

}  // namespace

std::vector<std::string> context_lines(const ContextReport& report, std::size_t columns) {
  const bool has_window = report.window != 0;
  std::vector<std::pair<std::string, std::int64_t>> rows;
  for (const ContextPart& part : report.parts) rows.emplace_back(label_of(part), part.tokens);
  if (has_window) rows.emplace_back("free", std::max(report.window - report.used, std::int64_t{0}));
  std::vector<std::string> lines;
  const std::string used = (report.is_counted ? "" : "about ") + with_commas(report.used);
  lines.push_back(used + (has_window ? " of " + with_commas(report.window) + " tokens, " +
                                           percent(report.used, report.window)
                                     : " tokens; the window of the model is not known"));
  if (has_window) lines.push_back(bar(report, columns));
  std::size_t widest = 0;
  for (const auto& row : rows) widest = std::max(widest, with_commas(row.second).size());
  const std::size_t figures = 2 + widest + (has_window ? 9 : 0);
  std::size_t names = 0;
  for (const auto& row : rows) names = std::max(names, columns_of(row.first));
  const std::size_t room = std::min(names, columns > figures + 2 ? columns - figures - 2 : 8);
  for (const auto& row : rows) {
    std::string line =
        "  " + padded(one_line(row.first, room), room) + "  " + padded_left(with_commas(row.second), widest);
    if (has_window) line += padded_left(percent(row.second, report.window), 9);
    lines.push_back(std::move(line));
  }
  if (const std::string mark = mark_line(report); !mark.empty()) lines.push_back(mark);
  for (std::string& line : lines) line = cut_to(line, columns);
  return lines;
}

}  // namespace praxis::app
