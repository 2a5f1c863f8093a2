// One client of the egress proxy, from its request's first byte to the end.
#pragma once

#include <string>
#include <utility>

#include "net/egress_proxy.hpp"
#include "net/egress_proxy_dial.hpp"
#include "net/egress_proxy_relay.hpp"
#include "net/egress_proxy_wait.hpp"

namespace praxis {

/// Serves one connection on the calling thread; used once. What it refers to must outlive it.
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

  /// Reports it, and gives it back.
  std::unexpected<EgressRefusal> denied(const Url& url, EgressRefusal refusal);
  void report(const Url& url, bool allowed, std::string reason) const;

  FileDescriptor client_;
  const EgressOptions& options_;
  Resolver& resolver_;
  const int stop_;
  std::string early_;  ///< read with the head, but of what follows it
};

}  // namespace praxis
