#include "models/wire/gemini/tools.hpp"

#include <algorithm>
#include <array>

namespace praxis::wire::gemini {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether `wire_name` adds an underscore to the name, or has added one: a digit or hyphen is first, possibly
/// after underscores.
bool is_shifted(std::string_view name) {
  const std::size_t first = name.find_first_not_of('_');
  return first != name.npos && (name[first] == '-' || (name[first] >= '0' && name[first] <= '9'));
}

// Fields of JSON Schema that contain schemas; anything else is data.
constexpr std::array<std::string_view, 10> kSchemaFields{
    "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then",
    "else",  "unevaluatedProperties"};
constexpr std::array<std::string_view, 4> kSchemaLists{"anyOf", "oneOf", "allOf", "prefixItems"};
constexpr std::array<std::string_view, 5> kSchemaMaps{"properties", "patternProperties", "$defs",
                                                      "definitions", "dependentSchemas"};

Json wire_field(std::string_view name, const Json& value) {
  if (is_one_of(name, kSchemaFields)) return wire_schema(value);
  if (is_one_of(name, kSchemaLists) && value.is_array()) {
    JsonArray list;
    for (const Json& item : value.get_array()) list.push_back(wire_schema(item));
    return list;
  }
  if (is_one_of(name, kSchemaMaps) && value.is_object()) {
    JsonObject map;
    for (const auto& [key, item] : value.get_object()) map[key] = wire_schema(item);
    return map;
  }
  return value;
}

// ---- the subset of OpenAPI ------------------------------------------------------------------------------

constexpr std::array<std::string_view, 14> kKept{
    "title",     "description", "nullable", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength",   "pattern",  "minimum",  "maximum",  "default",       "required"};
constexpr std::array<std::string_view, 6> kFormats{"enum", "date-time", "int32", "int64", "float", "double"};

/// Adds the members of `more` that `out` lacks; objects are merged.
void add_absent(JsonObject& out, const JsonObject& more) {
  for (const auto& [name, value] : more) {
    Json* ours = out.if_contains(name);
    if (ours == nullptr) {
      out[name] = value;
    } else if (ours->is_object() && value.is_object()) {
      add_absent(ours->get_object(), value.get_object());
    }
  }
}

/// Converts null among the alternatives to a flag; a single remaining alternative replaces the schema.
void take_alternatives(JsonObject& out, const JsonArray& alternatives) {
  JsonArray rest;
  for (const Json& alternative : alternatives) {
    if (json_text(alternative, "type") == "null") {
      out["nullable"] = true;
    } else {
      rest.push_back(openapi_schema(alternative));
    }
  }
  if (rest.size() == 1) {
    add_absent(out, rest.front().get_object());
  } else if (!rest.empty()) {
    out["anyOf"] = std::move(rest);
  }
}

void take_type(JsonObject& out, const Json& type) {
  if (const auto* name = type.if_string()) out["type"] = upper_case(*name);
  const JsonArray* names = type.if_array();
  if (names == nullptr) return;
  JsonArray alternatives;
  for (const Json& name : *names) alternatives.push_back(JsonObject{{"type", name}});
  take_alternatives(out, alternatives);
}

/// Only strings can be enumerated.
void take_values(JsonObject& out, const JsonArray& values) {
  JsonArray words;
  for (const Json& value : values) {
    if (value.is_null()) out["nullable"] = true;
    if (value.is_string()) words.push_back(value);
  }
  if (words.empty()) return;
  out["type"] = "STRING";
  out["enum"] = std::move(words);
}

void take_field(JsonObject& out, std::string_view name, const Json& value) {
  if (is_one_of(name, kKept)) out[name] = value;
  if (name == "format" && value.is_string() && is_one_of(value.get_string(), kFormats)) out[name] = value;
  if (name == "type") take_type(out, value);
  if (name == "const") take_values(out, {value});
  if (name == "enum" && value.is_array()) take_values(out, value.get_array());
  if (name == "items") out[name] = openapi_schema(value);
  if ((name == "anyOf" || name == "oneOf") && value.is_array()) take_alternatives(out, value.get_array());
  if (name == "properties" && value.is_object()) {
    JsonObject map;
    for (const auto& [key, item] : value.get_object()) map[key] = openapi_schema(item);
    add_absent(out, JsonObject{{name, std::move(map)}});
  }
  if (name == "allOf" && value.is_array()) {
    for (const Json& item : value.get_array()) add_absent(out, openapi_schema(item).get_object());
  }
}

bool has_parameters(const Json& schema) {
  const JsonObject* properties = json_at(schema, "properties").if_object();
  return properties != nullptr && !properties->empty();
}

}  // namespace

std::string wire_name(std::string_view name) {
  return is_shifted(name) ? '_' + std::string(name) : std::string(name);
}

std::string_view tool_name(std::string_view wire_name) {
  return wire_name.starts_with('_') && is_shifted(wire_name) ? wire_name.substr(1) : wire_name;
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

Json wire_schema(const Json& schema) {
  const JsonObject* fields = schema.if_object();
  if (fields == nullptr) return schema;
  JsonObject out;
  for (const auto& [name, value] : *fields) {
    if (name == "const") {
      out["enum"] = JsonArray{value};
    } else {
      out[name] = wire_field(name, value);
    }
  }
  return out;
}

Json openapi_schema(const Json& schema) {
  JsonObject out;
  if (const JsonObject* fields = schema.if_object()) {
    for (const auto& [name, value] : *fields) take_field(out, name, value);
  }
  if (!out.contains("type") && !out.contains("anyOf"))
    out["type"] = out.contains("items") ? "ARRAY" : "OBJECT";
  return out;
}

JsonArray function_declarations(const std::vector<ToolDefinition>& tools, const Dialect& dialect) {
  JsonArray out;
  for (const ToolDefinition& tool : tools) {
    JsonObject declaration{{"name", wire_name(tool.name)}, {"description", tool.description}};
    if (has_parameters(tool.parameters)) {  // a schema of an object without properties is rejected
      if (dialect.json_schema) {
        declaration["parametersJsonSchema"] = wire_schema(tool.parameters);
      } else {
        declaration["parameters"] = openapi_schema(tool.parameters);
      }
    }
    out.push_back(std::move(declaration));
  }
  return out;
}

}  // namespace praxis::wire::gemini
