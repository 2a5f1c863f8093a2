#include "net/http_proxy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using Variables = std::map<std::string, std::string>;

ProxySettings settings_from(const Variables& variables) {
  return ProxySettings([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// Returns `host:port` of the proxy, "direct", or "error".
std::string chosen(const Variables& variables, const std::string& url) {
  const auto proxy = settings_from(variables).choose(parse_url(url).value());
  if (!proxy) return "error";
  return *proxy ? (*proxy)->url.host + ":" + std::to_string((*proxy)->url.port) : "direct";
}

TEST(ProxySettings, EachSchemeHasItsVariable) {
  const Variables both = {{"HTTP_PROXY", "http://plain:1"}, {"HTTPS_PROXY", "http://secure:2"}};
  EXPECT_EQ(chosen(both, "http://h"), "plain:1");
  EXPECT_EQ(chosen(both, "https://h"), "secure:2");
  EXPECT_EQ(chosen({{"HTTP_PROXY", "http://plain:1"}}, "https://h"), "direct");
  EXPECT_EQ(chosen({{"ALL_PROXY", "any:3"}}, "https://h"), "any:3");
  EXPECT_EQ(chosen({{"ALL_PROXY", "any:3"}, {"HTTP_PROXY", "plain:1"}}, "http://h"), "plain:1");
  EXPECT_EQ(chosen({{"http_proxy", "lower:1"}, {"HTTP_PROXY", "upper:1"}}, "http://h"), "lower:1");
  EXPECT_EQ(chosen({{"HTTP_PROXY", ""}}, "http://h"), "direct");
  EXPECT_EQ(chosen({}, "http://h"), "direct");
}

TEST(ProxySettings, Proxy_NamesItsVariable) {
  const auto variable = [](const Variables& variables) {
    const auto proxy = settings_from(variables).choose(parse_url("https://h").value());
    return proxy ? (*proxy)->variable : proxy.error().message;
  };
  EXPECT_EQ(variable({{"https_proxy", "p:1"}, {"HTTPS_PROXY", "q:1"}}), "https_proxy");
  EXPECT_EQ(variable({{"ALL_PROXY", "p:1"}}), "ALL_PROXY");
  EXPECT_EQ(
      variable({{"HTTPS_PROXY", "socks5://p:1"}}),
      "the proxy in HTTPS_PROXY must begin with http://: proxies with the scheme socks5 are not supported");
}

TEST(ProxySettings, InACgiProgram_HttpProxyIsNotTrusted) {
  EXPECT_EQ(chosen({{"REQUEST_METHOD", "GET"}, {"HTTP_PROXY", "evil:1"}}, "http://h"), "direct");
  EXPECT_EQ(chosen({{"REQUEST_METHOD", "GET"}, {"http_proxy", "fine:1"}}, "http://h"), "fine:1");
}

TEST(ProxySettings, NoProxy_MatchesWholeLabelsAndPorts) {
  const auto direct = [](const std::string& no_proxy, const std::string& url) {
    return chosen({{"ALL_PROXY", "p:1"}, {"NO_PROXY", no_proxy}}, url) == "direct";
  };
  EXPECT_TRUE(direct("*", "http://anything"));
  EXPECT_TRUE(direct("example.com", "http://example.com"));
  EXPECT_TRUE(direct("example.com", "http://a.b.example.com"));
  EXPECT_TRUE(direct(".example.com", "http://a.example.com"));
  EXPECT_TRUE(direct("*.example.com", "http://a.example.com"));
  EXPECT_TRUE(direct("x, Example.COM ,y", "http://example.com"));
  EXPECT_TRUE(direct("x example.com", "http://example.com"));
  EXPECT_FALSE(direct("example.com", "http://badexample.com"));
  EXPECT_FALSE(direct("example.com", "http://example.com.evil"));
  EXPECT_FALSE(direct("ample.com", "http://example.com"));
  EXPECT_FALSE(direct(",,", "http://h"));
  EXPECT_FALSE(direct("[", "http://h"));
  EXPECT_FALSE(direct(".", "http://h"));
  EXPECT_TRUE(direct("example.com:8080", "http://example.com:8080"));
  EXPECT_FALSE(direct("example.com:8080", "http://example.com"));
  EXPECT_TRUE(direct("127.0.0.1", "http://127.0.0.1:99"));
  EXPECT_TRUE(direct("::1", "http://[::1]:99"));
  EXPECT_TRUE(direct("[::1]:99", "http://[::1]:99"));
  EXPECT_FALSE(direct("[::1]:98", "http://[::1]:99"));
}

TEST(ProxySettings, UserAndPassword_BecomeBasicAuthorization) {
  const auto proxy =
      settings_from({{"HTTP_PROXY", "http://user:p%40ss@h:1"}}).choose(parse_url("http://x").value());
  ASSERT_TRUE(proxy && *proxy);
  EXPECT_EQ((*proxy)->authorization, "Basic dXNlcjpwQHNz");  // user:p@ss
  EXPECT_EQ((*proxy)->url.host, "h");
}

TEST(ProxySettings, UnusableProxy_IsAnErrorThatHidesThePassword) {
  for (const char* value : {"socks5://h:1", "https://h:1", "http://u:secret@h:x", "http://"}) {
    const auto proxy = settings_from({{"ALL_PROXY", value}}).choose(parse_url("http://x").value());
    ASSERT_FALSE(proxy) << value;
    EXPECT_EQ(proxy.error().code, ErrorCode::kInput);
    EXPECT_EQ(proxy.error().message.find("secret"), std::string::npos);
  }
}

// The client reads the real environment: a test sets variables and restores them at the end.
class HttpClientThroughProxy : public testing::Test {
 protected:
  void set(const std::string& name, const std::string& value) { setenv(name.c_str(), value.c_str(), 1); }

  void SetUp() override {
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY",
                             "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUEST_METHOD"}) {
      if (const char* value = std::getenv(name)) saved_[name] = value;
      unsetenv(name);
      touched_.emplace_back(name);
    }
  }
  void TearDown() override {
    for (const std::string& name : touched_) unsetenv(name.c_str());
    for (const auto& [name, value] : saved_) set(name, value);
  }

 private:
  std::vector<std::string> touched_;
  Variables saved_;
};

HttpRequest through_proxy(std::string url) {
  HttpRequest request;
  request.url = std::move(url);
  return request;
}

std::string kind_of(const Result<HttpResponse>& response) {
  return response ? "no error" : std::string(response.error().detail().at("kind").as_string());
}

TEST_F(HttpClientThroughProxy, PlainHttp_UsesTheAbsoluteForm) {
  TestServer proxy(
      [](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "from the proxy")); });
  set("HTTP_PROXY", "http://me:pw@127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  for (int i = 0; i < 2; ++i) {
    const auto response = http_fetch(*client, through_proxy("http://no-such-host.invalid:81/path?q"));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "from the proxy");
  }
  const TestRequest seen = proxy.requests().at(0);
  EXPECT_EQ(seen.target, "http://no-such-host.invalid:81/path?q");
  EXPECT_EQ(find_header(seen.headers, "Host"), "no-such-host.invalid:81");
  EXPECT_EQ(find_header(seen.headers, "Proxy-Authorization"), "Basic bWU6cHc=");
  EXPECT_EQ(proxy.connections(), 1u);
}

TEST_F(HttpClientThroughProxy, Https_GoesThroughATunnelToTheVerifiedServer) {
  const TestCertificate certificate("service.test");
  TestServer proxy([&](const TestRequest& request, TestConnection& to) {
    if (request.method == "CONNECT") {
      to.write("HTTP/1.1 200 Connection established\r\nVia: proxy\r\n\r\n");
      EXPECT_TRUE(to.start_tls(certificate));
      EXPECT_EQ(to.server_name(), "service.test");
    } else {
      to.write(http_reply(200, "secret"));
    }
  });
  set("HTTPS_PROXY", "http://me:pw@127.0.0.1:" + std::to_string(proxy.port()));
  set("SSL_CERT_FILE", certificate.file());
  auto client = make_http_client();
  for (int i = 0; i < 2; ++i) {
    const auto response = http_fetch(*client, through_proxy("https://service.test/x"));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "secret");
  }
  const auto seen = proxy.requests();
  ASSERT_EQ(seen.size(), 3u);  // one tunnel, two requests in it
  EXPECT_EQ(seen[0].target, "service.test:443");
  EXPECT_EQ(find_header(seen[0].headers, "Proxy-Authorization"), "Basic bWU6cHc=");
  EXPECT_EQ(seen[1].target, "/x");
  EXPECT_EQ(find_header(seen[1].headers, "Proxy-Authorization"), std::nullopt);
}

TEST_F(HttpClientThroughProxy, RefusedTunnel_IsAProxyError) {
  TestServer proxy([](const TestRequest&, TestConnection& to) {
    to.write(http_reply(407, "who are you?"));
    to.close();
  });
  set("HTTPS_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  const auto response = http_fetch(*client, through_proxy("https://service.test/"));
  EXPECT_EQ(kind_of(response), "proxy");
  EXPECT_NE(response.error().message.find("407"), std::string::npos);
}

TEST_F(HttpClientThroughProxy, ProxyThatIsNotThere_IsNamedWithItsVariable) {
  set("HTTPS_PROXY", "http://127.0.0.1:1");
  auto client = make_http_client();
  const auto response = http_fetch(*client, through_proxy("https://service.test/"));
  EXPECT_EQ(kind_of(response), "connect");
  EXPECT_EQ(response.error().message,
            "cannot connect to the proxy 127.0.0.1:1, from HTTPS_PROXY: Connection refused");
}

TEST_F(HttpClientThroughProxy, ProxyThatHangsUp_IsAProxyError) {
  TestServer proxy([](const TestRequest&, TestConnection& to) { to.close(); });
  set("HTTPS_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  EXPECT_EQ(kind_of(http_fetch(*client, through_proxy("https://service.test/"))), "proxy");
}

TEST_F(HttpClientThroughProxy, SilentProxy_IsEndedByTheConnectLimit) {
  TestServer proxy([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  set("HTTPS_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  HttpRequest request = through_proxy("https://service.test/");
  request.timeouts.connect = std::chrono::milliseconds(50);
  EXPECT_EQ(kind_of(http_fetch(*client, request)), "timeout_connect");
}

TEST_F(HttpClientThroughProxy, NoProxyAndUseProxy_GoDirect) {
  TestServer proxy([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "proxy")); });
  TestServer origin([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "origin")); });
  set("HTTP_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  HttpRequest request = through_proxy(origin.url());
  EXPECT_EQ(http_fetch(*client, request)->body, "proxy");
  request.use_proxy = false;
  EXPECT_EQ(http_fetch(*client, request)->body, "origin");
  set("NO_PROXY", "127.0.0.1");
  EXPECT_EQ(http_fetch(*make_http_client(), through_proxy(origin.url()))->body, "origin");
}

TEST_F(HttpClientThroughProxy, AddressRule_JudgesTheTargetNotTheProxy) {
  TestServer proxy([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "proxy")); });
  set("HTTP_PROXY", "http://127.0.0.1:" + std::to_string(proxy.port()));
  auto client = make_http_client();
  HttpRequest request = through_proxy("http://10.0.0.1/");
  request.allow_address = [](std::string_view address) { return !is_non_public_address(address); };
  EXPECT_EQ(kind_of(http_fetch(*client, request)), "address_refused");
  request.url = "http://93.184.216.34/";
  EXPECT_TRUE(http_fetch(*client, request));
  EXPECT_EQ(proxy.requests().size(), 1u);
}

using HttpClientOverTls = HttpClientThroughProxy;

TestServer::Handler hello() {
  return [](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "hello")); };
}

TEST_F(HttpClientOverTls, TrustedServer_IsReachedOverOneConnection) {
  const TestCertificate certificate("127.0.0.1");
  TestServer server(hello(), &certificate);
  set("SSL_CERT_FILE", certificate.file());
  auto client = make_http_client();
  for (int i = 0; i < 3; ++i) {
    const auto response = http_fetch(*client, through_proxy(server.url()));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "hello");
  }
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(HttpClientOverTls, LargeBodies_PassBothWays) {
  const TestCertificate certificate("localhost");
  TestServer server(
      [](const TestRequest& request, TestConnection& to) { to.write(http_reply(200, request.body)); },
      &certificate);
  set("SSL_CERT_FILE", certificate.file());
  auto client = make_http_client();
  HttpRequest request = through_proxy("https://localhost:" + std::to_string(server.port()));
  request.method = "POST";
  request.body = std::make_shared<const std::string>(5'000'000, 'x');
  const auto response = http_fetch(*client, request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_TRUE(response->body == *request.body);
}

TEST_F(HttpClientOverTls, UntrustedServer_GetsNoRequest) {
  const TestCertificate certificate("127.0.0.1");
  TestServer server(hello(), &certificate);
  auto client = make_http_client();
  const auto response = http_fetch(*client, through_proxy(server.url()));
  EXPECT_EQ(kind_of(response), "tls");
  EXPECT_FALSE(response.error().retriable);
  EXPECT_NE(response.error().message.find("certificate"), std::string::npos) << response.error().message;
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(HttpClientOverTls, CertificateForAnotherHost_IsRefused) {
  for (const char* name : {"other.test", "127.0.0.2"}) {
    const TestCertificate certificate(name);
    TestServer server(hello(), &certificate);
    set("SSL_CERT_FILE", certificate.file());
    auto client = make_http_client();
    for (const std::string& url : {server.url(), "https://localhost:" + std::to_string(server.port())}) {
      EXPECT_EQ(kind_of(http_fetch(*client, through_proxy(url))), "tls") << name;
    }
    EXPECT_TRUE(server.requests().empty());
  }
}

TEST_F(HttpClientOverTls, CutWithoutCloseNotify_IsNotAnEndOfTheBody) {
  const TestCertificate certificate("127.0.0.1");
  TestServer server(
      [](const TestRequest& request, TestConnection& to) {
        to.write("HTTP/1.1 200 OK\r\n\r\nbody");
        request.target == "/cut" ? to.cut() : to.close();
      },
      &certificate);
  set("SSL_CERT_FILE", certificate.file());
  auto client = make_http_client();
  EXPECT_EQ(http_fetch(*client, through_proxy(server.url("/end")))->body, "body");
  EXPECT_EQ(kind_of(http_fetch(*client, through_proxy(server.url("/cut")))), "closed");
}

TEST_F(HttpClientOverTls, SilentHandshake_IsEndedByTheConnectLimit) {
  TestServer plain([](const TestRequest&, TestConnection&) {});
  auto client = make_http_client();
  HttpRequest request = through_proxy("https://127.0.0.1:" + std::to_string(plain.port()));
  request.timeouts.connect = std::chrono::milliseconds(50);  // the server waits for a line that never comes
  EXPECT_EQ(kind_of(http_fetch(*client, request)), "timeout_connect");
}

TEST_F(HttpClientOverTls, Stop_EndsTheHandshake) {
  TestServer silent([](const TestRequest&, TestConnection&) {});
  auto client = make_http_client();
  std::stop_source stop;
  std::jthread stopper([&] {
    while (silent.connections() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  const auto response = http_fetch(
      *client, through_proxy("https://127.0.0.1:" + std::to_string(silent.port())), stop.get_token());
  EXPECT_EQ(response.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace praxis
