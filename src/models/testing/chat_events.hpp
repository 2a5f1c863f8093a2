// For tests of what the chat protocol answers: the events of a stream, and a short text for what was read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/wire/chat/response.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {

inline std::string describe(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part)) return "text(" + text->text + ")";
  if (const auto* reasoning = std::get_if<ReasoningPart>(&part)) return "reasoning(" + reasoning->text + ")";
  if (const auto* refusal = std::get_if<RefusalPart>(&part)) return "refusal(" + refusal->text + ")";
  if (const auto* call = std::get_if<ToolCallPart>(&part)) {
    return std::string(call->valid ? "call" : "invalid") + "(" + call->id.value + "," + call->name + "," +
           call->arguments + ")";
  }
  return "opaque";
}

inline std::string describe(const Result<ModelResponse>& response) {
  if (!response) return "error " + json_string(response.error().detail(), "kind");
  std::string out;
  for (const Part& part : response->parts) out += describe(part) + " ";
  return out + std::string(to_string(response->finish));
}

inline const CodecTarget kTarget{.provider = "openai", .model = "m", .dialect = nullptr, .facts = {}};
inline const Dialect kDialect;

using Events = std::vector<std::string>;

inline Result<ModelResponse> read(const Events& events, ModelSink* deltas = nullptr) {
  ResponseReader reader(kTarget, kDialect,
                        {.deltas = deltas, .call_prefix = "new_", .call_taken = [](std::string_view id) {
                           return id == "used";
                         }});
  for (const std::string& event : events) {
    if (const Status status = reader.read_event("", event); !status) return fail(status.error());
  }
  return reader.finish();
}

inline Result<ModelResponse> read_whole(std::string_view body) {
  ResponseReader reader(kTarget, kDialect, {.deltas = nullptr, .call_prefix = "new_", .call_taken = {}});
  if (const Status status = reader.read_whole(body); !status) return fail(status.error());
  return reader.finish();
}

inline std::string chunk(std::string_view delta, std::string_view finish = "null") {
  return R"({"id":"r1","model":"gpt-x","choices":[{"index":0,"delta":)" + std::string(delta) +
         R"(,"finish_reason":)" + std::string(finish) + "}]}";
}
inline std::string fragments(std::string_view calls) {
  return chunk(R"({"tool_calls":[)" + std::string(calls) + "]}");
}

inline const std::string kStop = chunk("{}", "\"stop\"");
inline const std::string kCalls = chunk("{}", "\"tool_calls\"");
inline const std::string kDone = "[DONE]";

}  // namespace praxis::wire::chat
