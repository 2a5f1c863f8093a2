// The only network access of programs that run without a network: an HTTP proxy in this process, reached over
// one Unix socket. A request is parsed once; the rules judge that parsed host, the same host is looked up and
// connected to, and every address it resolves to is judged before a connection is made. A redirect is a new
// request of the client and judged like any other.
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

/// Decides where clients may connect. Both functions are called on several threads at once; a missing one
/// allows nothing.
struct EgressRules {
  /// Judges host and port. A tunnel has the scheme https, regardless of what it carries.
  std::function<bool(const Url& url)> allows;
  /// Judges one address (text form, IPv4 or IPv6) of a host that `allows` has allowed.
  std::function<bool(const Url& url, std::string_view address)> allows_address;
};

/// The decision on one request, before any connection is made.
struct EgressVerdict {
  /// As judged; empty if the request named no usable host.
  std::string host;
  std::uint16_t port = 0;  ///< 0 when `host` is empty
  bool allowed = false;
  /// One line of printable ASCII, as sent to the client; empty when allowed.
  std::string reason;
};

struct EgressOptions {
  /// Absolute, at most 107 bytes. Its folder must not exist yet: the proxy creates it for the socket alone.
  std::string socket_path;
  /// Another user who may connect, such as the user whose rights a tool runs with; needs the right to change
  /// the owner of files. Default: only this process's own user.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
  };
  std::optional<Owner> owner;

  EgressRules rules;
  /// The end of the sentence that a refused client reads.
  std::string how_to_allow = "add it to the hosts that this tool may reach";
  /// Called once for every request that was read, on several threads at once. May be empty.
  std::function<void(const EgressVerdict&)> on_verdict;

  std::size_t max_connections = 64;                ///< at once; further ones are queued
  std::chrono::milliseconds head_time{10'000};     ///< for a client to send its whole request head
  std::chrono::milliseconds connect_time{10'000};  ///< name look-up and TCP together
  std::chrono::milliseconds idle_time{60'000};     ///< without a byte in either direction
  /// Limit of one connection, both directions together; the proxy cuts it when more would pass.
  /// `std::nullopt`: no limit.
  std::optional<std::uint64_t> max_bytes;
};

/// Serves `CONNECT host:port` and absolute-form `http://` requests, one per connection, from `start` until
/// destruction. The destructor cuts open connections, waits for its threads (well below 100 ms, unless a
/// callback blocks) and removes the socket and its folder. Thread-safe.
///
/// Responses to a client: 403 for what the rules refuse, with a line that says what, why and what to do; 400
/// for a malformed request; 408, 411 (a body without Content-Length), 431, 502, 503, 504 with their usual
/// meaning.
class EgressProxy {
 public:
  /// Error: `kInput` for an unusable path, `kTool` when the socket cannot be created.
  static Result<std::unique_ptr<EgressProxy>> start(EgressOptions options);
  virtual ~EgressProxy() = default;
  virtual const std::string& socket_path() const = 0;
};

/// The path of a socket in a new folder of its own below `folder`; `id` is unique.
std::string new_proxy_path(const std::string& folder, const std::string& id);
/// Removes what proxies of killed processes left below `folder`: folders of this user, of at least that age
/// and named by `new_proxy_path`, in which no process listens. Ignores errors.
void remove_ended_proxies(const std::string& folder,
                          std::chrono::seconds least_age = std::chrono::minutes(1));

}  // namespace praxis
