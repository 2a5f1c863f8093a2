// Non-blocking bytes over a connected socket, plain or TLS behind one type. OpenSSL stays behind this header;
// the event loop that waits for readiness belongs to the caller.
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

enum class IoState : std::uint8_t {
  kOk,         ///< some bytes were moved, or the handshake is complete
  kWantRead,   ///< nothing could be done before the socket is readable
  kWantWrite,  ///< nothing could be done before the socket is writable
  kEnd,        ///< the peer ended its side in the orderly way
  kFailed,     ///< broken; `ByteStream::failure` says why
};

struct IoResult {
  IoState state = IoState::kOk;
  std::size_t bytes = 0;
};

/// What TLS clients share: trusted roots from the system (or SSL_CERT_FILE, SSL_CERT_DIR), TLS 1.2 or later.
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
  explicit ByteStream(int socket = -1) : socket_(socket) {}

  /// Turns to TLS as the client; the peer's certificate must be valid for `host`, a name or an address.
  Status start_tls(const TlsContext& context, const std::string& host, bool host_is_address);
  /// Repeat as its result asks until `kOk`.
  IoResult handshake();

  IoResult read(std::span<char> into);
  /// Writes a first part of `head` followed by `body`. TLS stages it in `scratch`; after `kWantRead` or
  /// `kWantWrite` call again with the same bytes.
  IoResult write(std::string_view head, std::string_view body, std::span<char> scratch);

  /// Whether received bytes wait inside, so that the socket need not become readable again.
  bool has_buffered() const;
  /// For a person: the reason of the last `kFailed`.
  const std::string& failure() const { return failure_; }

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };

  IoResult plain_result(std::ptrdiff_t result, IoState when_blocked);
  IoResult tls_result(int result, std::size_t bytes);

  int socket_;
  std::unique_ptr<ssl_st, Free> tls_;
  std::string failure_;
};

}  // namespace praxis
