// The same recorded stream as it might have come otherwise: cut elsewhere, with other line ends, with noise
// between its events, or broken off.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/recording.hpp"

namespace praxis::wire {

std::vector<std::string_view> single_bytes(std::string_view body);
/// Pieces of 1 to 64 bytes, the same for the same seed.
std::vector<std::string_view> random_pieces(std::string_view body, std::uint64_t seed);
/// Every line end as CRLF.
std::string with_crlf(std::string_view body);

/// Where events end: offsets behind their blank line, or behind the line for streams of lines.
std::vector<std::size_t> event_ends(const RecordedResponse& response);

/// With a comment, a ping and an event that nobody knows at every boundary.
std::string with_noise(const RecordedResponse& response, std::string_view api);
/// With a field that nobody knows in every event.
std::string with_unknown_fields(const RecordedResponse& response);

/// Whether the protocol's end of an answer stands in the first bytes of a stream.
bool has_terminal_marker(std::string_view api, std::string_view stream);

}  // namespace praxis::wire
