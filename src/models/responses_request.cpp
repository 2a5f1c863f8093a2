#include "models/responses_request.hpp"

#include <algorithm>
#include <array>

#include "praxis/base/digest.hpp"

namespace praxis::responses {
namespace {

constexpr std::int64_t kLeastOutputTokens = 16;  // servers refuse less
constexpr std::size_t kMaxCacheKey = 64;

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

/// Whether an object schema takes exactly its properties.
bool is_closed(const Json& schema) {
  const Json& more = json_at(schema, "additionalProperties");
  const JsonObject* properties = json_at(schema, "properties").if_object();
  return more.is_bool() && !more.get_bool() &&
         (properties == nullptr || lists_all(json_at(schema, "required"), *properties));
}

/// Whether the schema and all within it are closed and use only keywords that strict servers take.
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

/// `strict` is always said: a server that is not told may make optional parameters required.
JsonArray tool_declarations(const std::vector<ToolDefinition>& tools, bool strict) {
  JsonArray out;
  for (const ToolDefinition& tool : tools) {
    out.push_back(JsonObject{{"type", "function"},
                             {"name", tool.name},
                             {"description", tool.description},
                             {"parameters", tool.parameters},
                             {"strict", strict && is_strict_schema(tool.parameters)}});
  }
  return out;
}

Json tool_choice(const std::string& choice) {
  if (choice == "auto" || choice == "none" || choice == "required") return Json(choice);
  return JsonObject{{"type", "function"}, {"name", choice}};
}

/// The wire's word for our level; empty when it is not offered.
std::string effort_of(const std::string& level, const ModelFacts& facts) {
  if (const auto known = facts.reasoning_levels.find(level); known != facts.reasoning_levels.end()) {
    return known->second;
  }
  return level == "off" ? "none" : level;
}

void put_reasoning(JsonObject& fields, const CodecTarget& target, const Dialect& dialect,
                   const ModelOptions& options) {
  const std::string effort = effort_of(options.reasoning_effort, target.facts);
  JsonObject reasoning;
  if (!effort.empty()) reasoning["effort"] = effort;
  const bool thinks = effort.empty() ? target.facts.reasoning : effort != "none";
  if (thinks && !dialect.reasoning_summary.empty()) reasoning["summary"] = dialect.reasoning_summary;
  if (!reasoning.empty()) fields["reasoning"] = std::move(reasoning);
  const bool encrypted =
      dialect.encrypted_reasoning == Encrypted::kAlways ||
      (dialect.encrypted_reasoning == Encrypted::kReasoningModels && target.facts.reasoning);
  if (encrypted) fields["include"] = JsonArray{"reasoning.encrypted_content"};
}

/// One conversation of one agent; bounded as servers demand.
std::string cache_key(const ModelRequest& request) {
  const std::string key = request.session.value + ':' + request.agent;
  return key.size() <= kMaxCacheKey ? key : digest_of(key).hex();
}

bool opens_with_developer(const History& history) {
  return !history.empty() && history.messages().front()->role == Role::kDeveloper;
}

void put_tools(JsonObject& fields, const Dialect& dialect, const ModelRequest& request) {
  if (!request.tools || request.tools->empty()) return;
  fields["tools"] = tool_declarations(*request.tools, dialect.strict_tools);
  if (!request.options.tool_choice.empty()) fields["tool_choice"] = tool_choice(request.options.tool_choice);
}

void put_limits(JsonObject& fields, const CodecTarget& target, const Dialect& dialect,
                const ModelOptions& options) {
  if (options.temperature && target.facts.temperature) fields["temperature"] = *options.temperature;
  if (options.max_output_tokens && dialect.max_output_tokens) {
    fields["max_output_tokens"] = std::max(*options.max_output_tokens, kLeastOutputTokens);
  }
  if (const std::int64_t window = target.facts.context_window; dialect.native_compaction && window > 0) {
    fields["context_management"] =
        JsonArray{JsonObject{{"type", "compaction"}, {"compact_threshold", window / 5 * 4}}};
  }
}

}  // namespace

bool is_strict_schema(const Json& schema) {
  return is_object_type(json_at(schema, "type")) && holds_strictly(schema);
}

std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  const ModelOptions& options = request.options;
  JsonObject fields{{"model", target.model}};
  if (request.stream) fields["stream"] = true;
  if (dialect.send_store) fields["store"] = false;
  put_limits(fields, target, dialect, options);
  put_reasoning(fields, target, dialect, options);
  if (!options.output_schema.is_null()) {
    fields["text"] = JsonObject{{"format", JsonObject{{"type", "json_schema"},
                                                      {"name", "answer"},
                                                      {"schema", options.output_schema},
                                                      {"strict", is_strict_schema(options.output_schema)}}}};
  }
  if (dialect.prompt_cache_key && !request.session.value.empty())
    fields["prompt_cache_key"] = cache_key(request);
  if (!request.instructions.empty() && !opens_with_developer(request.history)) {
    fields["instructions"] = request.instructions;
  }
  put_tools(fields, dialect, request);
  if (const JsonObject* extra = options.extra.if_object()) {
    for (const auto& [name, value] : *extra) fields[name] = value;
  }
  fields.erase("input");
  std::string out = to_json_text(fields);
  out.back() = ',';
  out += R"("input":[)";
  return out;
}

}  // namespace praxis::responses
