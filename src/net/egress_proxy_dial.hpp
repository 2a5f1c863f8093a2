// Looking names up and connecting, each with an end to the wait.
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
/// Looks a host up; may block for as long as it likes.
using NameLookUp = std::function<Result<Addresses>(const std::string& host)>;

/// As the system does it (getaddrinfo). Error: `kTool` when there is no such name.
Result<Addresses> system_look_up(const std::string& host);

/// Looks names up with a limit on time, although the look-up itself knows none: it runs on a thread of its
/// own, which is left to end by itself when nobody waits for it any more. Thread-safe; may be destroyed
/// while such threads still run, but what `look_up` refers to must outlive them.
class Resolver {
 public:
  explicit Resolver(NameLookUp look_up = system_look_up, std::size_t max_look_ups = 64);
  /// Refused with 502 for an unknown name, 504 when it takes too long, 503 when the most look-ups that may
  /// be under way are.
  Egress<Addresses> addresses_of(const std::string& host, const Patience& patience);

 private:
  const NameLookUp look_up_;
  const std::size_t max_look_ups_;
  const std::shared_ptr<std::atomic<std::size_t>> under_way_;
};

/// A non-blocking connection to the first of `addresses` that accepts one; the time that is left is shared
/// out among them. Refused with 502, or 504 when time ran out; `name` says in the text what was dialled.
Egress<FileDescriptor> dial_first(const Addresses& addresses, std::uint16_t port, const std::string& name,
                                  const Patience& patience);

}  // namespace praxis
