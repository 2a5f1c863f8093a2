// Answers that are still being sent, so that they end when the token that asked for them does not stand any
// more.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/http_server.hpp"
#include "server/token_book.hpp"

namespace praxis::server {

/// Thread-safe.
class OpenStreams {
 public:
  /// An answer for a token that can cease to stand; null: the route has no right of its own. Keeps nothing
  /// alive.
  void add(const Principal& principal, const Right* right, bool is_socket, const HttpReply& reply);
  /// Ends those whose token does not stand any more, or has lost the right: with 401 if nothing was sent yet,
  /// a WebSocket with the code 1008.
  void end_unless(TokenBook& book);

 private:
  struct Stream {
    Principal principal;
    std::optional<Right> right;
    bool is_socket;
    std::weak_ptr<ReplyQueue> reply;
  };
  std::mutex mutex_;
  std::vector<Stream> streams_;
};

}  // namespace praxis::server
