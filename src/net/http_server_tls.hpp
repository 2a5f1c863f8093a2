// What a TLS server shows its clients: a certificate with its chain, and the key that belongs to it.
#pragma once

#include <memory>
#include <string>

#include "praxis/base/result.hpp"

struct ssl_ctx_st;

namespace praxis {

/// Immutable, so thread-safe. TLS 1.2 or later, HTTP/1.1 only.
class ServerTls {
 public:
  /// Reads PEM files: the certificate of the server followed by those of its issuers, and its key. Error
  /// `kInput` names the file: it cannot be read, holds no certificate or key, the certificate is not valid at
  /// present, the key is encrypted, belongs to another certificate, or is open to others. A key of root may
  /// be readable by its group.
  static Result<std::shared_ptr<const ServerTls>> load(const std::string& certificate,
                                                       const std::string& key);

 private:
  friend class ByteStream;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, Free>;
  explicit ServerTls(Context context);

  Context context_;
};

}  // namespace praxis
