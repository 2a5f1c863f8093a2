// Name look-ups and connections with a limit on time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/egress_proxy_message.hpp"
#include "net/egress_proxy_wait.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// Addresses in text form, IPv4 or IPv6, best first.
using Addresses = std::vector<std::string>;
/// Looks up a host; may block without limit.
using NameLookUp = std::function<Result<Addresses>(const std::string& host)>;

/// Looks up a host with getaddrinfo. Error: `kTool` if the name does not exist.
Result<Addresses> system_look_up(const std::string& host);

/// Looks up names with a limit on time, although the look-up itself has none: it runs on a thread of its own,
/// which ends by itself after its waiter has given up. Thread-safe; may be destroyed while such threads still
/// run, but the captures of `look_up` must outlive them.
class Resolver {
 public:
  explicit Resolver(NameLookUp look_up = system_look_up, std::size_t max_look_ups = 64);
  /// Refuses with 502 for an unknown name, 504 when the look-up takes too long, 503 when too many look-ups
  /// are running.
  Egress<Addresses> addresses_of(const std::string& host, const Patience& patience);

 private:
  const NameLookUp look_up_;
  const std::size_t max_look_ups_;
  const std::shared_ptr<std::atomic<std::size_t>> under_way_;
};

/// Connects to the first of `addresses` that accepts; returns a non-blocking socket. The addresses share the
/// time that is left. Refuses with 502, or 504 when time ran out; `name` is the target as the refusal's text
/// shows it.
Egress<FileDescriptor> dial_first(const Addresses& addresses, std::uint16_t port, const std::string& name,
                                  const Patience& patience);

}  // namespace praxis
