#include "models/wire/anthropic/dialect.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace praxis::messages {
namespace {

using Field = std::variant<std::string Dialect::*, bool Dialect::*, std::int64_t Dialect::*,
                           std::vector<std::string> Dialect::*, CacheMarks Dialect::*>;
struct Flag {
  std::string_view name;
  Field field;
};
const std::array<Flag, 15> kFlags{{{"path", &Dialect::path},
                                   {"stream_path", &Dialect::stream_path},
                                   {"version", &Dialect::version},
                                   {"body_version", &Dialect::body_version},
                                   {"betas", &Dialect::betas},
                                   {"session_header", &Dialect::session_header},
                                   {"max_tokens", &Dialect::max_tokens},
                                   {"adaptive_thinking", &Dialect::adaptive_thinking},
                                   {"thinking_display", &Dialect::thinking_display},
                                   {"empty_signatures", &Dialect::empty_signatures},
                                   {"strict_tools", &Dialect::strict_tools},
                                   {"cache_marks", &Dialect::cache_marks},
                                   {"cache_tools", &Dialect::cache_tools},
                                   {"compaction_edit", &Dialect::compaction_edit},
                                   {"compaction_beta", &Dialect::compaction_beta}}};

/// Assigns a flag's value and returns what is wrong with it; empty if it is valid.
struct Setter {
  Dialect& dialect;
  const Json& value;

  std::string operator()(std::string Dialect::* field) const {
    const auto* text = value.if_string();
    if (text == nullptr) return "must be text";
    dialect.*field = *text;
    return {};
  }
  std::string operator()(bool Dialect::* field) const {
    if (!value.is_bool()) return "must be true or false";
    dialect.*field = value.get_bool();
    return {};
  }
  std::string operator()(std::int64_t Dialect::* field) const {
    const auto* number = value.if_int64();
    if (number == nullptr || *number <= 0) return "must be a whole number above 0";
    dialect.*field = *number;
    return {};
  }
  std::string operator()(std::vector<std::string> Dialect::* field) const {
    const JsonArray* list = value.if_array();
    if (list == nullptr) return "must be a list of texts";
    (dialect.*field).clear();
    for (const Json& item : *list) {
      if (!item.is_string()) return "must be a list of texts";
      (dialect.*field).emplace_back(item.get_string());
    }
    return {};
  }
  std::string operator()(CacheMarks Dialect::* field) const {
    constexpr std::array<std::string_view, 3> kNames{"automatic", "newest", "none"};
    const auto* text = value.if_string();
    const auto known = text == nullptr ? kNames.end() : std::ranges::find(kNames, std::string_view(*text));
    if (known == kNames.end()) return "must be automatic, newest or none";
    dialect.*field = static_cast<CacheMarks>(known - kNames.begin());
    return {};
  }
};

std::string known_flags() {
  std::string out;
  for (const Flag& flag : kFlags) out.append(out.empty() ? "" : ", ").append(flag.name);
  return out;
}

}  // namespace

Result<Dialect> read_dialect(const Json& flags) {
  Dialect dialect;
  if (flags.is_null()) return dialect;
  if (!flags.is_object()) return fail(ErrorCode::kInput, "the dialect must be an object of flags");
  for (const auto& [name, value] : flags.get_object()) {
    const auto flag = std::ranges::find(kFlags, std::string_view(name), &Flag::name);
    if (flag == kFlags.end()) {
      return fail(ErrorCode::kInput,
                  "flag \"" + std::string(name) + "\" is unknown; known are " + known_flags());
    }
    if (const std::string wrong = std::visit(Setter{dialect, value}, flag->field); !wrong.empty()) {
      return fail(ErrorCode::kInput, "flag \"" + std::string(name) + "\" " + wrong);
    }
  }
  return dialect;
}

}  // namespace praxis::messages
