// What a surface calls before text leaves the program: the configured keys first, then the rules.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"
#include "redact/detector.hpp"
#include "redact/known_secrets.hpp"
#include "redact/redact_rules.hpp"
#include "redact/stream.hpp"

namespace praxis::redact {

/// A place of a text, and the text that replaces it.
struct Mask {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// A further rule for texts, such as content filters. `name`: of the member that the text is the value of.
using TextRule = std::function<std::string(std::string text, std::string_view name)>;
using TextRulePtr = std::shared_ptr<const TextRule>;

/// How one surface redacts. A default-constructed value changes nothing. Immutable, cheap to copy,
/// thread-safe.
class Redaction {
 public:
  Redaction() = default;
  /// Masks `known` (null: none) as `[key]`, then replaces what the rules of `scope` find. `key` makes equal
  /// values of one output recognisable; an empty key leaves that out.
  Redaction(Scope scope, std::shared_ptr<const Redactor> known, std::string key);

  /// Only masks `known`.
  explicit Redaction(std::shared_ptr<const Redactor> known);

  /// The same, followed by `rule` for each text as a whole. Null: unchanged.
  Redaction then(TextRulePtr rule) const {
    Redaction both = *this;
    both.rule_ = std::move(rule);
    return both;
  }

  /// Whether nothing is changed.
  bool is_off() const { return !detector_ && !known_ && !rule_; }
  /// Whether a rule reads each text as a whole, so that no piece of an unfinished one can be decided.
  bool reads_whole_texts() const { return rule_ != nullptr; }
  /// Returns `text` without secrets.
  std::string text(std::string text) const;
  /// What `text` would replace, in order and without overlaps.
  std::vector<Mask> find(std::string_view text) const;
  /// The configured keys in `text` alone.
  std::vector<Mask> find_known(std::string_view text) const;
  /// Redacts all strings of `json`, with the names of their members as context. Keeps the names, the
  /// signatures and the encrypted reasoning of vendors.
  void redact(Json& json) const;
  /// Redacts message, hint and other facts of an error, and those of its causes.
  void redact(Error& error) const;
  /// Redacts the text of a JSON value, such as the arguments of a call; changes no byte without a find.
  std::string json_text(std::string text) const;
  /// The next pieces of a text that arrives in pieces. Null if nothing is changed.
  std::unique_ptr<StreamRedactor> stream() const;

 private:
  std::string value(std::string_view text, std::string_view name) const;
  void redact(Json& json, std::string_view name) const;

  std::shared_ptr<const Detector> detector_;
  std::shared_ptr<const Redactor> known_;
  std::string key_;
  TextRulePtr rule_;
};

/// The redaction of a point with this level; `personal` as in `RedactRules`. Configured keys are masked with
/// `kOff` too.
Redaction redaction(RedactLevel level, bool personal, std::shared_ptr<const Redactor> known, std::string key);

}  // namespace praxis::redact
