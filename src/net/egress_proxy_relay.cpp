#include "net/egress_proxy_relay.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace praxis {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr auto kEverything = std::numeric_limits<std::uint64_t>::max();

/// One direction. Reads a chunk only after the previous one was sent, so little is ever buffered.
struct Flow {
  int from = -1;
  int to = -1;
  std::string pending;     ///< read, not yet sent
  std::uint64_t left = 0;  ///< bytes still to read; 0 once the source has ended
  bool done = false;       ///< everything was sent, or the target is gone

  bool wants_to_read() const { return !done && left > 0 && pending.empty(); }
};

class Relay {
 public:
  Relay(Flow up, Flow down, EgressAnswer* answer, const RelayLimits& limits)
      : up_(std::move(up)), down_(std::move(down)), answer_(answer), limits_(limits), chunk_(kChunkBytes) {}

  Wake run() {
    while (!is_over()) {
      std::array fds = {watched(up_, down_), watched(down_, up_)};
      const Wake wake = wait_for(fds, Patience{limits_.stop}.within(limits_.idle_time));
      if (wake != Wake::kReady) return wake;
      give_up_if_gone(fds[0], up_, down_);
      give_up_if_gone(fds[1], down_, up_);
      carry(up_);
      carry(down_);
    }
    return Wake::kReady;
  }

 private:
  bool is_tunnel() const { return answer_ == nullptr; }
  bool is_over() const { return cut_ || (down_.done && (up_.done || !is_tunnel())); }

  // A side that sends nothing more but still receives is watched for its disconnect.
  static pollfd watched(const Flow& out_of_it, const Flow& into_it) {
    const short in = out_of_it.wants_to_read() ? POLLIN : 0;
    const short out = into_it.pending.empty() ? 0 : POLLOUT;
    const auto events = static_cast<short>(in | out);
    const bool may_vanish = out_of_it.left == 0 && !into_it.done;
    return {events != 0 || may_vanish ? into_it.to : -1, events, 0};
  }
  static void give_up_if_gone(const pollfd& side, const Flow& out_of_it, Flow& into_it) {
    if ((side.revents & (POLLHUP | POLLERR)) != 0 && out_of_it.left == 0) give_up(into_it);
  }
  static void give_up(Flow& flow) {
    flow.pending.clear();
    flow.done = true;
  }

  void carry(Flow& flow) {
    if (flow.wants_to_read()) read(flow);
    if (!flow.pending.empty()) send(flow);
    if (flow.done || flow.left > 0 || !flow.pending.empty()) return;
    if (is_tunnel()) ::shutdown(flow.to, SHUT_WR);
    flow.done = true;
  }

  void read(Flow& flow) {
    const std::size_t most = std::min<std::uint64_t>(chunk_.size(), flow.left);
    const ssize_t got = ::recv(flow.from, chunk_.data(), most, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      flow.left = 0;
      return;
    }
    const auto bytes = static_cast<std::size_t>(got);
    cut_ = bytes > limits_.max_bytes;
    if (cut_) return;
    limits_.max_bytes -= bytes;
    if (flow.left != kEverything) flow.left -= bytes;
    take({chunk_.data(), bytes}, flow);
  }

  void take(std::string_view bytes, Flow& flow) {
    if (is_tunnel() || &flow == &up_) {
      flow.pending = bytes;
    } else if (auto passed = answer_->pass(bytes)) {
      flow.pending = *std::move(passed);
    } else {
      cut_ = true;
    }
  }

  static void send(Flow& flow) {
    const ssize_t sent =
        ::send(flow.to, flow.pending.data(), flow.pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      flow.pending.erase(0, static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      give_up(flow);
    }
  }

  Flow up_;
  Flow down_;
  EgressAnswer* const answer_;  ///< null in a tunnel
  RelayLimits limits_;
  std::vector<char> chunk_;
  bool cut_ = false;
};

}  // namespace

void relay_tunnel(RelayEnds ends, std::string for_client, std::string for_server, const RelayLimits& limits) {
  Flow up{ends.client, ends.server, std::move(for_server), kEverything};
  Flow down{ends.server, ends.client, std::move(for_client), kEverything};
  Relay(std::move(up), std::move(down), nullptr, limits).run();
}

Wake relay_exchange(RelayEnds ends, std::string for_server, std::uint64_t body_left, EgressAnswer& answer,
                    const RelayLimits& limits) {
  Flow up{ends.client, ends.server, std::move(for_server), body_left};
  Flow down{ends.server, ends.client, {}, kEverything};
  return Relay(std::move(up), std::move(down), &answer, limits).run();
}

}  // namespace praxis
