// Finds secrets and personal data in text by the rules of this room: one pass finds the words of all rules,
// then RE2 decides at each, then the checks. Knows no surface, no file and no configuration.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redact/rule.hpp"

namespace praxis::redact {

/// What is looked for.
struct Scope {
  Profile profile = Profile::kBalanced;
  bool secrets = true;
  bool personal = true;
};

/// Where a text holds a secret or personal data: its first byte, and the byte after its last.
struct Place {
  std::string_view kind;  ///< of the rule; lives as long as the program
  std::size_t begin = 0;
  std::size_t end = 0;
  bool personal = false;
};

/// The compiled rules of one scope. Compiles an expression when its words first occur. Thread-safe.
class Detector {
 public:
  explicit Detector(Scope scope);
  ~Detector();
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  /// The detector of `scope` that the process shares.
  static std::shared_ptr<const Detector> shared(Scope scope);

  /// What `text` holds, in order; overlapping finds are one place, of the kind whose rule comes first.
  std::vector<Place> find(std::string_view text) const;
  /// How many bytes at the begin of `text` are decided: what follows `text` cannot change what is found
  /// there.
  std::size_t settled(std::string_view text) const;

 private:
  struct Compiled;
  class Search;

  Scope scope_;
  std::unique_ptr<const Compiled> compiled_;
};

/// All rules, in the order of their precedence.
std::vector<const Rule*> all_rules();
/// Whether the rule finds personal data.
bool is_personal(const Rule& rule);
/// The expression that is compiled for `rule`: with the words of `kAfterWord`, and `{uuid}` written out.
std::string full_pattern(const Rule& rule);

/// The text that replaces `value`: `[REDACTED:aws-access-key:3f2a]`. The digits are a hash with `key`, so
/// that equal values can be recognised as equal; an empty key leaves them out.
std::string replacement(std::string_view kind, std::string_view value, std::string_view key);
/// Returns `text` with its places replaced.
std::string replaced(std::string_view text, const std::vector<Place>& places, std::string_view key);

}  // namespace praxis::redact
