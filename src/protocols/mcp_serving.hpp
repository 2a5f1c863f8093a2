// An MCP server on a pair of descriptors: tools whose calls are carried out by a function.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include "mcp/server_answers.hpp"

namespace praxis::protocols {

/// One call of a client.
struct ServedCall {
  std::string tool;
  Json arguments;
  std::stop_token stop;  ///< the client has cancelled the call or has gone
  /// Reports what happens; null if the client does not want to know.
  std::function<void(const std::string& text)> progress;
  TraceContext caller;  ///< the client's span; empty if it named none
};

struct McpServing {
  /// Its functions are called by the thread that reads requests.
  McpServed offer;
  /// Carries out a call. Runs on a thread of the call; several run at the same time.
  std::function<ServedAnswer(const ServedCall&)> call;
  /// Begins a call that is a task, and returns once that is durable. Runs on a thread of the call. Null if
  /// `offer` has no tasks.
  std::function<Result<ServedTask>(const ServedCall&)> begin = nullptr;
  std::size_t max_calls = 16;                     ///< at the same time; further ones are refused
  std::size_t max_line_bytes = 16 * 1024 * 1024;  ///< a longer message ends the serving
};

/// Serves until the end of `in` or a stop request, then stops the calls that are running and waits for them.
/// Errors: `kInput` for a message that is too long, `kInternal` when `in` cannot be read.
Status serve_mcp(const McpServing& serving, int in, int out, const std::stop_token& stop);

}  // namespace praxis::protocols
