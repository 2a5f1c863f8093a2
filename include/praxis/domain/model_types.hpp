// Input and output of a model call, independent of the vendor.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/domain/usage.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// How a model turn ended.
enum class FinishReason : std::uint8_t {
  kStop,
  kLength,
  kToolCalls,
  kContentFilter,
  kRefusal,
  kPause,
  kStopSequence,
  kContextWindow,
  kMalformedToolCall,
  kError,
  kOther,
};
std::string_view to_string(FinishReason reason);
FinishReason finish_reason_from(std::string_view name);

/// Sampling and output settings; an empty optional keeps the vendor's default.
struct ModelOptions {
  std::optional<double> temperature;
  std::optional<std::int64_t> max_output_tokens;
  std::string tool_choice;  ///< empty or `auto`, `none`, `required`, or a tool's name
  /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; empty: the vendor's default.
  std::string reasoning_effort;
  std::vector<std::string> stop;  ///< the answer ends before any of these
  Json output_schema;             ///< JSON Schema that the answer's text must meet; null: free text
  /// Vendor settings by wire name, merged into the request; null if unset.
  Json extra;
  bool operator==(const ModelOptions&) const = default;
};
Json to_json(const ModelOptions& options);
ModelOptions model_options_from_json(const Json& json);

/// The content of a completed assistant turn.
struct ModelResponse {
  std::vector<Part> parts;  ///< in the order the model produced them
  FinishReason finish = FinishReason::kStop;
  std::string finish_raw;
  Usage usage;
  /// The usage of failed attempts at this answer, such as those of a router's other models. Not part of
  /// `usage`.
  Usage failed_usage = {};
  std::string model;  ///< as the vendor named it in the response
  std::string response_id;
  std::string request_id;  ///< for the vendor's support
  std::vector<std::string> warnings;
};
Json to_json(const ModelResponse& response);
Result<ModelResponse> model_response_from_json(const Json& json);

/// Parts of a response while it streams. `item` numbers the parts of the turn from 0.
struct TextChunk {
  std::string_view text;
  std::uint32_t item = 0;
};
struct ReasoningChunk {
  std::string_view text;
  std::uint32_t item = 0;
  bool summary = false;
};
struct ToolCallChunk {
  std::string_view id, name;
  std::uint32_t item = 0;
};
struct ToolArgumentsChunk {
  std::string_view bytes;
  std::uint32_t item = 0;
};
/// Text in which the model declines to answer.
struct RefusalChunk {
  std::string_view text;
  std::uint32_t item = 0;
};
/// A vendor-specific event, such as the progress of a search on the vendor's side: the event's JSON text.
struct ProviderEvent {
  std::string_view raw;
};
/// Everything received before is void: the call starts again, possibly with another model.
struct Restarted {
  std::string_view reason;
};
/// Bytes without content arrived, which show that the connection is alive.
struct KeepAlive {};
/// The request is held back because the server would refuse it now.
struct HeldBack {
  std::chrono::milliseconds expected{0};  ///< 0: unknown
};
/// A piece of a model's response; the views are valid during the call only.
using ModelDelta = std::variant<TextChunk, ReasoningChunk, ToolCallChunk, ToolArgumentsChunk, RefusalChunk,
                                ProviderEvent, Restarted, KeepAlive, HeldBack>;

}  // namespace praxis
#pragma GCC visibility pop
