#include "tools/line_search.hpp"

#include <re2/re2.h>

namespace praxis {

namespace {
constexpr std::size_t kMaxPattern = 4096;
constexpr std::size_t kMaxShown = 500;
}  // namespace

Result<std::shared_ptr<const re2::RE2>> compile_pattern(const std::string& pattern) {
  if (pattern.size() > kMaxPattern) return fail(ErrorCode::kInput, "/pattern is longer than 4096 bytes");
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<const RE2>(pattern, options);
  if (!compiled->ok())
    return fail(ErrorCode::kInput, "/pattern is not a valid RE2 expression: " + compiled->error());
  return compiled;
}

Result<LineSearch> LineSearch::compile(const std::string& pattern, std::size_t limit) {
  auto compiled = compile_pattern(pattern);
  if (!compiled) return fail(std::move(compiled.error()));
  return LineSearch(*std::move(compiled), limit);
}

void LineSearch::look_at(std::string_view file, std::size_t number, std::string_view line) {
  if (full() || !RE2::PartialMatch({line.data(), line.size()}, *pattern_)) return;
  const std::string shown = repair_utf8(line.substr(0, kMaxShown)) + (line.size() > kMaxShown ? "..." : "");
  JsonObject match;
  if (!file.empty()) {
    match["file"] = file;
    text_ += std::string(file) + ":";
  }
  match["line"] = number;
  match["text"] = shown;
  text_ += std::to_string(number) + ": " + shown + "\n";
  matches_.push_back(std::move(match));
}

ToolOutput LineSearch::output() && {
  if (matches_.empty()) text_ = "no line matches";
  if (full()) text_ += "[stopped at " + std::to_string(limit_) + " matches; there may be more]\n";
  return {std::move(text_), {{"matches", std::move(matches_)}}, {}, {}};
}

}  // namespace praxis
