// `redact`: prints text without secrets and personal data, or lists them.
#include <fmt/format.h>
#include <sodium.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "redact/detector.hpp"

namespace praxis::cli {
namespace {

/// Tells the positions of places for people, in their order: both count from 1, the column in bytes.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}
  void advance_to(std::size_t at) {
    for (; at_ < at; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
  }
  std::size_t line() const { return line_; }
  std::size_t column() const { return at_ - line_begin_ + 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
};

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
  Positions position(*text);
  for (const redact::Place& place : places) {
    position.advance_to(place.begin);
    if (options.json) {
      console.item("place", {{"kind", place.kind},
                             {"personal", place.personal},
                             {"begin", place.begin},
                             {"end", place.end},
                             {"line", position.line()},
                             {"column", position.column()}});
    } else {
      console.out.line(fmt::format("{}:{}  {}  {} bytes", position.line(), position.column(), place.kind,
                                   place.end - place.begin));
    }
  }
  console.result({{"places", places.size()}});
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
