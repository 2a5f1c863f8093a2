// `redact`: prints text without secrets and personal data, or lists them.
#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "redact/detector.hpp"

namespace praxis::cli {
namespace {

/// A position for people: both count from 1, the column in bytes.
struct LineAndColumn {
  std::size_t line = 1;
  std::size_t column = 1;
};

LineAndColumn position_in(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;
  return {static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1, at - line_begin + 1};
}

/// A key for the digits in replacements that no later call shares.
std::string random_key() {
  std::string key(32, '\0');
  randombytes_buf(key.data(), key.size());
  return key;
}

}  // namespace

Result<ExitStatus> execute(const RedactOptions& options, Console& console) {
  const auto text = read_input(options.file.empty() ? "-" : options.file);
  if (!text) return fail(text.error());
  const redact::Scope scope{
      .profile = options.profile == "strict" ? redact::Profile::kStrict : redact::Profile::kBalanced,
      .secrets = options.only != "personal",
      .personal = options.only != "secrets"};
  const std::vector<redact::Place> places = redact::Detector::shared(scope)->find(*text);
  if (!options.list && !options.json) {
    console.out.write(redact::replaced(*text, places, random_key()));
    return ExitStatus::kFinished;
  }
  for (const redact::Place& place : places) {
    const LineAndColumn at = position_in(*text, place.begin);
    if (options.json) {
      console.item("place", {{"kind", place.kind},
                             {"personal", place.personal},
                             {"begin", place.begin},
                             {"end", place.end},
                             {"line", at.line},
                             {"column", at.column}});
    } else {
      console.out.line(
          fmt::format("{}:{}  {}  {} bytes", at.line, at.column, place.kind, place.end - place.begin));
    }
  }
  console.result({{"places", places.size()}});
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
