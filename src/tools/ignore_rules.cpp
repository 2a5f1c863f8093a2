#include "tools/ignore_rules.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "tools/line_search.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostGlob = 1000;  ///< bytes of a pattern

/// The end of a class `[...]` that begins at `at`; `npos` if it is not closed.
std::size_t class_end(std::string_view glob, std::size_t at) {
  std::size_t end = at + 1;
  if (end < glob.size() && (glob[end] == '!' || glob[end] == '^')) ++end;
  if (end < glob.size() && glob[end] == ']') ++end;
  return glob.find(']', end);
}

std::string class_expression(std::string_view inner) {
  std::string out = "[";
  if (inner.starts_with('!') || inner.starts_with('^')) {
    out += "^/";
    inner.remove_prefix(1);
  }
  for (const char c : inner) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out + ']';
}

/// Two stars: any folders, none among them. Returns the length that was read.
std::size_t add_stars(std::string_view glob, std::size_t at, std::string& out) {
  if (!glob.substr(at).starts_with("**")) {
    out += "[^/]*";
    return 1;
  }
  const bool begins = at == 0 || glob[at - 1] == '/';
  if (begins && glob.substr(at).starts_with("**/")) {
    out += "(?:.*/)?";
    return 3;
  }
  out += ".*";
  return 2;
}

/// The pattern as a regular expression in RE2 syntax.
std::string expression(std::string_view glob) {
  std::string out;
  std::size_t open = 0;  // braces
  for (std::size_t at = 0; at < glob.size();) {
    const char c = glob[at];
    if (c == '*') {
      at += add_stars(glob, at, out);
      continue;
    }
    const std::size_t end = c == '[' ? class_end(glob, at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      out += class_expression(glob.substr(at + 1, end - at - 1));
      at = end + 1;
      continue;
    }
    if (c == '?') {
      out += "[^/]";
    } else if (c == '{') {
      ++open;
      out += "(?:";
    } else if (c == ',' && open > 0) {
      out += '|';
    } else if (c == '}' && open > 0) {
      --open;
      out += ')';
    } else {
      if (c == '\\' && at + 1 < glob.size()) ++at;
      out += re2::RE2::QuoteMeta(std::string(1, glob[at]));
    }
    ++at;
  }
  return out + std::string(open, ')');
}

/// The pattern of a line of a `.gitignore` without its marks.
std::string line_expression(std::string_view folder, std::string_view line) {
  const bool is_anchored = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  std::string out = "(?s)^";
  if (!folder.empty()) out += re2::RE2::QuoteMeta(std::string(folder)) + '/';
  if (!is_anchored) out += "(?:.*/)?";
  return out + expression(line) + '$';
}

}  // namespace

Result<std::shared_ptr<const re2::RE2>> compile_glob(std::string_view pattern) {
  if (pattern.empty() || pattern.size() > kMostGlob)
    return fail(ErrorCode::kInput, "/pattern must have 1 to " + std::to_string(kMostGlob) + " bytes");
  return compile_pattern("(?s)^" + expression(pattern) + '$');
}

void IgnoreRules::add(std::string_view folder, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.ends_with('\r') || (line.ends_with(' ') && !line.ends_with("\\ "))) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || line.size() > kMostGlob) continue;
    Rule rule;
    rule.includes = line.starts_with('!');
    if (rule.includes) line.remove_prefix(1);
    rule.folders_only = line.ends_with('/');
    if (rule.folders_only) line.remove_suffix(1);
    if (line.empty() || rules_.size() >= kMostRules) continue;
    auto pattern = compile_pattern(line_expression(folder, line));
    if (!pattern) continue;
    rule.pattern = *std::move(pattern);
    rules_.push_back(std::move(rule));
  }
}

void IgnoreRules::keep(std::size_t count) { rules_.resize(std::min(count, rules_.size())); }

bool IgnoreRules::excludes(const std::string& path, bool is_folder) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    if (re2::RE2::FullMatch(path, *rule->pattern)) return !rule->includes;
  }
  return false;
}

}  // namespace praxis
