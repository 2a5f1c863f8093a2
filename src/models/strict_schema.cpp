#include "models/strict_schema.hpp"

#include <algorithm>

namespace praxis {
namespace {

bool is_object_type(const Json& type) {
  if (const JsonArray* types = type.if_array()) return std::ranges::any_of(*types, is_object_type);
  return type.is_string() && type.get_string() == "object";
}

bool lists_all(const Json& required, const JsonObject& properties) {
  const JsonArray* names = required.if_array();
  return std::ranges::all_of(properties, [&](const auto& property) {
    return names != nullptr &&
           std::ranges::any_of(*names, [&](const Json& name) { return name == property.key(); });
  });
}

/// Whether an object schema requires all its properties and permits no others.
bool is_closed(const Json& schema) {
  const Json& more = json_at(schema, "additionalProperties");
  const JsonObject* properties = json_at(schema, "properties").if_object();
  return more.is_bool() && !more.get_bool() &&
         (properties == nullptr || lists_all(json_at(schema, "required"), *properties));
}

/// Whether the schema and all its subschemas are closed and use only keywords that strict servers accept.
bool holds_strictly(const Json& schema) {
  if (!schema.is_object()) return false;
  for (const std::string_view refused : {"allOf", "oneOf", "not", "if", "patternProperties",
                                         "dependentRequired", "dependentSchemas", "unevaluatedProperties"}) {
    if (!json_at(schema, refused).is_null()) return false;
  }
  if (const bool is_object =
          is_object_type(json_at(schema, "type")) || json_at(schema, "properties").is_object();
      is_object && !is_closed(schema)) {
    return false;
  }
  for (const std::string_view key : {"properties", "$defs", "definitions"}) {
    const JsonObject* members = json_at(schema, key).if_object();
    if (members == nullptr) continue;
    if (!std::ranges::all_of(*members, [](const auto& member) { return holds_strictly(member.value()); })) {
      return false;
    }
  }
  const JsonArray* choices = json_at(schema, "anyOf").if_array();
  if (choices != nullptr && !std::ranges::all_of(*choices, holds_strictly)) return false;
  const Json& items = json_at(schema, "items");
  return items.is_null() || holds_strictly(items);
}

}  // namespace

bool is_strict_schema(const Json& schema) {
  return is_object_type(json_at(schema, "type")) && holds_strictly(schema);
}

}  // namespace praxis
