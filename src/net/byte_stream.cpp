#include "net/byte_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "net/http_server_tls.hpp"

namespace praxis {
namespace {

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

ByteStream::Socket& socket_of(BIO* bio) { return *static_cast<ByteStream::Socket*>(BIO_get_data(bio)); }

std::ptrdiff_t receive(ByteStream::Socket& socket, char* into, std::size_t size) {
  const auto received = ::recv(socket.descriptor, into, size, 0);
  socket.drained = received < static_cast<std::ptrdiff_t>(size);
  return received;
}

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE; a library must not.
int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(socket_of(bio).descriptor, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && would_block(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto received = receive(socket_of(bio), data, static_cast<std::size_t>(size));
  if (received < 0 && would_block(errno)) BIO_set_retry_read(bio);
  if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long bio_control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_C_GET_FD:
      return socket_of(bio).descriptor;
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    default:
      return 0;
  }
}

const BIO_METHOD* socket_bio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "socket");
    BIO_meth_set_write(m, bio_write);
    BIO_meth_set_read(m, bio_read);
    BIO_meth_set_ctrl(m, bio_control);
    return m;
  }();
  return method;
}

std::string openssl_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "unknown TLS error" : reason;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void ByteStream::Free::operator()(ssl_st* tls) const { SSL_free(tls); }

TlsContext::TlsContext() : context_(SSL_CTX_new(TLS_client_method())) {
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_default_verify_paths(context);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context, kHttp11, sizeof(kHttp11) - 1);
}

Status ByteStream::set_up_tls(ssl_ctx_st* context) {
  tls_.reset(SSL_new(context));
  BIO* bio = BIO_new(socket_bio());
  if (!tls_ || bio == nullptr) return fail(ErrorCode::kInternal, "TLS could not be set up");
  BIO_set_data(bio, socket_.get());
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  return {};
}

Status ByteStream::start_tls(const ServerTls& tls) {
  if (auto made = set_up_tls(tls.context_.get()); !made) return made;
  SSL_set_accept_state(tls_.get());
  return {};
}

Status ByteStream::start_tls(const TlsContext& context, const std::string& host, bool host_is_address) {
  if (auto made = set_up_tls(context.context_.get()); !made) return made;
  SSL_set_connect_state(tls_.get());
  const bool named = host_is_address
                         ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), host.c_str()) == 1
                         : SSL_set1_host(tls_.get(), host.c_str()) == 1 &&
                               SSL_set_tlsext_host_name(tls_.get(), host.c_str()) == 1;
  if (!named) return fail(ErrorCode::kInternal, "TLS could not be set up for host " + host);
  return {};
}

IoResult ByteStream::handshake() {
  ERR_clear_error();
  return tls_result(SSL_do_handshake(tls_.get()), 0);
}

IoResult ByteStream::read(std::span<char> into) {
  if (!tls_) {
    const auto received = receive(*socket_, into.data(), into.size());
    if (received == 0) return {IoState::kEnd};
    return plain_result(received, IoState::kWantRead);
  }
  ERR_clear_error();
  std::size_t received = 0;
  const int result = SSL_read_ex(tls_.get(), into.data(), into.size(), &received);
  return tls_result(result, received);
}

IoResult ByteStream::write(std::string_view head, std::string_view body, std::span<char> scratch) {
  if (!tls_) {
    std::array<iovec, 2> parts{
        {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    return plain_result(::sendmsg(socket_->descriptor, &message, MSG_NOSIGNAL), IoState::kWantWrite);
  }
  // One record rather than two when head and body fit into it.
  const std::size_t from_head =
      head.copy(scratch.data(), std::min<std::size_t>(scratch.size(), SSL3_RT_MAX_PLAIN_LENGTH));
  const std::size_t size =
      from_head + body.copy(scratch.data() + from_head,
                            std::min<std::size_t>(scratch.size(), SSL3_RT_MAX_PLAIN_LENGTH) - from_head);
  ERR_clear_error();
  std::size_t sent = 0;
  const int result = SSL_write_ex(tls_.get(), scratch.data(), size, &sent);
  return tls_result(result, sent);
}

IoResult ByteStream::end_output() {
  if (tls_) {
    ERR_clear_error();
    const int result = SSL_shutdown(tls_.get());
    if (result < 0 && SSL_get_error(tls_.get(), result) == SSL_ERROR_WANT_WRITE) return {IoState::kWantWrite};
  }
  if (::shutdown(socket_->descriptor, SHUT_WR) == 0) return {};
  failure_ = std::generic_category().message(errno);
  return {IoState::kFailed};
}

bool ByteStream::has_drained() const {
  return socket_->drained && (!tls_ || SSL_has_pending(tls_.get()) == 0);
}

IoResult ByteStream::plain_result(std::ptrdiff_t result, IoState when_blocked) {
  if (result >= 0) return {IoState::kOk, static_cast<std::size_t>(result)};
  if (would_block(errno)) return {when_blocked};
  failure_ = std::generic_category().message(errno);
  return {IoState::kFailed};
}

IoResult ByteStream::tls_result(int result, std::size_t bytes) {
  if (result > 0) return {IoState::kOk, bytes};
  const int socket_error = errno;
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {IoState::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      return {IoState::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {IoState::kEnd};
    case SSL_ERROR_SYSCALL:
      failure_ = std::generic_category().message(socket_error);
      return {IoState::kFailed};
    default:
      break;
  }
  got_plain_http_ = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST;
  const long verdict = SSL_get_verify_result(tls_.get());
  failure_ = verdict == X509_V_OK
                 ? openssl_reason()
                 : std::string("certificate refused: ") + X509_verify_cert_error_string(verdict);
  return {IoState::kFailed};
}

}  // namespace praxis
