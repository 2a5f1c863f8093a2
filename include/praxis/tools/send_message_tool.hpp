// The `send_message` tool: lets the agents of one tree write to each other while they work.
#pragma once

#include <cstdint>

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Bounds on the messages that an agent sends.
struct MessageBounds {
  std::uint32_t per_turn = 10;  ///< messages of one turn
  /// How far messages may lead to further ones: a message that an agent sends after it got one in the same
  /// turn has one hop more than that one.
  std::uint32_t hops = 4;
};

/// Takes `agent` (the id, path or session of another agent of the tree) and `text`. The text reaches the
/// other agent before its next model call, after a line that names the sender; the logs of both say so. A
/// call beyond the bounds fails with `kLimit`, one to an unknown agent with `kInput`. An agent without this
/// tool cannot send.
Tool send_message_tool(MessageBounds bounds = {});

}  // namespace praxis
#pragma GCC visibility pop
