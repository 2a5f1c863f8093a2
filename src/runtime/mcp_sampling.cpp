#include "runtime/mcp_sampling.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/visible_text.hpp"
#include "mcp/connection.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostSampleMessages = 64;
constexpr std::size_t kMostSampleStops = 4;
constexpr std::int64_t kMostSampleTokens = 8192;  ///< of one answer
constexpr std::size_t kMostSampleShown = 4000;    ///< bytes that a person reads of a request
constexpr std::size_t kSampleDigestBytes = 4;     ///< that tell requests of a call apart

std::unexpected<Error> no_sample(std::string_view what) {
  return fail(ErrorCode::kTool,
              "the server asks for a model's answer with " + std::string(what) + ", which is not given");
}

/// The text of one message: a block of content, or several.
Result<std::string> sample_text(const Json& message) {
  const Json& content = json_at(message, "content");
  const JsonArray* const several = content.if_array();
  const JsonArray blocks = several != nullptr ? *several : JsonArray(1, content);
  std::string text;
  for (const Json& block : blocks) {
    const std::string kind = json_string(block, "type");
    if (kind != "text") return no_sample("content of the type \"" + visible_text(utf8_head(kind, 40)) + '"');
    text += (text.empty() ? "" : "\n") + std::string(json_text(block, "text"));
  }
  return text;
}

/// The conversation as one prompt: the text alone if there is one message, else each with its role.
Result<std::string> sample_prompt(const Json& params) {
  const JsonArray* const messages = json_at(params, "messages").if_array();
  if (messages == nullptr || messages->empty()) return no_sample("no messages");
  if (messages->size() > kMostSampleMessages)
    return no_sample("more than " + std::to_string(kMostSampleMessages) + " messages");
  if (messages->size() == 1) return sample_text(messages->front());
  std::string prompt;
  for (const Json& message : *messages) {
    auto text = sample_text(message);
    if (!text) return fail(std::move(text.error()));
    const bool is_models = json_text(message, "role") == "assistant";
    prompt += (prompt.empty() ? "" : "\n\n") + std::string(is_models ? "Assistant: " : "User: ") + *text;
  }
  return prompt;
}

ModelOptions sample_options(const Json& params) {
  ModelOptions options;
  options.max_output_tokens =
      std::clamp<std::int64_t>(json_int(params, "maxTokens", kMostSampleTokens), 1, kMostSampleTokens);
  if (const Json& temperature = json_at(params, "temperature"); temperature.is_number())
    options.temperature = json_double(params, "temperature");
  if (const JsonArray* const stops = json_at(params, "stopSequences").if_array()) {
    for (const Json& each : *stops) {
      const bool fits =
          each.is_string() && !each.get_string().empty() && options.stop.size() < kMostSampleStops;
      if (fits) options.stop.emplace_back(each.get_string());
    }
  }
  return options;
}

/// The id has a digest of the request: a handler that runs again finds the sub-agent that answered it.
AgentSpec sampling_agent(const std::string& server, const Json& params) {
  AgentSpec spec;
  spec.id = server + "-sampling-" + digest_of(to_json_text(params)).hex(kSampleDigestBytes);
  spec.description = "answers the MCP server \"" + server + '"';
  spec.instructions = json_string(params, "systemPrompt");
  spec.options = sample_options(params);
  return spec;
}

}  // namespace

bool asks_for_sample(const Json& request) { return json_text(request, "method") == kMcpSampling; }

std::string sample_question(const std::string& server, const Json& request) {
  const Json& params = json_at(request, "params");
  const std::string instructions = json_string(params, "systemPrompt");
  const auto prompt = sample_prompt(params);
  std::string text = "The MCP server \"" + server + "\" asks for an answer of the model";
  if (!instructions.empty())
    text += ", with the instructions: " + visible_text(utf8_head(instructions, kMostSampleShown));
  text += "\n" + visible_text(utf8_head(prompt ? *prompt : prompt.error().message, kMostSampleShown));
  return text + "\nAny word as the answer allows it; the server reads what the model says.";
}

Result<Json> sample(ToolContext& context, const std::string& server, const Json& request) {
  const Json& params = json_at(request, "params");
  for (const char* key : {"tools", "toolChoice"}) {
    if (!json_at(params, key).is_null()) return no_sample("tools");
  }
  auto prompt = sample_prompt(params);
  if (!prompt) return fail(std::move(prompt.error()));
  SubAgent agent = context.spawn(sampling_agent(server, params));
  if (auto started = agent.start(*std::move(prompt)); !started) return fail(std::move(started.error()));
  auto report = agent.report();
  if (!report) return fail(std::move(report.error()));
  const bool is_cut = report->reason == StopReason::kOutputLimit;
  if (!is_cut) report = finished(std::move(report));
  if (!report) return fail(std::move(report.error()));
  return JsonObject{{"role", "assistant"},
                    {"content", JsonObject{{"type", "text"}, {"text", report->text}}},
                    {"model", report->model},
                    {"stopReason", is_cut ? "maxTokens" : "endTurn"}};
}

}  // namespace praxis
