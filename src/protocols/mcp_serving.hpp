// An MCP server on a pair of descriptors: tools whose calls are carried out by a function. Speaks version
// 2026-07-28 and, with clients that begin with a handshake, 2025-11-25 and earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/domain/trace.hpp"
#include "praxis/json/json.hpp"
#include "protocols/mcp_reading.hpp"

namespace praxis::protocols {

/// A tool as clients see it.
struct ServedTool {
  std::string name;
  std::string description;
  Json parameters;
};

/// One call of a client.
struct ServedCall {
  std::string tool;
  Json arguments;
  std::stop_token stop;  ///< the client has cancelled the call or has gone
  /// Reports what happens; null if the client does not want to know.
  std::function<void(const std::string& text)> progress;
  TraceContext caller;  ///< the client's span; empty if it named none
};

/// The answer to a call.
struct ServedAnswer {
  std::string text;
  Json structured;  ///< null: none
  bool is_error = false;
};

struct McpServing {
  std::string version;  ///< of the program, for clients
  std::string instructions;
  std::vector<ServedTool> tools;
  /// Carries out a call. Runs on a thread of the call; several run at the same time.
  std::function<ServedAnswer(const ServedCall&)> call;
  McpReading reading;                             ///< answered by the thread that reads requests
  std::size_t max_calls = 16;                     ///< at the same time; further ones are refused
  std::size_t max_line_bytes = 16 * 1024 * 1024;  ///< a longer message ends the serving
};

/// Serves until the end of `in` or a stop request, then stops the calls that are running and waits for them.
/// Errors: `kInput` for a message that is too long, `kInternal` when `in` cannot be read.
Status serve_mcp(const McpServing& serving, int in, int out, const std::stop_token& stop);

}  // namespace praxis::protocols
