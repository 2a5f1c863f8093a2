// An agent of another maker that speaks the Agent Client Protocol (version 1) as tools of ours: a program
// that a call starts, works with and ends. What it says is foreign text: bounded, and never trusted for
// safety.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "praxis/mcp/mcp_client.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// Upper bounds of what is accepted from the program in one call.
struct AcpBounds {
  std::size_t message_bytes = std::size_t{16} << 20;     ///< of one message; a longer one ends the call
  std::size_t message_depth = 64;                        ///< nested arrays and objects of a message
  std::uint64_t total_bytes = std::uint64_t{256} << 20;  ///< of all messages
  std::size_t result_bytes = std::size_t{256} << 10;     ///< text of the answer; the rest is cut off
  std::size_t error_bytes = 2000;                        ///< of what it reports as an error
  std::size_t action_bytes = std::size_t{64} << 10;      ///< of one action that it asks permission for
  std::size_t actions = 256;                             ///< that are remembered, and requests that wait
};

/// An agent and how its program is started.
struct AcpAgent {
  std::string name;         ///< the tools are `NAME__ask` and `NAME__permission`
  std::string description;  ///< what the model reads about the agent
  McpProgram program;
  std::string folder = "/";  ///< the agent's workspace; absolute
  Millis start{30'000};      ///< until the agent has a session
  Millis timeout{10 *
                 60'000};  ///< from the prompt to the answer, without the time in which it waits for a human
  /// Whether what it asks permission for waits for an approval unless a rule allows it.
  bool asks = true;
  AcpBounds bounds = {};
};

/// `NAME__ask` gives the agent a prompt and returns its answer. What the agent asks permission for is a call
/// of `NAME__permission`, whose rules decide: it runs nothing itself. Error `kInput`: a name that is no tool
/// name.
Result<std::vector<Tool>> acp_tools(AcpAgent agent);

}  // namespace praxis
