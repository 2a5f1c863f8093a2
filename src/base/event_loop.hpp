// The event loop of an executor, for code that waits for sockets.
#pragma once

#include "praxis/base/executor.hpp"

namespace praxis {

/// What happened to a watched descriptor since its watcher was last called.
struct Readiness {
  bool readable = false;  ///< bytes, the end of the input or an error can be read
  bool writable = false;  ///< it can be written to, or has failed
  bool ended = false;     ///< the peer has closed its side, or the connection is broken
};

/// One thread at a time runs the loop, so state that only watchers and posted tasks touch needs no lock. It
/// lives as long as its executor.
class EventLoop {
 public:
  /// Called on the thread that runs the loop.
  class Watcher {
   public:
    /// Reports each change once (edge-triggered): read until no bytes are left and write until the socket
    /// accepts no more, or there may be no further call. A read that fills less than its buffer has emptied
    /// the socket, unless `ended` was reported.
    virtual void on_ready(Readiness ready) = 0;

   protected:
    ~Watcher() = default;
  };

  virtual ~EventLoop() = default;
  /// Watches a non-blocking descriptor until `unwatch`. Returns false and sets `errno` when the kernel
  /// refuses. Call this and `unwatch` only where `runs_here`.
  virtual bool watch(int descriptor, Watcher& watcher) = 0;
  /// Stops the calls of `watcher`. Call it before closing the descriptor.
  virtual void unwatch(int descriptor, Watcher& watcher) = 0;
  /// Whether the calling thread runs the loop: no task or watcher runs elsewhere until it returns to the
  /// loop.
  virtual bool runs_here() const = 0;
};

/// Returns the event loop of an executor from `make_executor`; null for other executors.
EventLoop* event_loop_of(Executor& executor);

}  // namespace praxis
