#include "json/schema_keywords.hpp"

#include <algorithm>
#include <cmath>

#include "json/unicode_properties.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {

void keep_schema_error(std::optional<Error>& error, const std::string& where, const std::string& message) {
  if (error) return;
  const std::string place = where.empty() ? "schema: " : "schema at " + where + ": ";
  error = make_error(ErrorCode::kInput, place + message);
}

void SchemaKeywords::reject(std::string_view key, const std::string& message) const {
  keep_schema_error(error_, key.empty() ? where_ : where_ + "/" + std::string(key), message);
}

bool SchemaKeywords::has_any(std::initializer_list<std::string_view> keys) const {
  return std::ranges::any_of(keys, [&](std::string_view key) { return object_.contains(key); });
}

const JsonObject* SchemaKeywords::object(std::string_view key) const {
  const Json* value = find(key);
  if (value && !value->is_object()) reject(key, "expected an object");
  return value ? value->if_object() : nullptr;
}

const JsonArray* SchemaKeywords::array(std::string_view key) const {
  const Json* value = find(key);
  if (value && !value->is_array()) reject(key, "expected an array");
  return value ? value->if_array() : nullptr;
}

std::optional<std::string> SchemaKeywords::text(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* text = value->if_string()) return std::string(text->data(), text->size());
  reject(key, "expected a string");
  return std::nullopt;
}

std::vector<std::string> SchemaKeywords::texts(std::string_view key) const {
  std::vector<std::string> result;
  const JsonArray* values = array(key);
  if (!values) return result;
  for (const Json& value : *values) {
    if (const auto* text = value.if_string()) {
      result.emplace_back(text->data(), text->size());
    } else {
      reject(key, "expected an array of strings");
    }
  }
  return result;
}

bool SchemaKeywords::flag(std::string_view key) const {
  const Json* value = find(key);
  if (value && !value->is_bool()) reject(key, "expected true or false");
  return value && value->is_bool() && value->get_bool();
}

std::optional<Json> SchemaKeywords::number(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (value->is_number()) return *value;
  reject(key, "expected a number");
  return std::nullopt;
}

std::optional<std::size_t> SchemaKeywords::size(std::string_view key) const {
  const auto value = number(key);
  if (!value) return std::nullopt;
  boost::json::error_code error;
  const auto size = value->to_number<std::size_t>(error);  // accepts 2.0 as well
  if (!error) return size;
  reject(key, "expected an integer, 0 or more");
  return std::nullopt;
}

SizeRange SchemaKeywords::range(std::string_view min_key, std::string_view max_key,
                                std::size_t default_min) const {
  return {size(min_key).value_or(default_min), size(max_key).value_or(SizeRange{}.max)};
}

std::uint8_t SchemaKeywords::types() const {
  const Json* value = find("type");
  if (!value) return 0;
  unsigned bits = 0;
  for (const std::string& name : value->is_string() ? std::vector{*text("type")} : texts("type")) {
    const auto* const type = std::ranges::find(kSchemaTypes, name);
    if (type != std::end(kSchemaTypes)) {
      bits |= 1U << (type - kSchemaTypes);
      continue;
    }
    const std::vector<std::string> known(std::begin(kSchemaTypes), std::end(kSchemaTypes));
    const auto meant = closest(name, known);
    reject("type", "unknown type \"" + name + "\"" + (meant ? " (did you mean \"" + *meant + "\"?)" : ""));
  }
  return static_cast<std::uint8_t>(bits);
}

std::unique_ptr<const re2::RE2> SchemaKeywords::pattern(std::string_view key,
                                                        const std::string& source) const {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_unique<const re2::RE2>(with_short_properties(source), options);
  if (!pattern->ok()) {
    const bool property =
        pattern->error_code() == re2::RE2::ErrorBadCharRange &&
        (pattern->error_arg().starts_with("\\p") || pattern->error_arg().starts_with("\\P"));
    reject(key, "pattern \"" + source + "\" cannot be used: " + pattern->error() +
                    (property ? " (of Unicode's properties, patterns can name general categories, such as "
                                "\\p{Lu} or \\p{Uppercase_Letter}, and scripts, such as \\p{Greek})"
                              : " (patterns are RE2's: no look-around, no back-references)"));
  }
  return pattern;
}

}  // namespace praxis
