// What the egress proxy reads and writes in HTTP: pure functions of bytes, no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// Bytes of a request's or an answer's head.
constexpr std::size_t kMaxEgressHeadBytes = 64 * 1024;

/// Why a request got no answer of a server's.
struct EgressRefusal {
  int status = 0;
  std::string text;  ///< one line of printable ASCII
};
template <class T>
using Egress = std::expected<T, EgressRefusal>;

struct EgressRequest {
  Url url;
  /// A request to pass on; nothing when a tunnel is asked for.
  struct Forward {
    std::string head;  ///< as the server is to get it, with the empty line
    std::uint64_t body_bytes = 0;
  };
  std::optional<Forward> forward;
};

/// Reads a request's head, which ends before its empty line. Strict: what two programs could read in two
/// ways is refused. The server gets the Host that was parsed, whatever the client wrote, the length that was
/// read, and no header that is meant for one hop.
Egress<EgressRequest> parse_egress_request(std::string_view head);

/// The whole answer to a refused request. The text also stands in the status line, which is all that many
/// clients show of a refused tunnel.
std::string refusal_message(const EgressRefusal& refusal);

/// Passes a server's answer on: heads without their one-hop headers and with `Connection: close`, bodies
/// unchanged.
class EgressAnswer {
 public:
  /// What the client is to get for these bytes of the server; nothing when they are no HTTP/1 answer.
  std::optional<std::string> pass(std::string_view bytes);
  /// Whether the head of the final answer has been passed on.
  bool begun() const { return begun_; }

 private:
  std::string held_;  ///< of a head that is not complete
  bool begun_ = false;
};

}  // namespace praxis
