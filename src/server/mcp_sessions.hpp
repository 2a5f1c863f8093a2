// The sessions of MCP clients that begin with a handshake, and the calls of all MCP clients: what cancels a
// call, and what does not. They last as long as the server; the runs of the calls are in the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "praxis/base/environment.hpp"
#include "praxis/base/ids.hpp"

namespace praxis::server {

/// A call that a client waits for. Thread-safe.
class McpRunningCall {
 public:
  /// The run of the call, before its first record.
  void set_run(SessionId run);
  /// The call has ended, or waits for people: nothing cancels it any more.
  void end();
  bool has_ended() const;
  /// The client cancels the call. Returns the run to interrupt; empty if the call has ended or has not begun.
  SessionId cancel();
  bool is_cancelled() const;

 private:
  mutable std::mutex mutex_;  // guards the next members
  SessionId run_;
  bool has_ended_ = false, is_cancelled_ = false;
};

/// Thread-safe.
class McpSessions {
 public:
  static constexpr std::size_t kMostOfAccount = 1000;

  explicit McpSessions(std::shared_ptr<Environment> environment) : environment_(std::move(environment)) {}

  /// Opens a session of an account, in place of the one that was unused for the longest time if it has too
  /// many. Returns its id, which cannot be guessed.
  std::string open(const std::string& account);
  /// Whether the account has this session, which is used now.
  bool use(const std::string& session, const std::string& account);
  /// Returns false if the account has no such session. Its calls go on.
  bool end(const std::string& session, const std::string& account);

  /// Begins the call of a request; `request` is the text of its id, and `session` empty for a client without
  /// one. Null: a request with this id is running in the session.
  std::shared_ptr<McpRunningCall> begin_call(const std::string& session, const std::string& request);
  /// The call of a request that is running; null: no call runs.
  std::shared_ptr<McpRunningCall> call_of(const std::string& session, const std::string& request);

  /// The server ends: a connection that ends from now on cancels nothing.
  void stop();
  bool is_stopped() const;

 private:
  struct Entry {
    std::string account;
    std::uint64_t used = 0;
    std::map<std::string, std::weak_ptr<McpRunningCall>> calls = {};
  };
  void make_room(const std::string& account);

  const std::shared_ptr<Environment> environment_;
  mutable std::mutex mutex_;  // guards the next members
  std::map<std::string, Entry> sessions_;
  std::uint64_t uses_ = 0;
  bool stopped_ = false;
};

}  // namespace praxis::server
