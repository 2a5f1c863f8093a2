#include "models/wire/gemini/request.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "models/wire/gemini/tools.hpp"

namespace praxis::wire::gemini {
namespace {

bool offers_tools(const ModelRequest& request) { return request.tools && !request.tools->empty(); }

bool is_instruction(const Message& message) {
  return message.role == Role::kSystem || message.role == Role::kDeveloper;
}

/// Whether the schema goes into the instructions, because the model cannot enforce it with tools.
bool asks_for_schema(const Dialect& dialect, const ModelRequest& request) {
  return !request.options.output_schema.is_null() && offers_tools(request) && !dialect.schema_with_tools;
}

/// The agent's instructions, then those at the start of the conversation.
JsonArray instruction_parts(const Dialect& dialect, const ModelRequest& request) {
  JsonArray parts;
  const auto add = [&](std::string text) {
    if (!text.empty()) parts.push_back(JsonObject{{"text", std::move(text)}});
  };
  add(request.instructions);
  for (const MessagePtr& message : request.history.messages()) {
    if (!is_instruction(*message)) break;
    add(message->text());
  }
  if (asks_for_schema(dialect, request)) {
    add("Answer with JSON alone, without any other words, that meets this JSON Schema:\n" +
        to_json_text(request.options.output_schema));
  }
  return parts;
}

JsonObject tool_config(std::string_view choice) {
  JsonObject calling;
  if (choice == "auto") {
    calling["mode"] = "AUTO";
  } else if (choice == "none") {
    calling["mode"] = "NONE";
  } else {
    calling["mode"] = "ANY";
    if (choice != "required") calling["allowedFunctionNames"] = JsonArray{Json(wire_name(choice))};
  }
  return {{"functionCallingConfig", std::move(calling)}};
}

// ---- thinking -------------------------------------------------------------------------------------------

struct UsualLevel {
  std::string_view effort, level, budget;
};
// Used if a model's facts define no levels.
constexpr std::array<UsualLevel, 7> kUsualLevels{{{"off", "minimal", "0"},
                                                  {"minimal", "minimal", "512"},
                                                  {"low", "low", "1024"},
                                                  {"medium", "medium", "8192"},
                                                  {"high", "high", "24576"},
                                                  {"xhigh", "high", "24576"},
                                                  {"max", "high", "24576"}}};

/// Our level in the protocol's terms; empty if the model does not offer it.
std::string wire_level(const std::string& effort, const ModelFacts& facts, Thinking thinking) {
  if (const auto own = facts.reasoning_levels.find(effort); own != facts.reasoning_levels.end()) {
    return own->second;
  }
  const auto usual = std::ranges::find(kUsualLevels, effort, &UsualLevel::effort);
  if (usual == kUsualLevels.end()) return effort;
  return std::string(thinking == Thinking::kBudget ? usual->budget : usual->level);
}

/// Level and budget exclude each other. Empty: the model's default applies.
JsonObject thinking_config(const CodecTarget& target, const Dialect& dialect, const std::string& effort) {
  if (dialect.thinking == Thinking::kNone || (effort.empty() && !target.facts.reasoning)) return {};
  JsonObject out{{"includeThoughts", true}};
  const std::string level = effort.empty() ? "" : wire_level(effort, target.facts, dialect.thinking);
  if (level.empty()) return out;
  if (dialect.thinking == Thinking::kLevel) {
    out["thinkingLevel"] = upper_case(level);
    return out;
  }
  std::int64_t budget = 0;
  const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), budget);
  if (error != std::errc{} || end != level.data() + level.size()) return out;
  out["includeThoughts"] = budget != 0;
  out["thinkingBudget"] = budget;
  return out;
}

JsonObject generation_config(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  const ModelOptions& options = request.options;
  JsonObject out;
  if (options.max_output_tokens) out["maxOutputTokens"] = *options.max_output_tokens;
  if (options.temperature && target.facts.temperature) out["temperature"] = *options.temperature;
  if (!options.stop.empty()) out["stopSequences"] = JsonArray(options.stop.begin(), options.stop.end());
  if (!options.output_schema.is_null() && !asks_for_schema(dialect, request)) {
    out["responseMimeType"] = "application/json";
    if (dialect.json_schema) {
      out["responseJsonSchema"] = wire_schema(options.output_schema);
    } else {
      out["responseSchema"] = openapi_schema(options.output_schema);
    }
  }
  if (JsonObject thinking = thinking_config(target, dialect, options.reasoning_effort); !thinking.empty()) {
    out["thinkingConfig"] = std::move(thinking);
  }
  return out;
}

void merge(JsonObject& ours, const JsonObject& extra) {
  for (const auto& [name, value] : extra) {
    Json& field = ours[name];
    if (field.is_object() && value.is_object()) {
      merge(field.get_object(), value.get_object());
    } else if (field.is_array() && value.is_array()) {
      for (const Json& item : value.get_array()) field.get_array().push_back(item);
    } else {
      field = value;
    }
  }
}

}  // namespace

std::string request_path(std::string_view model, bool stream) {
  const std::string_view collection = model.contains('/') ? "/" : "/models/";
  const std::string_view method = stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
  return std::string(collection).append(model).append(method);
}

std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request) {
  JsonObject fields;
  if (JsonArray parts = instruction_parts(dialect, request); !parts.empty()) {
    fields["systemInstruction"] = JsonObject{{"parts", std::move(parts)}};
  }
  if (offers_tools(request)) {
    fields["tools"] =
        JsonArray{JsonObject{{"functionDeclarations", function_declarations(*request.tools, dialect)}}};
    if (const std::string& choice = request.options.tool_choice; !choice.empty()) {
      fields["toolConfig"] = tool_config(choice);
    }
  }
  if (JsonObject config = generation_config(target, dialect, request); !config.empty()) {
    fields["generationConfig"] = std::move(config);
  }
  if (const JsonObject* extra = request.options.extra.if_object()) merge(fields, *extra);
  fields.erase("contents");
  std::string out = to_json_text(fields);
  out.pop_back();
  if (!fields.empty()) out += ',';
  out += R"("contents":[)";
  return out;
}

}  // namespace praxis::wire::gemini
