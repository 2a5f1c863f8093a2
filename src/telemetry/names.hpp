// The names of attributes in traces and metrics: one table, with a column for each convention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::telemetry {

/// Whose names the attributes have.
enum class Convention : std::uint8_t {
  kGenAi136,       ///< GenAI semantic conventions of OpenTelemetry, 1.36
  kGenAi138,       ///< the same, 1.38: other names for providers, and names for content
  kOpenInference,  ///< those of OpenInference
};
/// `genai-1.36`, `genai-1.38`, `openinference`.
std::string_view to_string(Convention convention);
std::optional<Convention> convention_from(std::string_view name);
std::vector<std::string> convention_names();
/// The schema of a convention's names; empty if it has none.
std::string_view schema_of(Convention convention);

/// What an attribute says.
enum class Key : std::uint8_t {
  kOperation,
  kProvider,
  kRequestModel,
  kResponseModel,
  kResponseId,
  kFinishReasons,
  kTemperature,
  kMaxTokens,
  kStopSequences,
  kInputTokens,
  kOutputTokens,
  kTotalTokens,
  kCacheReadTokens,
  kCacheWriteTokens,
  kReasoningTokens,
  kCost,
  kConversation,
  kAgentId,
  kAgentName,
  kAgentDescription,
  kToolName,
  kToolCall,
  kToolType,
  kToolDescription,
  kToolArguments,
  kToolResult,
  kInstructions,
  kInput,
  kOutput,
  kErrorType,
  kTurn,
  kStep,
  kAttempt,
  kEffect,
  kDepth,
  kPurpose,
  kStopReason,
  kWaitKind,
  kDecision,
  kIncomplete,
  kEstimated,
  kTokenType,
};

/// The name of an attribute; empty if the convention has none, and the attribute is left out.
std::string_view name_of(Key key, Convention convention);

/// What a span stands for.
enum class Operation : std::uint8_t { kInvokeAgent, kChat, kExecuteTool, kWait };
/// The value of `Key::kOperation`: `invoke_agent`, `chat`, ...; in OpenInference the kind of the span.
std::string_view name_of(Operation operation, Convention convention);

/// The well-known name of a provider, such as `gcp.gemini` for `google`; others keep their own.
std::string provider_name(std::string_view provider);

}  // namespace praxis::telemetry
