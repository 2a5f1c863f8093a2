// One client connection of the egress proxy, from the first byte of its request to the end.
#pragma once

#include <string>
#include <utility>

#include "net/egress_proxy.hpp"
#include "net/egress_proxy_dial.hpp"
#include "net/egress_proxy_relay.hpp"
#include "net/egress_proxy_wait.hpp"

namespace praxis {

/// Serves one connection on the calling thread; single use. The objects it refers to must outlive it.
class EgressConnection {
 public:
  EgressConnection(FileDescriptor client, const EgressOptions& options, Resolver& resolver, int stop)
      : client_(std::move(client)), options_(options), resolver_(resolver), stop_(stop) {}

  void serve();

 private:
  Egress<void> answer();
  Egress<std::string> read_head();
  Egress<FileDescriptor> reach(const Url& url);
  Egress<void> exchange(const EgressRequest::Forward& forward, int server);
  void tunnel(int server);
  void refuse(const EgressRefusal& refusal);
  RelayLimits limits() const;

  /// Reports `refusal` and returns it.
  std::unexpected<EgressRefusal> denied(const Url& url, EgressRefusal refusal);
  void report(const Url& url, bool allowed, std::string reason) const;

  FileDescriptor client_;
  const EgressOptions& options_;
  Resolver& resolver_;
  const int stop_;
  std::string early_;  ///< read together with the head, but belongs to what follows
};

}  // namespace praxis
