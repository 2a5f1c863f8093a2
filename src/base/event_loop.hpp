// The event loop of an executor, for code that waits for sockets.
#pragma once

#include <boost/asio/io_context.hpp>

#include "praxis/base/executor.hpp"

namespace praxis {

/// One thread at a time runs the loop, so state that only its handlers touch needs no lock. It lives as long
/// as its executor.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  virtual boost::asio::io_context& io() = 0;
  /// Whether the calling thread runs the loop: then no handler runs elsewhere until it returns to the loop.
  virtual bool runs_here() const = 0;
};

/// Returns the event loop of an executor from `make_executor`; null for other executors.
EventLoop* event_loop_of(Executor& executor);

}  // namespace praxis
