#include "praxis/tools/http_tool.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "net/testing/test_server.hpp"
#include "praxis/base/reach.hpp"
#include "tools/host_rules.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

std::string local(const TestServer& server) { return "127.0.0.1:" + std::to_string(server.port()); }

Tool http(std::vector<std::string> allow_hosts, std::size_t max_body_bytes = 1024 * 1024) {
  auto tool = http_tool(make_http_client(), {std::move(allow_hosts), max_body_bytes});
  EXPECT_TRUE(tool) << tool.error().message;
  return std::move(*tool);
}

Error error_of(const Result<ToolOutput>& result) {
  EXPECT_FALSE(result);
  return result ? Error{} : result.error();
}

TestServer::Handler always(std::string reply) {
  return [reply = std::move(reply)](const TestRequest&, TestConnection& to) { to.write(reply); };
}
TestServer::Handler redirects(int status, const std::string& location) {
  return always(http_reply(status, "", "Location: " + location + "\r\n"));
}
/// Redirects `/start` to `location`; answers all other paths.
TestServer::Handler redirects_once(int status, const std::string& location) {
  return [=](const TestRequest& request, TestConnection& to) {
    to.write(request.target == "/start" ? http_reply(status, "", "Location: " + location + "\r\n")
                                        : http_reply(200, "arrived"));
  };
}

TEST(HttpTool, Request_GivesStatusTypeAndBodyAsTextAndValue) {
  TestServer server(always(http_reply(404, "none\xff", "Content-Type: text/plain\r\n")));
  auto output =
      call_with(http({local(server)}), {{"url", server.url("/a?b=c")}, {"headers", {{"X-Note", "hi"}}}});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->text, "HTTP 404\ncontent-type: text/plain\n\nnone\xEF\xBF\xBD");
  EXPECT_EQ(output->value.at("status"), 404);
  EXPECT_EQ(output->value.at("body"), "none\xEF\xBF\xBD");
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].method, "GET");
  EXPECT_EQ(server.requests()[0].target, "/a?b=c");
  EXPECT_EQ(find_header(server.requests()[0].headers, "x-note"), "hi");
}

TEST(HttpTool, SpanOfTheCall_IsSentOnlyIfTheOptionSaysSo) {
  TestServer server(always(http_reply(200, "")));
  ToolContext context;
  context.trace = new_trace(1, 2);
  context.trace.state = "rojo=1";
  for (const bool send : {false, true}) {
    HttpToolOptions options{.allow_hosts = {local(server)}};
    options.send_trace = send;
    ToolSet set;
    ASSERT_TRUE(set.add(*http_tool(make_http_client(), options)));
    ASSERT_TRUE(set.execute(context, "http", to_json_text(JsonObject{{"url", server.url()}})));
  }
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_FALSE(find_header(server.requests()[0].headers, "traceparent"));
  EXPECT_EQ(find_header(server.requests()[1].headers, "traceparent"), traceparent(context.trace));
  EXPECT_FALSE(find_header(server.requests()[0].headers, "tracestate"));
  EXPECT_EQ(find_header(server.requests()[1].headers, "tracestate"), "rojo=1");
}

TEST(HttpTool, Request_SendsMethodAndBody) {
  TestServer server(always(http_reply(201, std::string("\0\1", 2))));
  auto output =
      call_with(http({local(server)}), {{"url", server.url()}, {"method", "PATCH"}, {"body", "{}"}});
  EXPECT_EQ(text_of(output), "HTTP 201\n\n[2 bytes that are not text; not shown]");
  EXPECT_EQ(server.requests().at(0).method, "PATCH");
  EXPECT_EQ(server.requests().at(0).body, "{}");
  EXPECT_NE(text_of(call_with(http({}), {{"url", "http://x"}, {"method", "TRACE"}})).find("/method"),
            std::string::npos);
}

TEST(HttpTool, HostsNotListed_AreRefusedBeforeAnyConnection) {
  TestServer server(always(http_reply(200, "secret")));
  const std::string other_port = "127.0.0.1:" + std::to_string(server.port() == 1 ? 2 : server.port() - 1);
  for (const std::vector<std::string>& allowed :
       {std::vector<std::string>{}, {"example.com", "*.example.com"}, {other_port}, {"localhost"}}) {
    EXPECT_EQ(error_of(call_with(http(allowed), {{"url", server.url()}})).code, ErrorCode::kPolicy);
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST(HttpTool, UnusableUrlsAndHeaders_AreInputErrors) {
  TestServer server(always(http_reply(200, "secret")));
  const Tool tool = http({local(server)});
  for (const std::string& url :
       {"http://user:pw@" + local(server), "http://example.com@" + local(server),
        std::string("file:///etc/passwd"), std::string("gopher://127.0.0.1/"),
        "http://" + local(server) + "\\@example.com", std::string("http://2130706433/")}) {
    EXPECT_EQ(error_of(call_with(tool, {{"url", url}})).code, ErrorCode::kInput) << url;
  }
  for (const auto& headers : {Json{{"X", "a\r\nY: b"}}, Json{{"Host", "example.com"}}, Json{{"A b", "c"}}}) {
    EXPECT_EQ(error_of(call_with(tool, {{"url", server.url()}, {"headers", headers}})).code,
              ErrorCode::kInput);
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST(HttpTool, LoopbackAddress_IsReachedOnlyIfListed) {
  TestServer server(always(http_reply(200, "hello")));
  const std::string url = "http://localhost:" + std::to_string(server.port());
  EXPECT_EQ(text_of(call_with(http({"localhost"}), {{"url", url}})), "HTTP 200\n\nhello");
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  auto named =
      call_with(http({name}), {{"url", "http://" + std::string(name) + ":" + std::to_string(server.port())}});
  EXPECT_EQ(error_of(named).code, ErrorCode::kTool) << "the machine's own name leads to a private address";
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(HttpTool, Redirects_AreFollowedWithTheRequiredMethod) {
  TestServer server(redirects_once(303, "end?x=1"));
  const Json post{{"url", server.url("/start")}, {"method", "POST"}, {"body", "data"}};
  EXPECT_EQ(text_of(call_with(http({local(server)}), post)), "HTTP 200\n\narrived");
  EXPECT_EQ(server.requests().at(1).method, "GET");
  EXPECT_EQ(server.requests().at(1).target, "/end?x=1");
  EXPECT_EQ(server.requests().at(1).body, "");

  TestServer keeping(redirects_once(307, "/end"));
  const Json put{{"url", keeping.url("/start")}, {"method", "POST"}, {"body", "data"}};
  EXPECT_EQ(text_of(call_with(http({local(keeping)}), put)), "HTTP 200\n\narrived");
  EXPECT_EQ(keeping.requests().at(1).method, "POST");
  EXPECT_EQ(keeping.requests().at(1).body, "data");
}

TEST(HttpTool, RedirectToAHostNotListed_IsRefusedWithoutConnecting) {
  TestServer inner(always(http_reply(200, "secret")));
  for (const std::string& location :
       {inner.url(), "//" + local(inner) + "/", std::string("http://169.254.169.254/latest/")}) {
    TestServer outer(redirects(302, location));
    EXPECT_EQ(error_of(call_with(http({local(outer)}), {{"url", outer.url()}})).code, ErrorCode::kPolicy)
        << location;
  }
  TestServer outer(redirects(302, "file:///etc/passwd"));
  EXPECT_EQ(error_of(call_with(http({local(outer)}), {{"url", outer.url()}})).code, ErrorCode::kTool);
  EXPECT_EQ(inner.connections(), 0U);
}

TEST(HttpTool, RedirectToAnotherOrigin_CarriesNoCredentials) {
  TestServer other(always(http_reply(200, "other")));
  TestServer first(redirects_once(302, other.url()));
  const Json headers{
      {"Authorization", "Bearer x"}, {"Cookie", "a=b"}, {"X-Api-Key", "k"}, {"Accept", "text/html"}};
  const Tool tool = http({local(first), local(other)});
  EXPECT_EQ(text_of(call_with(tool, {{"url", first.url("/start")}, {"headers", headers}})),
            "HTTP 200\n\nother");
  const HttpHeaders sent = other.requests().at(0).headers;
  for (std::string_view name : {"Authorization", "Cookie", "X-Api-Key"})
    EXPECT_FALSE(find_header(sent, name)) << name;
  EXPECT_EQ(find_header(sent, "Accept"), "text/html");

  TestServer same(redirects_once(302, "/end"));
  EXPECT_TRUE(call_with(http({local(same)}), {{"url", same.url("/start")}, {"headers", headers}}));
  EXPECT_EQ(find_header(same.requests().at(1).headers, "Authorization"), "Bearer x");
}

TEST(HttpTool, EndlessRedirects_StopAfterFive) {
  TestServer server(redirects(302, "/again"));
  EXPECT_NE(
      error_of(call_with(http({local(server)}), {{"url", server.url()}})).message.find("five redirects"),
      std::string::npos);
  EXPECT_EQ(server.requests().size(), 6U);
}

TEST(HttpTool, RedirectFromHttpsToHttp_IsRefused) {
  const TestCertificate certificate("127.0.0.1");
  setenv("SSL_CERT_FILE", certificate.file().c_str(), 1);
  TestServer plain(always(http_reply(200, "plain")));
  TestServer secure(redirects(302, plain.url()), &certificate);
  auto error = error_of(call_with(http({local(secure), local(plain)}), {{"url", secure.url()}}));
  unsetenv("SSL_CERT_FILE");
  EXPECT_EQ(error.code, ErrorCode::kPolicy) << error.message;
  EXPECT_EQ(secure.requests().size(), 1U);
  EXPECT_EQ(plain.connections(), 0U);
}

TEST(HttpTool, TransientFailures_AreRetriedOnlyForIdempotentMethods) {
  std::atomic<int> count = 0;
  TestServer server([&](const TestRequest&, TestConnection& to) {
    ++count == 1 ? to.write(http_reply(503, "busy")) : to.write(http_reply(200, "ready"));
  });
  EXPECT_EQ(text_of(call_with(http({local(server)}), {{"url", server.url()}})), "HTTP 200\n\nready");
  EXPECT_EQ(count, 2);
  count = 0;
  EXPECT_EQ(text_of(call_with(http({local(server)}), {{"url", server.url()}, {"method", "POST"}})),
            "HTTP 503\n\nbusy");
  EXPECT_EQ(count, 1);
}

TEST(HttpTool, OversizedResponses_AreErrorsAndLongBodiesAreTruncated) {
  TestServer server(always(http_reply(200, std::string(100'000, 'a'))));
  auto error = error_of(call_with(http({local(server)}, 50'000), {{"url", server.url()}}));
  EXPECT_EQ(error.code, ErrorCode::kTool);
  EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
  auto output = call_with(http({local(server)}), {{"url", server.url()}});
  EXPECT_TRUE(output->text.ends_with("\n[34464 more bytes; ask for less]"));
  EXPECT_EQ(json_string(output->value, "body").size(), 100'000U);
}

TEST(HttpTool, SilentServer_EndsInATimeoutOrOnStop) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  auto error = error_of(call_with(http({local(server)}), {{"url", server.url()}, {"timeout_ms", 50}}));
  EXPECT_EQ(error.code, ErrorCode::kTool) << error.message;
  std::stop_source stop;
  std::jthread stopper([&] {
    server.wait_for_requests(2);
    stop.request_stop();
  });
  auto cancelled = call(http({local(server)}), R"({"url":")" + server.url() + R"("})", stop.get_token());
  EXPECT_EQ(error_of(cancelled).code, ErrorCode::kCancelled);
}

// ---- how far a call had got

/// The error of a call that is stopped once `server` has read `requests` requests.
Error stopped_at(TestServer& server, std::size_t requests, const Json& arguments) {
  std::stop_source stop;
  std::jthread stopper([&] {
    server.wait_for_requests(requests);
    stop.request_stop();
  });
  return error_of(call(http({local(server)}), to_json_text(arguments), stop.get_token()));
}

TEST(HttpTool, StoppedCall_StatesThatItWasSentUnlessItOnlyReads) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  std::size_t requests = 0;
  for (const auto& [method, reach] : {std::pair{"POST", Reach::kSent},
                                      {"PUT", Reach::kSent},
                                      {"DELETE", Reach::kSent},
                                      {"PATCH", Reach::kSent},
                                      {"GET", Reach::kNotSent},
                                      {"HEAD", Reach::kNotSent}}) {
    const Error error = stopped_at(server, ++requests, {{"url", server.url()}, {"method", method}});
    EXPECT_EQ(error.code, ErrorCode::kCancelled) << method;
    EXPECT_EQ(reach_of(error), reach) << method;
  }
}

TEST(HttpTool, CallWithoutAConnection_StatesThatItWasNotSent) {
  const auto refused =
      error_of(call_with(http({"127.0.0.1:1"}), {{"url", "http://127.0.0.1:1/"}, {"method", "POST"}}));
  EXPECT_EQ(refused.kind(), ErrorKind::kConnect);
  EXPECT_EQ(reach_of(refused), Reach::kNotSent);
}

TEST(HttpTool, CallWithoutAnAnswer_StatesThatItWasSent) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    request.target == "/closes" ? to.close() : to.wait_for_close();
  });
  const Json late{{"url", server.url()}, {"method", "POST"}, {"timeout_ms", 50}};
  EXPECT_EQ(reach_of(error_of(call_with(http({local(server)}), late))), Reach::kSent);
  const Json cut{{"url", server.url("/closes")}, {"method", "POST"}};
  EXPECT_EQ(reach_of(error_of(call_with(http({local(server)}), cut))), Reach::kSent);
}

TEST(HttpTool, AnswerThatCannotBeUsed_StatesThatTheOtherSideAnswered) {
  TestServer server(always(http_reply(200, std::string(100'000, 'a'))));
  const Json post{{"url", server.url()}, {"method", "POST"}};
  EXPECT_EQ(reach_of(error_of(call_with(http({local(server)}, 50'000), post))), Reach::kAnswered);
}

TEST(HttpTool, RequestBeforeARedirect_CountsWhenTheCallIsStopped) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    if (request.target == "/start") {
      to.write(http_reply(303, "", "Location: /result\r\n"));
    } else {
      to.wait_for_close();
    }
  });
  const Error error = stopped_at(server, 2, {{"url", server.url("/start")}, {"method", "POST"}});
  EXPECT_EQ(reach_of(error), Reach::kSent) << "the POST was answered, the result was not read";
}

bool allows(std::vector<std::string> entries, std::string_view url) {
  auto rules = HostRules::parse(entries);
  EXPECT_TRUE(rules) << rules.error().message;
  return rules->allows(*parse_url(url));
}

TEST(HostRules, Entries_MatchHostsPortsAndSubdomains) {
  EXPECT_TRUE(allows({"example.com"}, "https://example.com/x"));
  EXPECT_TRUE(allows({"Example.COM"}, "https://EXAMPLE.com.:8443"));
  EXPECT_FALSE(allows({"example.com"}, "https://www.example.com"));
  EXPECT_FALSE(allows({"example.com"}, "https://example.com.evil.net"));
  EXPECT_TRUE(allows({"*.example.com"}, "https://a.b.example.com"));
  EXPECT_FALSE(allows({"*.example.com"}, "https://example.com"));
  EXPECT_FALSE(allows({"*.example.com"}, "https://evilexample.com"));
  EXPECT_TRUE(allows({"example.com:8080"}, "http://example.com:8080"));
  EXPECT_FALSE(allows({"example.com:8080"}, "http://example.com"));
  EXPECT_TRUE(allows({"example.com:443"}, "https://example.com"));
  EXPECT_FALSE(allows({"example.com:443"}, "http://example.com"));
  EXPECT_TRUE(allows({"[::1]:80"}, "http://[::1]/"));
  for (const char* bad :
       {"", "*", "*.", "http://example.com", "example.com/path", "a@b", "exa mple", "*.*.com", "1.2.3"}) {
    EXPECT_FALSE(HostRules::parse({bad})) << bad;
  }
}

TEST(HostRules, Addresses_MustBePublicOrListedThemselves) {
  const auto rules = *HostRules::parse({"wiki.corp", "10.1.2.3:80", "*.example.com", "localhost:80"});
  const auto judge = [&](std::string_view url, std::string_view address) {
    return rules.allows_address(*parse_url(url), address);
  };
  EXPECT_TRUE(judge("http://wiki.corp", "93.184.216.34"));
  EXPECT_TRUE(judge("http://wiki.corp", "10.1.2.3"));
  EXPECT_FALSE(judge("http://wiki.corp:8080", "10.1.2.3"));
  EXPECT_FALSE(judge("http://wiki.corp", "10.1.2.4"));
  EXPECT_FALSE(judge("http://a.example.com", "127.0.0.1"));
  EXPECT_FALSE(judge("http://a.example.com", "::ffff:169.254.169.254"));
  EXPECT_TRUE(judge("http://localhost", "127.0.0.1"));
  EXPECT_TRUE(judge("http://localhost", "::1"));
  EXPECT_FALSE(judge("http://localhost", "10.1.2.9"));
  EXPECT_FALSE(judge("http://localhost:22", "127.0.0.1"));
}

}  // namespace
}  // namespace praxis
