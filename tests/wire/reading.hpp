// Reads a recorded response with our codecs and describes the result as one line of JSON.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "models/answer_parser.hpp"
#include "wire/endpoint.hpp"

namespace praxis::wire {

/// Prefix of the ids that are invented for calls without a usable one.
inline constexpr std::string_view kInventedCall = "invented-call-";

struct Reading {
  ModelResponse answer;  ///< what was read, up to the error if any
  std::optional<Error> error;
};

/// Reads a response that arrives in `pieces`.
Reading read_response(const Codec& codec, const HttpResponseHead& head,
                      std::span<const std::string_view> pieces);
/// Reads it in one piece.
Reading read_response(const Codec& codec, const RecordedResponse& response);

/// Returns `{i, api, status, stream, id, model, text, reasoning_text, tool_calls, refusal, finish_raw,
/// finish, usage, error, items, extra?}`. In `items`, long texts are `{len, sha256}`. A response that merely
/// breaks off has no `error` but `extra.broken_off`, which says how.
Json line_of(const Reading& reading, const RecordedEndpoint& endpoint, const Exchange& exchange);

}  // namespace praxis::wire
