// Reads the settings of a plan that names its kind: `{"kind": "...", setting: value, ...}`.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// Each method reads one setting into its target, which keeps its value if the setting is missing. `finish`
/// reports the first mistake. Refers to the plan.
class PlanSettings {
 public:
  explicit PlanSettings(const Json& plan) : plan_(plan) {}

  template <std::unsigned_integral Number>
  void number(const std::string& key, Number& target) {
    const Json& value = named(key);
    if (value.is_null()) return;
    const bool fits =
        value.is_int64() && value.get_int64() >= 0 && std::cmp_less_equal(value.get_int64(), kMost);
    if (!fits) return mistake(key, "must be an integer from 0 to " + std::to_string(kMost));
    target = static_cast<Number>(value.get_int64());
  }
  void flag(const std::string& key, bool& target) {
    const Json& value = named(key);
    if (value.is_null()) return;
    if (!value.is_bool()) return mistake(key, "must be true or false");
    target = value.get_bool();
  }
  void text(const std::string& key, std::string& target) {
    const Json& value = named(key);
    if (value.is_null()) return;
    if (!value.is_string() || value.get_string().empty()) return mistake(key, "must be a non-empty string");
    target = value.get_string();
  }
  /// Error `kInput`: a setting with an unsuitable value, or a key that no method has read.
  Status finish() const {
    if (!mistake_.empty()) return fail(ErrorCode::kInput, mistake_);
    for (const auto& [key, value] : plan_.get_object()) {
      const std::string name(key);
      if (name == "kind" || std::ranges::count(known_, name) != 0) continue;
      const auto meant = closest(name, known_);
      return fail(ErrorCode::kInput, "a plan of the kind \"" + json_string(plan_, "kind") +
                                         "\" has no key \"" + name + '"' +
                                         (meant ? "; did you mean \"" + *meant + "\"?" : ""));
    }
    return {};
  }

 private:
  static constexpr int kMost = 100;

  const Json& named(const std::string& key) {
    known_.push_back(key);
    return json_at(plan_, key);
  }
  void mistake(const std::string& key, const std::string& what) {
    if (mistake_.empty()) mistake_ = '"' + key + "\" of the plan " + what;
  }

  const Json& plan_;
  std::vector<std::string> known_;
  std::string mistake_;
};

}  // namespace praxis
