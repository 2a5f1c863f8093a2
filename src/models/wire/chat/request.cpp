#include "models/wire/chat/request.hpp"

#include "models/request_layout.hpp"
#include "models/strict_schema.hpp"
#include "models/wire/chat/messages.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

constexpr std::string_view kOff = "off";
constexpr std::string_view kEffortOff = "none";

JsonArray tool_declarations(const std::vector<ToolDefinition>& tools, bool strict) {
  JsonArray out;
  for (const ToolDefinition& tool : tools) {
    Json function = to_json(tool);
    if (strict && is_strict_schema(tool.parameters)) function.get_object()["strict"] = true;
    out.push_back(JsonObject{{"type", "function"}, {"function", std::move(function)}});
  }
  return out;
}

bool is_forced(const std::string& choice) { return !choice.empty() && choice != "auto" && choice != "none"; }

Json tool_choice(const std::string& choice, const Dialect& dialect) {
  if (choice == "required") return Json(dialect.required_choice);
  if (!is_forced(choice)) return Json(choice);
  return JsonObject{{"type", "function"}, {"function", JsonObject{{"name", choice}}}};
}

/// The reasoning effort: one of our levels, translated for the server.
struct Thinking {
  bool said = false;  ///< false: the model decides
  bool on = true;
  std::string effort;
};

Thinking thinking_of(const std::string& level, const ModelFacts& facts) {
  if (level.empty()) return {};
  const auto named = facts.reasoning_levels.find(level);
  const bool on = level != kOff;
  if (named == facts.reasoning_levels.end()) return {true, on, on ? level : std::string(kEffortOff)};
  return {!named->second.empty(), on, named->second};
}

void put_switch(JsonObject& fields, ThinkingSwitch where, bool on) {
  switch (where) {
    case ThinkingSwitch::kNone:
      return;
    case ThinkingSwitch::kThinking:
      fields["thinking"] = JsonObject{{"type", on ? "enabled" : "disabled"}};
      return;
    case ThinkingSwitch::kEnableThinking:
      fields["enable_thinking"] = on;
      return;
    case ThinkingSwitch::kReasoning:
      fields["reasoning"] = JsonObject{{"enabled", on}};
      return;
    case ThinkingSwitch::kChatTemplateKwargs:
      fields["chat_template_kwargs"] = JsonObject{{"enable_thinking", on}};
      return;
  }
}

void put_thinking(JsonObject& fields, const Thinking& thinking, const Dialect& dialect) {
  if (!thinking.said) return;
  put_switch(fields, dialect.thinking_switch, thinking.on);
  if (!thinking.on && dialect.thinking_switch != ThinkingSwitch::kNone) return;
  if (dialect.effort_field == EffortField::kReasoningEffort) fields["reasoning_effort"] = thinking.effort;
  if (dialect.effort_field == EffortField::kReasoning) {
    fields["reasoning"] = JsonObject{{"effort", thinking.effort}};
  }
}

/// Adds the tools and the tool choice. If the server does not accept a forced choice while the model thinks:
/// an explicit request to think drops the choice; otherwise the choice turns thinking off.
void put_tools(JsonObject& fields, const ModelRequest& request, const Dialect& dialect, Thinking& thinking) {
  if (!request.tools || request.tools->empty()) return;
  fields["tools"] = tool_declarations(*request.tools, dialect.strict_tools && !request.non_strict);
  const std::string& choice = request.options.tool_choice;
  if (choice.empty()) return;
  if (is_forced(choice) && !dialect.forced_choice_thinking) {
    if (thinking.said && thinking.on) return;
    thinking = {true, false, std::string(kEffortOff)};
  }
  fields["tool_choice"] = tool_choice(choice, dialect);
}

void put_output_schema(JsonObject& fields, const Json& schema, const Dialect& dialect) {
  if (schema.is_null()) return;
  if (dialect.schema_format == SchemaFormat::kJsonSchema) {
    JsonObject format{{"name", "answer"}, {"schema", schema}};
    if (is_strict_schema(schema)) format["strict"] = true;
    fields["response_format"] = JsonObject{{"type", "json_schema"}, {"json_schema", std::move(format)}};
  } else if (dialect.schema_format == SchemaFormat::kJsonObject) {
    fields["response_format"] = JsonObject{{"type", "json_object"}};
  }
}

/// The agent's instructions, unless the conversation has its own, plus the answer's schema if the server does
/// not enforce it.
std::string instructions_of(const ModelRequest& request, const Dialect& dialect) {
  std::string out;
  if (!opens_with_developer(request.history)) out = request.instructions;
  const Json& schema = request.options.output_schema;
  if (schema.is_null() || dialect.schema_format == SchemaFormat::kJsonSchema) return out;
  if (!out.empty()) out += "\n\n";
  return out + "Answer with one JSON value and nothing around it. It must be valid by this JSON Schema:\n" +
         to_json_text(schema);
}

void put_settings(JsonObject& fields, const ModelRequest& request, const CodecTarget& target,
                  const Dialect& dialect) {
  const ModelOptions& options = request.options;
  if (request.stream) {
    fields["stream"] = true;
    if (dialect.stream_usage) fields["stream_options"] = JsonObject{{"include_usage", true}};
  }
  if (options.temperature && target.facts.temperature) fields["temperature"] = *options.temperature;
  if (options.max_output_tokens) fields[dialect.max_tokens_field] = *options.max_output_tokens;
  if (!options.stop.empty() && dialect.stop)
    fields["stop"] = JsonArray(options.stop.begin(), options.stop.end());
  if (dialect.prompt_cache_key && !request.session.empty()) {
    fields["prompt_cache_key"] = request.session.value;
  }
}

}  // namespace

std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  JsonObject fields{{"model", target.model}};
  put_settings(fields, request, target, dialect);
  Thinking thinking = thinking_of(request.options.reasoning_effort, target.facts);
  put_tools(fields, request, dialect, thinking);
  put_thinking(fields, thinking, dialect);
  put_output_schema(fields, request.options.output_schema, dialect);
  for (const auto& [name, value] : dialect.request.get_object()) fields[name] = value;
  std::string out = open_list(std::move(fields), request.options.extra, "messages");
  if (const std::string text = instructions_of(request, dialect); !text.empty()) {
    append_instructions(out, text, dialect);
  }
  return out;
}

}  // namespace praxis::wire::chat
