// Reads lines that the user types on standard input.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

namespace praxis::cli {

/// Standard input as lines. One thread at a time.
class LineInput {
 public:
  /// Waits for a line; returns it without the white space around it. `std::nullopt` at the end of standard
  /// input, or once a stop is requested.
  std::optional<std::string> read(const std::stop_token& stop);

 private:
  std::string typed_;  ///< read beyond the last line
};

}  // namespace praxis::cli
