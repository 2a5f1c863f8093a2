#include "net/http_server_tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <string_view>
#include <tuple>
#include <utility>

#include "base/regular_file.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxPemBytes = 1024 * 1024;

template <auto free_with>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free_with(object);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

std::unexpected<Error> unusable(const std::string& path, const std::string& reason) {
  ERR_clear_error();
  return fail(ErrorCode::kInput, path + " " + reason);
}

std::string last_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "for an unknown reason" : reason;
}

std::string text_of(const ASN1_TIME* time) {
  const Bio out(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(out.get(), time);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

/// The terminal is not asked for a passphrase: a server starts without its user.
int no_passphrase(char*, int, int, void*) { return -1; }

Bio reader_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Status use_certificates(SSL_CTX* context, const std::string& path) {
  const auto text = read_regular_file(path, kMaxPemBytes);
  if (!text) return fail(text.error());
  const Bio bio = reader_of(*text);
  const Certificate own(PEM_read_bio_X509_AUX(bio.get(), nullptr, no_passphrase, nullptr));
  if (!own) return unusable(path, "holds no certificate in PEM form");
  if (X509_cmp_current_time(X509_get0_notAfter(own.get())) < 0)
    return unusable(path, "holds a certificate that expired on " + text_of(X509_get0_notAfter(own.get())));
  if (X509_cmp_current_time(X509_get0_notBefore(own.get())) > 0) {
    return unusable(
        path, "holds a certificate that is not valid before " + text_of(X509_get0_notBefore(own.get())));
  }
  if (SSL_CTX_use_certificate(context, own.get()) != 1)
    return unusable(path, "holds a certificate that cannot be used: " + last_reason());
  while (true) {
    Certificate issuer(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
    if (!issuer) break;
    if (SSL_CTX_add0_chain_cert(context, issuer.get()) != 1)
      return unusable(path, "holds a chain that cannot be used: " + last_reason());
    std::ignore = issuer.release();  // the context owns it
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
    return unusable(path, "holds a certificate that cannot be read: " + last_reason());
  ERR_clear_error();
  return {};
}

Status check_key_mode(const std::string& path, const struct stat& about) {
  const mode_t open_to = about.st_uid == 0 ? 037U : 077U;
  if ((about.st_mode & open_to) == 0) return {};
  return unusable(path, "is a key that is open to others; chmod 600 it");
}

Status use_key(SSL_CTX* context, const std::string& path, const std::string& certificate) {
  const auto file = open_regular_file(path);
  if (!file) return fail(file.error());
  if (auto closed = check_key_mode(path, file->about); !closed) return closed;
  const auto text = read_whole(*file, path, kMaxPemBytes);
  if (!text) return fail(text.error());
  const Bio bio = reader_of(*text);
  const PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    const bool is_encrypted = text->contains("ENCRYPTED");
    return unusable(path, is_encrypted
                              ? "is a key with a passphrase; give one without, which only its owner can read"
                              : "holds no key in PEM form");
  }
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) != 1)
    return unusable(path, "is not the key of the certificate in " + certificate);
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return unusable(path, "holds a key that cannot be used: " + last_reason());
  return {};
}

/// Takes HTTP/1.1 from what the client offers; a client that offers only others is refused.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, kHttp11, sizeof(kHttp11) - 1, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void ServerTls::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
ServerTls::ServerTls(Context context) : context_(std::move(context)) {}

Result<std::shared_ptr<const ServerTls>> ServerTls::load(const std::string& certificate,
                                                         const std::string& key) {
  Context owned(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = owned.get();
  if (context == nullptr) return fail(ErrorCode::kInternal, "TLS could not be set up");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Only resumption by tickets, which keeps no state here; without renegotiation, which a client could
  // repeat.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  if (auto used = use_certificates(context, certificate); !used) return fail(used.error());
  if (auto used = use_key(context, key, certificate); !used) return fail(used.error());
  return std::shared_ptr<const ServerTls>(new ServerTls(std::move(owned)));
}

}  // namespace praxis
