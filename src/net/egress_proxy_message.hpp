// The HTTP messages that the egress proxy reads and writes: pure functions of bytes, no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// Upper bound of the head of a request or a response, in bytes.
constexpr std::size_t kMaxEgressHeadBytes = 64 * 1024;

/// Why a request was answered by the proxy and not by a server.
struct EgressRefusal {
  int status = 0;
  std::string text;  ///< one line of printable ASCII
};
template <class T>
using Egress = std::expected<T, EgressRefusal>;

/// The error that an `Egress` value takes.
inline std::unexpected<EgressRefusal> refused(int status, std::string text) {
  return std::unexpected(EgressRefusal{status, std::move(text)});
}

struct EgressRequest {
  Url url;
  /// A request to forward; absent for a tunnel.
  struct Forward {
    std::string head;  ///< as sent to the server, with the empty line
    std::uint64_t body_bytes = 0;
  };
  std::optional<Forward> forward;
};

/// Parses the head of a request, without its empty line. Strict: refuses everything that two programs could
/// interpret differently. The forwarded head has the Host that was parsed, not the client's header, the
/// length that was read, and no hop-by-hop headers.
Egress<EgressRequest> parse_egress_request(std::string_view head);

/// Returns the whole response to a refused request. The status line repeats the text, because many clients
/// show nothing else of a refused tunnel.
std::string refusal_message(const EgressRefusal& refusal);

/// Forwards a server's response: heads without hop-by-hop headers and with `Connection: close`, bodies
/// unchanged.
class EgressAnswer {
 public:
  /// Returns the bytes to send to the client for these bytes of the server; `std::nullopt` if they are not an
  /// HTTP/1 response.
  std::optional<std::string> pass(std::string_view bytes);
  /// Whether the head of the final response has been forwarded.
  bool begun() const { return begun_; }

 private:
  std::string held_;  ///< of an incomplete head
  bool begun_ = false;
};

}  // namespace praxis
