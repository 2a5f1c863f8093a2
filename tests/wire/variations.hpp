// Variations of a recorded stream: cut at other places, with other line ends, with noise between its events,
// or broken off.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/recording.hpp"

namespace praxis::wire {

std::vector<std::string_view> single_bytes(std::string_view body);
/// Splits into pieces of 1 to 64 bytes, the same for the same seed.
std::vector<std::string_view> random_pieces(std::string_view body, std::uint64_t seed);
/// Converts every line end to CRLF.
std::string with_crlf(std::string_view body);

/// Returns the offsets where events end: after their blank line, or after the line in streams of lines.
std::vector<std::size_t> event_ends(const RecordedResponse& response);

/// Inserts a comment, a ping and an unknown event at every boundary.
std::string with_noise(const RecordedResponse& response, std::string_view api);
/// Adds an unknown field to every event.
std::string with_unknown_fields(const RecordedResponse& response);

/// Whether the first bytes of a stream contain the protocol's end of a response.
bool has_terminal_marker(std::string_view api, std::string_view stream);

}  // namespace praxis::wire
