// A real HTTP server on 127.0.0.1 for tests: blocking sockets, one thread per connection, byte-exact
// responses, TLS with a self-made certificate. It reads whole requests, keeps them for assertions and lets
// the test decide the response:
//
//   TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "hello")); });
//   ... server.url("/path") ... server.requests() ...
//
// A client under test should set `use_proxy` to false, or the machine's own proxy settings decide.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "praxis/net/http_client.hpp"

namespace praxis {

struct TestRequest {
  std::string method;
  std::string target;
  HttpHeaders headers;
  std::string body;
  std::size_t connection = 0;  ///< index of its connection, counted from 0
};

/// Returns a complete response with Content-Length. `headers` are whole lines, each with its CRLF.
inline std::string http_reply(int status, std::string_view body, std::string_view headers = {}) {
  std::string reply = "HTTP/1.1 " + std::to_string(status) + " Reply\r\n";
  reply.append(headers).append("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n").append(body);
  return reply;
}

/// A key and a self-signed certificate for one name or address; clients that load `file` (SSL_CERT_FILE)
/// trust it.
class TestCertificate {
 public:
  explicit TestCertificate(const std::string& name)
      : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free), certificate_(X509_new(), &X509_free) {
    X509* x = certificate_.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key_.get());
    const auto* common_name = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, common_name, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    in_addr address;
    const bool is_address = inet_pton(AF_INET, name.c_str(), &address) == 1;
    const std::string alternative = (is_address ? "IP:" : "DNS:") + name;
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(x, key_.get(), EVP_sha256());

    file_ = (std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") +
            std::string("/test-cert-XXXXXX");
    std::FILE* out = fdopen(mkstemp(file_.data()), "w");
    PEM_write_X509(out, x);
    std::fclose(out);
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;
  ~TestCertificate() { unlink(file_.c_str()); }

  const std::string& file() const { return file_; }
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
  std::string file_;
};

/// The server side of one connection. Used by its own thread only, except for `shut_down`.
class TestConnection {
 public:
  TestConnection(int socket, std::size_t number) : socket_(socket), number_(number) {}
  TestConnection(const TestConnection&) = delete;
  TestConnection& operator=(const TestConnection&) = delete;
  ~TestConnection() {
    tls_.reset();
    ::close(socket_);
  }

  std::size_t number() const { return number_; }

  /// False when the peer is gone or the handshake failed.
  bool start_tls(const TestCertificate& certificate) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                    &SSL_CTX_free);
    SSL_CTX_use_certificate(context.get(), certificate.certificate());
    SSL_CTX_use_PrivateKey(context.get(), certificate.key());
    tls_.reset(SSL_new(context.get()));
    SSL_set_fd(tls_.get(), socket_);
    return SSL_accept(tls_.get()) == 1;
  }
  /// The name that the client sent in its handshake (SNI); empty if it sent none.
  std::string server_name() const {
    const char* name = tls_ ? SSL_get_servername(tls_.get(), TLSEXT_NAMETYPE_host_name) : nullptr;
    return name == nullptr ? "" : name;
  }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Ends the stream in order (with TLS: close_notify); serves no more requests.
  void close() {
    if (tls_) SSL_shutdown(tls_.get());
    ::shutdown(socket_, SHUT_WR);
    open_ = false;
  }
  /// Ends the stream without close_notify, like a cut connection.
  void cut() {
    ::shutdown(socket_, SHUT_WR);
    open_ = false;
  }
  /// Ends the connection with a TCP reset.
  void reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    open_ = false;
  }
  /// Blocks until the peer closes or the server is destroyed.
  void wait_for_close() {
    while (fill()) {
    }
    open_ = false;
  }
  bool is_open() const { return open_; }

  /// Reads one request with its body (Content-Length only); false at the end of the connection.
  bool read(TestRequest& request) {
    std::size_t head_end;
    while ((head_end = received_.find("\r\n\r\n")) == received_.npos) {
      if (!fill()) return false;
    }
    parse_head(std::string_view(received_).substr(0, head_end + 2), request);
    received_.erase(0, head_end + 4);
    const std::size_t length =
        std::stoul(std::string(find_header(request.headers, "Content-Length").value_or("0")));
    while (received_.size() < length) {
      if (!fill()) return false;
    }
    request.body = received_.substr(0, length);
    received_.erase(0, length);
    request.connection = number_;
    return true;
  }

  void shut_down() { ::shutdown(socket_, SHUT_RDWR); }

 private:
  static void parse_head(std::string_view head, TestRequest& request) {
    const auto take_until = [&head](std::string_view mark) {
      const std::size_t end = head.find(mark);
      const std::string part(head.substr(0, end));
      head.remove_prefix(end + mark.size());
      return part;
    };
    request = {};
    request.method = take_until(" ");
    request.target = take_until(" ");
    take_until("\r\n");
    while (!head.empty()) {
      const std::string name = take_until(": ");
      request.headers.emplace_back(name, take_until("\r\n"));
    }
  }

  bool fill() {
    char buffer[16 * 1024];
    const auto got =
        tls_ ? SSL_read(tls_.get(), buffer, sizeof(buffer)) : ::recv(socket_, buffer, sizeof(buffer), 0);
    if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }

  const int socket_;
  const std::size_t number_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, &SSL_free};
  std::string received_;
  bool open_ = true;
};

/// Listens from construction to destruction; the destructor ends its connections and joins its threads.
class TestServer {
 public:
  /// Called for each request on the thread of its connection, which stays open unless the handler ends it.
  using Handler = std::function<void(const TestRequest&, TestConnection&)>;

  /// With a certificate, the server speaks TLS; the certificate must outlive the server.
  explicit TestServer(Handler handler, const TestCertificate* certificate = nullptr)
      : handler_(std::move(handler)),
        certificate_(certificate),
        listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 1024) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::perror("TestServer");
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      std::lock_guard lock(mutex_);
      for (TestConnection* connection : live_) connection->shut_down();
    }
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view target = "/") const {
    return (certificate_ != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) +
           std::string(target);
  }
  /// All requests so far, in the order they were read.
  std::vector<TestRequest> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  /// Blocks until `count` requests have been read.
  void wait_for_requests(std::size_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() >= count; });
  }
  /// Connections accepted so far.
  std::size_t connections() const {
    std::lock_guard lock(mutex_);
    return threads_.size();
  }
  /// Blocks until no connection is open.
  void wait_until_idle() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return live_.empty(); });
  }

 private:
  void accept() {
    for (int socket; (socket = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      std::lock_guard lock(mutex_);
      auto connection = std::make_unique<TestConnection>(socket, threads_.size());
      live_.push_back(connection.get());
      threads_.emplace_back([this, c = std::move(connection)]() mutable { serve(std::move(c)); });
    }
  }

  void serve(std::unique_ptr<TestConnection> connection) {
    sigset_t broken_pipe;  // OpenSSL's own writes would raise SIGPIPE
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    TestRequest request;
    if (certificate_ == nullptr || connection->start_tls(*certificate_)) {
      while (connection->is_open() && connection->read(request)) {
        keep(request);
        handler_(request, *connection);
      }
    }
    std::lock_guard lock(mutex_);
    std::erase(live_, connection.get());
    connection.reset();
    changed_.notify_all();
  }

  void keep(const TestRequest& request) {
    std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
  }

  const Handler handler_;
  const TestCertificate* const certificate_;
  const int listener_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<TestRequest> requests_;
  std::vector<TestConnection*> live_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace praxis
