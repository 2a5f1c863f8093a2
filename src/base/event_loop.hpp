// The event loop of an executor, for those in this room who wait for sockets.
#pragma once

#include <boost/asio/io_context.hpp>

#include "praxis/base/executor.hpp"

namespace praxis {

/// One thread at a time runs it, so what only its handlers touch needs no lock. It lives as long as its
/// executor.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  virtual boost::asio::io_context& io() = 0;
  /// The calling thread runs the loop: no handler runs elsewhere until it returns to the loop.
  virtual bool runs_here() const = 0;
};

/// That of an executor from `make_executor`; null for others.
EventLoop* event_loop_of(Executor& executor);

}  // namespace praxis
