// What goes into a model call and what comes out, whoever the vendor is.
#pragma once

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

/// Sampling and output settings; an empty optional leaves the vendor's default.
struct ModelOptions {
  std::optional<double> temperature;
  std::optional<std::int64_t> max_output_tokens;
  std::string tool_choice;  ///< empty or `auto`, `none`, `required`, or a tool's name
  std::string
      reasoning_effort;  ///< `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; empty: default
  std::vector<std::string> stop;  ///< the answer ends before any of these
  Json output_schema;             ///< JSON Schema that the answer's text has to meet; null: free text
  Json extra;  ///< vendor settings by wire name, merged into the request; null when there are none
  bool operator==(const ModelOptions&) const = default;
};
Json to_json(const ModelOptions& options);
ModelOptions model_options_from_json(const Json& json);

/// What one assistant turn amounted to, once it has settled.
struct ModelResponse {
  std::vector<Part> parts;  ///< in the order the model produced them
  FinishReason finish = FinishReason::kStop;
  std::string finish_raw;
  Usage usage;
  std::string model;  ///< as the vendor named it in its answer
  std::string response_id;
  std::string request_id;  ///< what the vendor's support asks for
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
/// Words in which the model declines.
struct RefusalChunk {
  std::string_view text;
  std::uint32_t item = 0;
};
/// Something of the vendor's own, such as the progress of a search on its side: the event's JSON text.
struct ProviderEvent {
  std::string_view raw;
};
/// What came before is void: the call starts again, perhaps with another model.
struct Restarted {
  std::string_view reason;
};
/// Bytes arrived that mean nothing but that the model is alive.
struct KeepAlive {};
/// What a model says while it answers; the views live for the call only.
using ModelDelta = std::variant<TextChunk, ReasoningChunk, ToolCallChunk, ToolArgumentsChunk, RefusalChunk,
                                ProviderEvent, Restarted, KeepAlive>;

}  // namespace praxis
