// Output that a page shows, compared with what a command printed.
#pragma once

#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace praxis::testing {

/// What differs from one machine or run to another, as pages write it.
inline std::string without_chance(std::string text) {
  static const std::vector<std::pair<std::regex, std::string>> kChance{
      {std::regex(R"(\b[0-9A-HJKMNP-TV-Z]{26}\b)"), "ID"},
      {std::regex(R"(\b[0-9a-f]{64}\b)"), "DIGEST"},
      {std::regex(R"(\b\d+(\.\d+)? (ms|s|min|h)\b( \d+ s\b)?)"), "TIME"},
      {std::regex(R"(~?\d+ tokens, (\$[?0-9.]+))"), "TOKENS"},
      {std::regex(R"(\d{4}-\d\d-\d\dT[0-9:.]+Z)"), "DATE"}};
  for (const auto& [pattern, name] : kChance) text = std::regex_replace(text, pattern, name);
  return text;
}

}  // namespace praxis::testing
