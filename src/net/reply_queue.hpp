// The bytes of one answer on their way from any thread to the connection that sends them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_server.hpp"

namespace praxis {

/// What a connection has to send next.
struct Outgoing {
  std::vector<SharedBytes> bytes;
  bool finished = false;         ///< nothing follows
  bool ends_connection = false;  ///< the connection closes after it
};

/// Any thread fills it, the connection empties it on the I/O thread. No lock is held while a task runs.
class ReplyQueue {
 public:
  /// The request that is answered.
  struct Question {
    bool is_head = false;  ///< the answer has no body
    bool keep_alive = true;
  };
  /// `wake` is called, on any thread, when there is something new to send.
  ReplyQueue(Question question, Task wake) : question_(question), wake_(std::move(wake)) {}

  void add_headers(HttpHeaders headers);
  void send(HttpAnswer answer);
  void begin(int status, const HttpHeaders& headers);
  bool write(SharedBytes bytes);
  void begin_socket(const std::string& key, const HttpHeaders& headers);
  /// `last` is sent before the end, if the answer has not ended before.
  void finish(SharedBytes last = nullptr);
  bool ended() const;
  std::size_t waiting() const;
  void on_gone(Task task);
  void probe_with(SharedBytes bytes);

  // Called by the connection.
  /// Takes what is to be sent.
  Outgoing take();
  /// Of what was taken, `bytes` were sent.
  void sent(std::size_t bytes);
  /// The connection has ended: drops what comes later.
  void leave();
  /// The client has ended its half of the connection.
  void probe();
  /// The connection ends with this answer, if it has not begun.
  void end_connection();
  /// Whether this is an answer of unknown length that has begun.
  bool streams() const;
  /// Whether the connection carries WebSocket frames from now on.
  bool is_socket() const;

 private:
  /// The head of an answer that ends with the connection. The caller holds the lock.
  SharedBytes begun_with(int status, const HttpHeaders& headers, std::string_view connection);
  /// Adds to the queue and wakes the connection. Takes the lock that the caller holds.
  void push(std::unique_lock<std::mutex> lock, SharedBytes bytes);

  mutable std::mutex mutex_;  // guards what follows
  Question question_;
  Task wake_;
  SharedBytes probe_;  ///< null: nothing, or sent already
  HttpHeaders added_;  ///< to those of the answer
  std::vector<SharedBytes> queue_;
  std::size_t waiting_ = 0;
  bool begun_ = false, streams_ = false, is_socket_ = false, finished_ = false, gone_ = false;
  bool woken_ = false;  ///< the connection has not taken yet what it was woken for
  std::vector<Task> when_gone_;
};

}  // namespace praxis
