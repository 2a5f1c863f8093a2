#include "telemetry/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace praxis::telemetry {
namespace {

constexpr std::size_t kConventions = 3;
constexpr std::array<std::string_view, kConventions> kConventionNames{"genai-1.36", "genai-1.38",
                                                                      "openinference"};
constexpr std::array<std::string_view, kConventions> kSchemas{"https://opentelemetry.io/schemas/1.36.0",
                                                              "https://opentelemetry.io/schemas/1.38.0", ""};

struct Row {
  Key key;
  std::array<std::string_view, kConventions> names;
};

/// A name that all conventions share, because it is ours or of OpenTelemetry in general.
constexpr Row same(Key key, std::string_view name) { return {key, {name, name, name}}; }

constexpr std::array kRows{
    Row{Key::kOperation, {"gen_ai.operation.name", "gen_ai.operation.name", "openinference.span.kind"}},
    Row{Key::kProvider, {"gen_ai.system", "gen_ai.provider.name", "llm.provider"}},
    Row{Key::kRequestModel, {"gen_ai.request.model", "gen_ai.request.model", "llm.model_name"}},
    Row{Key::kResponseModel, {"gen_ai.response.model", "gen_ai.response.model", ""}},
    Row{Key::kResponseId, {"gen_ai.response.id", "gen_ai.response.id", ""}},
    Row{Key::kFinishReasons, {"gen_ai.response.finish_reasons", "gen_ai.response.finish_reasons", ""}},
    Row{Key::kTemperature, {"gen_ai.request.temperature", "gen_ai.request.temperature", ""}},
    Row{Key::kMaxTokens, {"gen_ai.request.max_tokens", "gen_ai.request.max_tokens", ""}},
    Row{Key::kStopSequences, {"gen_ai.request.stop_sequences", "gen_ai.request.stop_sequences", ""}},
    Row{Key::kInputTokens,
        {"gen_ai.usage.input_tokens", "gen_ai.usage.input_tokens", "llm.token_count.prompt"}},
    Row{Key::kOutputTokens,
        {"gen_ai.usage.output_tokens", "gen_ai.usage.output_tokens", "llm.token_count.completion"}},
    Row{Key::kTotalTokens, {"", "", "llm.token_count.total"}},
    Row{Key::kCacheReadTokens,
        {"", "gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"}},
    Row{Key::kCacheWriteTokens,
        {"", "gen_ai.usage.cache_creation.input_tokens", "llm.token_count.prompt_details.cache_write"}},
    Row{Key::kReasoningTokens,
        {"praxis.usage.reasoning_tokens", "praxis.usage.reasoning_tokens",
         "llm.token_count.completion_details.reasoning"}},
    Row{Key::kCost, {"praxis.cost.usd", "praxis.cost.usd", "llm.cost.total"}},
    Row{Key::kConversation, {"gen_ai.conversation.id", "gen_ai.conversation.id", "session.id"}},
    Row{Key::kAgentId, {"gen_ai.agent.id", "gen_ai.agent.id", "graph.node.id"}},
    Row{Key::kAgentName, {"gen_ai.agent.name", "gen_ai.agent.name", "agent.name"}},
    Row{Key::kAgentDescription, {"gen_ai.agent.description", "gen_ai.agent.description", ""}},
    Row{Key::kToolName, {"gen_ai.tool.name", "gen_ai.tool.name", "tool.name"}},
    Row{Key::kToolCall, {"gen_ai.tool.call.id", "gen_ai.tool.call.id", "tool.id"}},
    Row{Key::kToolType, {"gen_ai.tool.type", "gen_ai.tool.type", ""}},
    Row{Key::kToolDescription, {"gen_ai.tool.description", "gen_ai.tool.description", "tool.description"}},
    Row{Key::kToolArguments, {"", "gen_ai.tool.call.arguments", "input.value"}},
    Row{Key::kToolResult, {"", "gen_ai.tool.call.result", "output.value"}},
    Row{Key::kInstructions, {"", "gen_ai.system_instructions", "llm.system_instructions"}},
    Row{Key::kInput, {"", "gen_ai.input.messages", "input.value"}},
    Row{Key::kOutput, {"", "gen_ai.output.messages", "output.value"}},
    same(Key::kErrorType, "error.type"),
    same(Key::kTurn, "praxis.turn"),
    same(Key::kStep, "praxis.step"),
    same(Key::kAttempt, "praxis.attempt"),
    same(Key::kEffect, "praxis.effect"),
    same(Key::kDepth, "praxis.depth"),
    same(Key::kPurpose, "praxis.purpose"),
    same(Key::kStopReason, "praxis.stop_reason"),
    same(Key::kWaitKind, "praxis.wait.kind"),
    same(Key::kDecision, "praxis.wait.decision"),
    same(Key::kIncomplete, "praxis.incomplete"),
    same(Key::kEstimated, "praxis.usage.estimated"),
    same(Key::kTokenType, "gen_ai.token.type"),
};

struct OperationRow {
  Operation operation;
  std::string_view gen_ai, open_inference;
};
constexpr std::array kOperations{
    OperationRow{Operation::kInvokeAgent, "invoke_agent", "AGENT"},
    OperationRow{Operation::kChat, "chat", "LLM"},
    OperationRow{Operation::kExecuteTool, "execute_tool", "TOOL"},
    OperationRow{Operation::kWait, "wait", "CHAIN"},
};

/// Providers that the conventions name otherwise than the catalogue does.
constexpr std::array kProviders{
    std::pair<std::string_view, std::string_view>{"google", "gcp.gemini"},
    std::pair<std::string_view, std::string_view>{"vertex", "gcp.vertex_ai"},
    std::pair<std::string_view, std::string_view>{"anthropic-vertex", "gcp.vertex_ai"},
    std::pair<std::string_view, std::string_view>{"azure", "azure.ai.openai"},
    std::pair<std::string_view, std::string_view>{"mistral", "mistral_ai"},
    std::pair<std::string_view, std::string_view>{"xai", "x_ai"},
};

}  // namespace

std::string_view to_string(Convention convention) {
  return kConventionNames.at(static_cast<std::size_t>(convention));
}

std::optional<Convention> convention_from(std::string_view name) {
  const auto found = std::ranges::find(kConventionNames, name);
  if (found == kConventionNames.end()) return std::nullopt;
  return static_cast<Convention>(found - kConventionNames.begin());
}

std::vector<std::string> convention_names() { return {kConventionNames.begin(), kConventionNames.end()}; }

std::string_view schema_of(Convention convention) {
  return kSchemas.at(static_cast<std::size_t>(convention));
}

std::string_view name_of(Key key, Convention convention) {
  const auto found = std::ranges::find(kRows, key, &Row::key);
  return found == kRows.end() ? "" : found->names.at(static_cast<std::size_t>(convention));
}

std::string_view name_of(Operation operation, Convention convention) {
  const auto* const found = std::ranges::find(kOperations, operation, &OperationRow::operation);
  return convention == Convention::kOpenInference ? found->open_inference : found->gen_ai;
}

std::string provider_name(std::string_view provider) {
  const auto known = [](std::string_view name) -> std::string_view {
    for (const auto& [ours, theirs] : kProviders) {
      if (ours == name) return theirs;
    }
    return {};
  };
  if (const auto name = known(provider); !name.empty()) return std::string(name);
  for (const std::string_view protocol : {"-chat", "-responses", "-anthropic"}) {
    if (provider.ends_with(protocol)) provider.remove_suffix(protocol.size());
  }
  const auto name = known(provider);
  return std::string(name.empty() ? provider : name);
}

}  // namespace praxis::telemetry
