// What the tool `send_message` needs of the session that calls it.
#pragma once

#include <string>

#include "praxis/base/result.hpp"
#include "praxis/tools/send_message_tool.hpp"

namespace praxis {

/// A `CallScope` that can send messages is one of these too. Thread-safe.
class MessageScope {
 public:
  virtual ~MessageScope() = default;
  /// Sends `text` to another agent of the tree, and returns what the sender is to know about it. Errors:
  /// `kInput`, no such agent, or several; `kLimit`, the bounds.
  virtual Result<std::string> send_message(const std::string& agent, const std::string& text,
                                           const MessageBounds& bounds) = 0;
};

}  // namespace praxis
