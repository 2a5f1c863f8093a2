#include "planners/plan_template.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "praxis/base/suggest.hpp"

namespace praxis {
namespace {

using Test = Condition::Test;

constexpr std::array<std::pair<std::string_view, Test>, 5> kTests{{{"equals", Test::kEquals},
                                                                   {"not_equals", Test::kNotEquals},
                                                                   {"contains", Test::kContains},
                                                                   {"exists", Test::kExists},
                                                                   {"matches", Test::kMatches}}};

std::string shown(std::string_view reference) { return "${" + std::string(reference) + "}"; }

Result<Reference> parse_reference(std::string_view text) {
  Reference reference{std::string(text), {}};
  const auto bad = [&] {
    return fail(ErrorCode::kInput,
                shown(text) +
                    " is not a valid reference; write names and indexes, as in ${steps.read.value.items[0]}");
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      std::size_t index = 0;
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data() + at + 1, end, index);
      if (error != std::errc{} || rest == end || *rest != ']' || at == 0) return bad();
      reference.path.emplace_back(index);
      at = static_cast<std::size_t>(rest - text.data()) + 1;
    } else {
      if (at > 0 && text[at++] != '.') return bad();
      const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
      if (end == at) return bad();
      reference.path.emplace_back(std::string(text.substr(at, end - at)));
      at = end;
    }
  }
  if (reference.path.empty()) return bad();
  return reference;
}

Status collect(const Json& json, std::vector<Reference>& found) {
  if (const auto* text = json.if_string()) {
    auto parsed = parse_template(*text);
    if (!parsed) return fail(parsed.error());
    for (auto& piece : parsed->pieces) {
      if (auto* reference = std::get_if<Reference>(&piece)) found.push_back(std::move(*reference));
    }
  } else if (const auto* array = json.if_array()) {
    for (const Json& item : *array) {
      if (auto done = collect(item, found); !done) return done;
    }
  } else if (const auto* object = json.if_object()) {
    for (const auto& [key, value] : *object) {
      if (auto done = collect(value, found); !done) return done;
    }
  }
  return {};
}

/// Null if a part of the path does not exist.
const Json* find(const Reference& reference, const Json& scope) {
  const Json* at = &scope;
  for (const auto& part : reference.path) {
    if (const auto* name = std::get_if<std::string>(&part)) {
      const auto* object = at->if_object();
      at = object ? object->if_contains(*name) : nullptr;
    } else {
      const auto* array = at->if_array();
      at = array ? array->if_contains(std::get<std::size_t>(part)) : nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string as_text(const Json& value) {
  const auto* text = value.if_string();
  return text ? std::string(*text) : to_json_text(value);
}

bool truthy(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return false;
    case boost::json::kind::bool_:
      return value.get_bool();
    case boost::json::kind::string:
      return !value.get_string().empty();
    case boost::json::kind::array:
      return !value.get_array().empty();
    case boost::json::kind::object:
      return !value.get_object().empty();
    default:
      return value.to_number<double>() != 0;
  }
}

/// Compares canonical JSON, so that 3 equals 3.0 and the order of keys does not matter.
bool same(const Json& a, const Json& b) { return to_canonical_json(a) == to_canonical_json(b); }

bool contains(const Json& value, const Json& wanted) {
  if (const auto* array = value.if_array()) {
    return std::ranges::any_of(*array, [&](const Json& item) { return same(item, wanted); });
  }
  return as_text(value).find(as_text(wanted)) != std::string::npos;
}

Result<Reference> parse_condition_value(const Json& json) {
  const auto* text = json.if_string();
  if (text == nullptr)
    return fail(ErrorCode::kInput, "\"when\" needs a placeholder such as \"${steps.read.ok}\"");
  auto parsed = parse_template(*text);
  if (!parsed) return fail(parsed.error());
  const Reference* reference = parsed->only_reference();
  if (reference == nullptr) {
    return fail(ErrorCode::kInput,
                "\"when\" needs exactly one placeholder such as \"${steps.read.ok}\", not \"" +
                    std::string(*text) + "\"");
  }
  return *reference;
}

Status check_operand(Condition& condition) {
  if (condition.test == Test::kExists && !condition.operand.is_bool()) {
    return fail(ErrorCode::kInput, "\"exists\" must be true or false");
  }
  if (condition.test != Test::kMatches) return {};
  const auto* text = condition.operand.if_string();
  if (text == nullptr) return fail(ErrorCode::kInput, "\"matches\" must be a regular expression");
  auto pattern = std::make_shared<const re2::RE2>(std::string(*text), re2::RE2::Quiet);
  if (!pattern->ok()) {
    return fail(ErrorCode::kInput, "\"matches\" is not a valid regular expression: " + pattern->error());
  }
  condition.pattern = std::move(pattern);
  return {};
}

}  // namespace

const Reference* Template::only_reference() const {
  return pieces.size() == 1 ? std::get_if<Reference>(&pieces.front()) : nullptr;
}

Result<Template> parse_template(std::string_view text) {
  Template result;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) result.pieces.emplace_back(std::exchange(literal, {}));
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("${")) {
      const std::size_t close = rest.find('}');
      if (close == std::string_view::npos) {
        return fail(ErrorCode::kInput, "a placeholder is not closed: \"" + std::string(rest.substr(0, 40)) +
                                           "\" (write $$ for a literal $)");
      }
      auto reference = parse_reference(rest.substr(2, close - 2));
      if (!reference) return fail(reference.error());
      end_literal();
      result.pieces.emplace_back(*std::move(reference));
      at += close + 1;
    } else {
      literal += text[at];
      at += rest.starts_with("$$") ? 2 : 1;
    }
  }
  end_literal();
  return result;
}

Result<std::vector<Reference>> references_of(const Json& json) {
  std::vector<Reference> found;
  if (auto done = collect(json, found); !done) return fail(done.error());
  return found;
}

Result<Json> look_up(const Reference& reference, const Json& scope) {
  if (const Json* value = find(reference, scope)) return *value;
  return fail(ErrorCode::kInput,
              shown(reference.text) + " is not there; the results so far hold no such value");
}

Result<std::string> fill_text(std::string_view text, const Json& scope) {
  auto parsed = parse_template(text);
  if (!parsed) return fail(parsed.error());
  std::string filled;
  for (const auto& piece : parsed->pieces) {
    if (const auto* literal = std::get_if<std::string>(&piece)) {
      filled += *literal;
      continue;
    }
    auto value = look_up(std::get<Reference>(piece), scope);
    if (!value) return fail(value.error());
    filled += as_text(*value);
  }
  return filled;
}

Result<Json> fill(const Json& json, const Json& scope) {
  if (const auto* text = json.if_string()) {
    auto parsed = parse_template(*text);
    if (!parsed) return fail(parsed.error());
    if (const Reference* reference = parsed->only_reference()) return look_up(*reference, scope);
    auto filled = fill_text(*text, scope);
    if (!filled) return fail(filled.error());
    return Json(*filled);
  }
  Json filled = json;
  if (auto* array = filled.if_array()) {
    for (Json& item : *array) {
      auto value = fill(item, scope);
      if (!value) return value;
      item = *std::move(value);
    }
  } else if (auto* object = filled.if_object()) {
    for (auto& [key, field] : *object) {
      auto value = fill(field, scope);
      if (!value) return value;
      field = *std::move(value);
    }
  }
  return filled;
}

Result<Condition> parse_condition(const Json& json) {
  Condition condition;
  const auto* table = json.if_object();
  auto value = parse_condition_value(table ? json_at(json, "value") : json);
  if (!value) return fail(value.error());
  condition.value = *std::move(value);
  if (table == nullptr) return condition;
  for (const auto& [key, operand] : *table) {
    if (key == "value") continue;
    const auto test =
        std::ranges::find(kTests, std::string_view(key), &std::pair<std::string_view, Test>::first);
    if (test == kTests.end()) {
      std::vector<std::string> names{"value"};
      for (const auto& [name, unused] : kTests) names.emplace_back(name);
      const auto meant = closest(key, names);
      return fail(ErrorCode::kInput, "\"when\" has an unknown key \"" + std::string(key) + "\"" +
                                         (meant ? "; did you mean \"" + *meant + "\"?" : ""));
    }
    if (condition.test != Test::kTruthy) return fail(ErrorCode::kInput, "\"when\" has more than one test");
    condition.test = test->second;
    condition.operand = operand;
  }
  if (condition.test == Test::kTruthy) {
    return fail(ErrorCode::kInput, "\"when\" needs one of equals, not_equals, contains, exists and matches");
  }
  if (auto valid = check_operand(condition); !valid) return fail(valid.error());
  return condition;
}

Result<bool> holds(const Condition& condition, const Json& scope) {
  if (condition.test == Test::kExists) {
    return (find(condition.value, scope) != nullptr) == condition.operand.get_bool();
  }
  auto value = look_up(condition.value, scope);
  if (!value) return fail(value.error());
  switch (condition.test) {
    case Test::kEquals:
      return same(*value, condition.operand);
    case Test::kNotEquals:
      return !same(*value, condition.operand);
    case Test::kContains:
      return contains(*value, condition.operand);
    case Test::kMatches:
      return re2::RE2::PartialMatch(as_text(*value), *condition.pattern);
    default:
      return truthy(*value);
  }
}

}  // namespace praxis
