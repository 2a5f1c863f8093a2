// The one way out for programs that run without a network: an HTTP proxy in this process, reached over one
// Unix socket. A request is parsed once; that parsed host is what the rules judge, what is looked up and
// what is dialled, and every address it resolves to is judged before a connection is made. A redirect is a
// request of the client's own and judged like any other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Who may go where. Both are called on several threads at once; one that is missing allows nothing.
struct EgressRules {
  /// Judges host and port. A tunnel has the scheme https, whatever it will carry.
  std::function<bool(const Url& url)> allows;
  /// Judges one address (text form, IPv4 or IPv6) of a host that `allows` let through.
  std::function<bool(const Url& url, std::string_view address)> allows_address;
};

/// What became of one request before anything was dialled.
struct EgressVerdict {
  std::string host;        ///< as judged; empty when the request named none that is usable
  std::uint16_t port = 0;  ///< 0 when `host` is empty
  bool allowed = false;
  std::string reason;  ///< one line of printable ASCII, as the client was told; empty when allowed
};

struct EgressOptions {
  /// Absolute, at most 107 bytes. Its folder must not exist yet: it is made for the socket alone.
  std::string socket_path;
  /// Who else may connect, such as the user a tool was dropped to; needs the right to give files away. By
  /// default only this process's own user.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
  };
  std::optional<Owner> owner;

  EgressRules rules;
  /// Ends the sentence that a refused client reads.
  std::string how_to_allow = "add it to the hosts that this tool may reach";
  /// Told once of every request that was read; called on several threads at once. May be empty.
  std::function<void(const EgressVerdict&)> on_verdict;

  std::size_t max_connections = 64;                ///< at once; further ones wait for their turn
  std::chrono::milliseconds head_time{10'000};     ///< for a client to send its whole request head
  std::chrono::milliseconds connect_time{10'000};  ///< name look-up and TCP together
  std::chrono::milliseconds idle_time{60'000};     ///< without a byte in either direction
  /// Of one connection, both directions together; it is cut when more would pass. Nothing: no limit.
  std::optional<std::uint64_t> max_bytes;
};

/// Serves `CONNECT host:port` and absolute-form `http://` requests, one to a connection, from `start` to its
/// destruction, which cuts what is under way, waits for its threads (well below 100 ms, unless a callback
/// blocks) and removes the socket and its folder. Thread-safe.
///
/// What a client sees: 403 for what the rules refuse, with a line that says what, why and what to do; 400
/// for what is no proper request; 408, 411 (a body without Content-Length), 431, 502, 503, 504 as usual.
class EgressProxy {
 public:
  /// Error: `kInput` for an unusable path, `kTool` when the socket cannot be made.
  static Result<std::unique_ptr<EgressProxy>> start(EgressOptions options);
  virtual ~EgressProxy() = default;
  virtual const std::string& socket_path() const = 0;
};

}  // namespace praxis
