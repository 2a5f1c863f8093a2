#include "praxis/json/json.hpp"

namespace praxis {
namespace {

/// Most objects have so few fields that comparing their keys in turn, lengths and last bytes first, is faster
/// than the library's search.
const Json* find_field(const JsonObject& object, std::string_view key) {
  constexpr std::size_t kFew = 16;
  if (object.size() > kFew) return object.if_contains(key);
  for (const auto& field : object) {
    const std::string_view own = field.key();
    if (own.size() == key.size() && (own.empty() || own.back() == key.back()) && own == key)
      return &field.value();
  }
  return nullptr;
}

}  // namespace

const Json& json_at(const Json& value, std::string_view key) {
  static const Json kNull;
  const JsonObject* object = value.if_object();
  const Json* field = object ? find_field(*object, key) : nullptr;
  return field ? *field : kNull;
}

std::string_view json_text(const Json& value, std::string_view key) {
  const auto* text = json_at(value, key).if_string();
  return text ? std::string_view(*text) : std::string_view{};
}

std::string json_string(const Json& value, std::string_view key, std::string_view fallback) {
  const auto* text = json_at(value, key).if_string();
  return text ? std::string(text->data(), text->size()) : std::string(fallback);
}

std::int64_t json_int(const Json& value, std::string_view key, std::int64_t fallback) {
  const Json& field = json_at(value, key);
  if (!field.is_number()) return fallback;
  if (const auto* number = field.if_int64()) return *number;
  boost::json::error_code error;
  const auto number =
      field.to_number<std::int64_t>(error);  // accepts 3.0; refuses 3.5 and numbers out of range
  return error ? fallback : number;
}

double json_double(const Json& value, std::string_view key, double fallback) {
  const Json& field = json_at(value, key);
  return field.is_number() ? field.to_number<double>() : fallback;
}

bool json_bool(const Json& value, std::string_view key, bool fallback) {
  const bool* flag = json_at(value, key).if_bool();
  return flag ? *flag : fallback;
}

}  // namespace praxis
