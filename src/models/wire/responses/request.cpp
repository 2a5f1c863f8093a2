#include "models/wire/responses/request.hpp"

#include <algorithm>
#include <array>

#include "models/request_layout.hpp"
#include "models/strict_schema.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::wire::responses {
namespace {

constexpr std::int64_t kLeastOutputTokens = 16;  // servers reject smaller values
constexpr std::size_t kMaxCacheKey = 64;

/// Always sets `strict`: if it is absent, a server may make optional parameters required.
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

/// The server's word for our level; empty if it is not offered.
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

/// Identifies one conversation of one agent; limited to the length that servers accept.
std::string cache_key(const ModelRequest& request) {
  const std::string key = request.session.value + ':' + request.agent;
  return key.size() <= kMaxCacheKey ? key : digest_of(key).hex();
}

void put_tools(JsonObject& fields, const Dialect& dialect, const ModelRequest& request) {
  if (!request.tools || request.tools->empty()) return;
  fields["tools"] = tool_declarations(*request.tools, dialect.strict_tools && !request.non_strict);
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
  return open_list(std::move(fields), options.extra, "input");
}

}  // namespace praxis::wire::responses
