// The server over TLS, with real clients: ours, and OpenSSL's.
#include "net/http_server_tls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "net/http_server.hpp"
#include "net/testing/pem_files.hpp"
#include "net/testing/raw_client.hpp"
#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using praxis::testing::PemFiles;
using praxis::testing::RawClient;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class HttpServerTls : public ::testing::Test {
 protected:
  HttpServerTls() {
    setenv("SSL_CERT_FILE", files_.certificate().c_str(), 1);
    setenv("NO_PROXY", "localhost,127.0.0.1", 1);
  }
  ~HttpServerTls() override { unsetenv("SSL_CERT_FILE"); }

  Result<std::shared_ptr<const ServerTls>> load() const {
    return ServerTls::load(files_.certificate(), files_.key());
  }
  std::string refusal() const {
    const auto loaded = load();
    return loaded ? "accepted" : loaded.error().message;
  }
  void start(HttpServerOptions options = {}) {
    auto tls = load();
    ASSERT_TRUE(tls) << tls.error().message;
    options.tls = *std::move(tls);
    auto started =
        HttpServer::start(executor_, std::move(options), [](ReceivedRequest request, HttpReply reply) {
          if (request.target != "/stream") return reply.send({200, {}, request.body + request.target});
          reply.begin(200, {});
          for (int i = 0; i < 100; ++i) reply.write(std::make_shared<const std::string>(20'000, 'x'));
          reply.finish();
        });
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  Result<HttpResponse> get(const std::string& path, std::string body = {}) const {
    const auto client = make_http_client();
    HttpRequest request;
    request.url = "https://localhost:" + std::to_string(server_->port()) + path;
    if (!body.empty()) {
      request.method = "POST";
      request.body = std::make_shared<const std::string>(std::move(body));
    }
    request.use_proxy = false;
    return http_fetch(*client, std::move(request));
  }
  /// What OpenSSL's client gets that speaks no other version than this; empty if it was refused.
  std::string version_of(int version, std::string_view protocols = {}) const {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                    &SSL_CTX_free);
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    if (!protocols.empty()) {
      SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                              static_cast<unsigned>(protocols.size()));
    }
    const RawClient socket(server_->port());
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), &SSL_free);
    SSL_set_fd(tls.get(), socket.descriptor());
    return SSL_connect(tls.get()) == 1 ? SSL_get_version(tls.get()) : "";
  }

  PemFiles files_{"localhost"};
  std::shared_ptr<Executor> executor_ = make_executor(4);
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTls, AnswersOurClientOverAVerifiedConnection) {
  start();
  const auto answer = get("/path");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "/path");
  const std::string large(1'000'000, 'a');
  const auto echoed = get("/large", large);
  ASSERT_TRUE(echoed) << echoed.error().message;
  EXPECT_EQ(echoed->body, large + "/large");
}

TEST_F(HttpServerTls, AnswerThatEndsWithTheConnectionIsWhole) {
  start();
  const auto answer = get("/stream");
  ASSERT_TRUE(answer) << answer.error().message << ": the client refuses an end without close_notify";
  EXPECT_EQ(answer->body.size(), 2'000'000U);
}

TEST_F(HttpServerTls, ChangedFilesCountForLaterConnections) {
  HttpServerOptions options;
  options.tls_certificate = files_.certificate();
  options.tls_key = files_.key();
  options.tls_look = 1ms;
  std::promise<std::string> warned;
  std::atomic<bool> has_warned = false;  // a look may find one of the two files half written
  options.warn = [&](const std::string& text) {
    if (!has_warned.exchange(true)) warned.set_value(text);
  };
  start(std::move(options));
  ASSERT_TRUE(get("/before"));
  std::filesystem::rename(files_.key(), files_.key() + ".old");
  auto warning = warned.get_future();
  ASSERT_EQ(warning.wait_for(10s), std::future_status::ready);
  EXPECT_THAT(warning.get(), HasSubstr("the changed certificate is not used"));
  EXPECT_TRUE(get("/still")) << "with the certificate of before";
  files_.write({});  // the client trusts only the new one
  bool is_new = false;
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!is_new && std::chrono::steady_clock::now() < until) is_new = get("/after").has_value();
  EXPECT_TRUE(is_new);
}

TEST_F(HttpServerTls, OldVersionsAndOtherProtocolsAreRefused) {
  start();
  EXPECT_EQ(version_of(TLS1_VERSION), "");
  EXPECT_EQ(version_of(TLS1_1_VERSION), "");
  EXPECT_EQ(version_of(TLS1_2_VERSION), "TLSv1.2");
  EXPECT_EQ(version_of(TLS1_3_VERSION), "TLSv1.3");
  EXPECT_EQ(version_of(TLS1_3_VERSION, "\x02h2\x08http/1.1"), "TLSv1.3");
  EXPECT_EQ(version_of(TLS1_3_VERSION, "\x02h2"), "");
}

TEST_F(HttpServerTls, PlainRequestIsToldWhatThePortSpeaks) {
  start();
  RawClient client(server_->port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(client.received(), HasSubstr("https"));
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpServerTls, SilentOrBrokenHandshakesEnd) {
  HttpServerOptions options;
  options.request_time = 100ms;
  start(std::move(options));
  RawClient silent(server_->port()), broken(server_->port());
  broken.send(std::string(100, '\x16'));
  broken.read_all();
  EXPECT_TRUE(broken.closed());
  silent.read_all();
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(get("/still"));
}

TEST_F(HttpServerTls, ConnectionWithoutAPlaceGetsItsAnswer) {
  HttpServerOptions options;
  options.max_connections = 1;
  start(std::move(options));
  const RawClient first(server_->port());
  const auto answer = get("/second");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 503);
}

// ---- the files

TEST_F(HttpServerTls, CertificateMustBeReadableAndValidNow) {
  EXPECT_EQ(refusal(), "accepted");
  files_.write({.from = -7200, .until = -3600});
  EXPECT_THAT(refusal(), HasSubstr(files_.certificate() + " holds a certificate that expired on "));
  files_.write({.from = 3600, .until = 7200});
  EXPECT_THAT(refusal(), HasSubstr("is not valid before"));
  std::ofstream(files_.certificate()) << "no certificate\n";
  EXPECT_THAT(refusal(), HasSubstr(files_.certificate() + " holds no certificate in PEM form"));
  std::filesystem::remove(files_.certificate());
  EXPECT_THAT(refusal(), HasSubstr(files_.certificate()));
}

TEST_F(HttpServerTls, KeyMustBelongToTheCertificateAndToItsOwnerOnly) {
  for (const mode_t mode : {0644U, 0604U, 0660U}) {
    ::chmod(files_.key().c_str(), mode);
    EXPECT_THAT(refusal(), HasSubstr(files_.key() + " is a key that is open to others; chmod 600 it"))
        << mode;
  }
  ::chmod(files_.key().c_str(), 0600);
  const PemFiles other("localhost");
  EXPECT_THAT(ServerTls::load(files_.certificate(), other.key()).error().message,
              HasSubstr("is not the key of the certificate in " + files_.certificate()));
  EXPECT_THAT(ServerTls::load(other.certificate(), files_.key()).error().message,
              HasSubstr("is not the key of"));
  files_.write({.passphrase = "secret"});
  EXPECT_THAT(refusal(), HasSubstr("is a key with a passphrase"));
  std::ofstream(files_.key()) << "no key\n";
  EXPECT_THAT(refusal(), HasSubstr(files_.key() + " holds no key in PEM form"));
  std::filesystem::remove(files_.key());
  EXPECT_THAT(refusal(), HasSubstr(files_.key()));
}

}  // namespace
}  // namespace praxis
