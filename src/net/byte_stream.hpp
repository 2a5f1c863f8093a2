// Non-blocking bytes over a connected socket, plain or TLS behind one type. OpenSSL is not visible through
// this header; the caller owns the event loop that waits for readiness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace praxis {

class ServerTls;

enum class IoState : std::uint8_t {
  kOk,         ///< some bytes were moved, or the handshake is complete
  kWantRead,   ///< nothing can be done until the socket is readable
  kWantWrite,  ///< nothing can be done until the socket is writable
  kEnd,        ///< the peer closed its side in order
  kFailed,     ///< broken; `ByteStream::failure` says why
};

struct IoResult {
  IoState state = IoState::kOk;
  std::size_t bytes = 0;
};

/// What TLS clients share: root certificates of the system (or SSL_CERT_FILE, SSL_CERT_DIR), TLS 1.2 or
/// later.
class TlsContext {
 public:
  TlsContext();

 private:
  friend class ByteStream;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

/// Does not own the socket, which must be non-blocking and outlive it. Not thread-safe. A write to a closed
/// peer never raises SIGPIPE.
class ByteStream {
 public:
  /// A socket, and whether the last read emptied it.
  struct Socket {
    int descriptor;
    bool drained = true;
  };

  explicit ByteStream(int socket = -1) : socket_(std::make_unique<Socket>(socket)) {}

  /// Starts TLS as the client; the peer's certificate must be valid for `host`, a name or an address.
  Status start_tls(const TlsContext& context, const std::string& host, bool host_is_address);
  /// Starts TLS as the server. `tls` must outlive the stream.
  Status start_tls(const ServerTls& tls);
  /// Call again, as its result asks, until it returns `kOk`.
  IoResult handshake();

  IoResult read(std::span<char> into);
  /// Writes some of `head` followed by `body`. TLS stages it in `scratch`; after `kWantRead` or `kWantWrite`
  /// call again with the same bytes.
  IoResult write(std::string_view head, std::string_view body, std::span<char> scratch);

  /// Tells the peer that no more follows; it can still send. After `kWantWrite` call again.
  IoResult end_output();

  bool is_tls() const { return tls_ != nullptr; }
  /// Whether the handshake failed because the peer speaks plain HTTP.
  bool got_plain_http() const { return got_plain_http_; }
  /// Whether all received bytes were read: TLS has none buffered, and the last read from the socket emptied
  /// it. Later bytes make the socket readable again; an end of input that arrived with the last bytes does
  /// not.
  bool has_drained() const;
  /// The reason of the last `kFailed`, for humans.
  const std::string& failure() const { return failure_; }

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };

  Status set_up_tls(ssl_ctx_st* context);
  IoResult plain_result(std::ptrdiff_t result, IoState when_blocked);
  IoResult tls_result(int result, std::size_t bytes);

  std::unique_ptr<Socket> socket_;  ///< TLS refers to it
  std::unique_ptr<ssl_st, Free> tls_;
  std::string failure_;
  bool got_plain_http_ = false;
};

}  // namespace praxis
