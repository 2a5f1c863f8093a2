#include "models/wire/anthropic/tools.hpp"

#include <algorithm>

namespace praxis::wire::messages {
namespace {

/// The size of a request's strict schemas, as far as the server limits it.
struct Complexity {
  int tools = 0;
  int optional = 0;  ///< optional parameters
  int unions = 0;    ///< parameters with more than one type

  friend Complexity operator+(Complexity a, const Complexity& b) {
    return {a.tools + b.tools, a.optional + b.optional, a.unions + b.unions};
  }
  /// Whether the server accepts the request: at most 20 strict tools; it rejects 24 optional parameters or 16
  /// unions.
  bool fits() const { return tools <= 20 && optional < 24 && unions < 16; }
};

/// Adds a schema to the sum. Returns false if it cannot be strict: an object that permits additional
/// properties, or a reference, which may be recursive.
bool add_schema(const Json& schema, Complexity& sum) {
  if (const JsonArray* list = schema.if_array()) {
    return std::ranges::all_of(*list, [&](const Json& item) { return add_schema(item, sum); });
  }
  const JsonObject* fields = schema.if_object();
  if (fields == nullptr) return true;
  if (fields->contains("$ref")) return false;
  if (json_at(schema, "type").is_array() || fields->contains("anyOf")) ++sum.unions;
  if (json_text(schema, "type") == "object") {
    const Json& rest = json_at(schema, "additionalProperties");
    if (!rest.is_bool() || rest.get_bool()) return false;
  }
  if (const JsonObject* properties = json_at(schema, "properties").if_object()) {
    const JsonArray* required = json_at(schema, "required").if_array();
    sum.optional += static_cast<int>(properties->size()) -
                    std::min(static_cast<int>(required == nullptr ? 0 : required->size()),
                             static_cast<int>(properties->size()));
    for (const auto& [name, property] : *properties) {
      if (!add_schema(property, sum)) return false;
    }
  }
  return std::ranges::all_of(*fields, [&](const auto& field) {
    return field.key() == "properties" || field.key() == "enum" || field.key() == "const" ||
           field.key() == "default" || field.key() == "examples" || add_schema(field.value(), sum);
  });
}

bool can_be_strict(const Json& schema, Complexity& sum) {
  return json_text(schema, "type") == "object" && !schema.get_object().contains("anyOf") &&
         add_schema(schema, sum);
}

/// Some servers reject a schema without a type.
Json input_schema(const Json& parameters) {
  if (!parameters.is_object()) return JsonObject{{"type", "object"}, {"properties", JsonObject{}}};
  return parameters;
}

}  // namespace

JsonArray tool_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect, bool strict) {
  JsonArray out;
  Complexity total;
  for (const ToolDefinition& tool : tools) {
    JsonObject fields{{"name", tool.name}};
    if (!tool.description.empty()) fields["description"] = tool.description;
    fields["input_schema"] = input_schema(tool.parameters);
    Complexity more{.tools = 1};
    if (strict && can_be_strict(tool.parameters, more) && (total + more).fits()) {
      total = total + more;
      fields["strict"] = true;
    }
    out.push_back(std::move(fields));
  }
  if (!out.empty() && dialect.cache_tools && dialect.cache_marks != CacheMarks::kNone) {
    out.back().get_object()["cache_control"] = JsonObject{{"type", "ephemeral"}};
  }
  return out;
}

}  // namespace praxis::wire::messages
