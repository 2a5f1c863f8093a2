#include "net/egress_proxy_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/http_request.hpp"

namespace praxis {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::chrono::milliseconds kFarewellTime{1'000};

std::string joined(const Addresses& addresses) {
  std::string out;
  for (const std::string& address : addresses) out += (out.empty() ? "" : ", ") + address;
  return out;
}

}  // namespace

void EgressConnection::serve() {
  if (const Egress<void> answered = answer(); !answered) refuse(answered.error());
}

Egress<void> EgressConnection::answer() {
  const Egress<std::string> head = read_head();
  if (!head) return std::unexpected(head.error());
  const Egress<EgressRequest> request = parse_egress_request(*head);
  if (!request) return denied({}, request.error());
  const Egress<FileDescriptor> server = reach(request->url);
  if (!server) return std::unexpected(server.error());
  if (request->forward) return exchange(*request->forward, server->get());
  tunnel(server->get());
  return {};
}

// Returns the head without the empty line.
Egress<std::string> EgressConnection::read_head() {
  const Patience patience = Patience{stop_}.within(options_.head_time);
  std::string head;
  std::array<char, 4096> chunk;
  while (head.size() <= kMaxEgressHeadBytes) {
    if (wait_for(client_.get(), POLLIN, patience) != Wake::kReady) {
      return refused(408, "the request did not arrive in time");
    }
    const ssize_t got = ::recv(client_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return refused(400, "the request is not complete");
    const std::size_t searched = head.size() - std::min(head.size(), kHeadEnd.size() - 1);
    head.append(chunk.data(), static_cast<std::size_t>(got));
    if (const std::size_t end = head.find(kHeadEnd, searched); end != head.npos) {
      early_ = head.substr(end + kHeadEnd.size());
      head.resize(end + 2);
      return head;
    }
  }
  return refused(431, "the head of the request is longer than 64 KiB");
}

Egress<FileDescriptor> EgressConnection::reach(const Url& url) {
  const std::string name = authority(url);
  const EgressRules& rules = options_.rules;
  if (!rules.allows || !rules.allows(url)) {
    return denied(url, {403, name + " is not an allowed host: " + options_.how_to_allow});
  }
  const Patience patience = Patience{stop_}.within(options_.connect_time);
  Egress<Addresses> found = url.is_address ? Addresses{url.host} : resolver_.addresses_of(url.host, patience);
  if (!found) {
    report(url, true, {});
    return std::unexpected(found.error());
  }
  Addresses addresses = *found;
  std::erase_if(addresses, [&](const std::string& address) {
    return !rules.allows_address || !rules.allows_address(url, address);
  });
  if (addresses.empty()) {
    return denied(url, {403, name + " leads to an address that is not allowed (" + joined(*found) +
                                 "): " + options_.how_to_allow});
  }
  report(url, true, {});
  return dial_first(addresses, url.port, name, patience);
}

Egress<void> EgressConnection::exchange(const EgressRequest::Forward& forward, int server) {
  early_.resize(std::min<std::uint64_t>(early_.size(), forward.body_bytes));
  EgressAnswer answer;
  const Wake wake = relay_exchange({client_.get(), server}, forward.head + early_,
                                   forward.body_bytes - early_.size(), answer, limits());
  if (answer.begun()) return {};
  if (wake == Wake::kTimeout) return refused(504, "the server did not answer in time");
  return refused(502, "the server did not answer with HTTP");
}

void EgressConnection::tunnel(int server) {
  relay_tunnel({client_.get(), server}, "HTTP/1.1 200 Connection established\r\n\r\n", std::move(early_),
               limits());
}

// The client may still be sending, and reads the response only if its bytes are consumed meanwhile.
void EgressConnection::refuse(const EgressRefusal& refusal) {
  const Patience patience = Patience{stop_}.within(kFarewellTime);
  if (!send_all(client_.get(), refusal_message(refusal), patience)) return;
  ::shutdown(client_.get(), SHUT_WR);
  std::array<char, 4096> chunk;
  while (wait_for(client_.get(), POLLIN, patience) == Wake::kReady &&
         ::recv(client_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT) > 0) {
  }
}

std::unexpected<EgressRefusal> EgressConnection::denied(const Url& url, EgressRefusal refusal) {
  report(url, false, refusal.text);
  return std::unexpected(std::move(refusal));
}

void EgressConnection::report(const Url& url, bool allowed, std::string reason) const {
  if (options_.on_verdict) options_.on_verdict({url.host, url.port, allowed, std::move(reason)});
}

RelayLimits EgressConnection::limits() const {
  RelayLimits limits{stop_, options_.idle_time};
  if (options_.max_bytes) limits.max_bytes = *options_.max_bytes;
  return limits;
}

}  // namespace praxis
