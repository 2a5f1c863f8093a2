#include "net/egress_proxy_message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace praxis {
namespace {

using namespace std::string_literals;

// Returns `host:port` as judged and dialled, or the status of the refusal.
std::string outcome(const std::string& head) {
  const auto request = parse_egress_request(head);
  if (!request) return std::to_string(request.error().status);
  return request->url.host + ":" + std::to_string(request->url.port);
}
std::string connect_outcome(const std::string& target) {
  return outcome("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n");
}
std::string get_outcome(const std::string& target) {
  return outcome("GET " + target + " HTTP/1.1\r\nHost: good.example\r\n");
}

struct Case {
  std::string target;
  std::string outcome;
};

TEST(EgressRequest, AmbiguousTunnelTarget_IsRefused) {
  const std::vector<Case> cases = {
      {"good.example:443", "good.example:443"},
      {"GoOd.ExAmPlE:443", "good.example:443"},
      // One final dot is stripped before the host is judged and dialled.
      {"good.example.:443", "good.example:443"},
      {"good.example..:443", "400"},
      {".good.example:443", "400"},
      {"xn--bcher-kva.example:443", "xn--bcher-kva.example:443"},
      {"evil.example\0.good.example:443"s, "400"},
      {"evil.example%00.good.example:443", "400"},
      {"evil.example%2f.good.example:443", "400"},
      {"evil.example\n.good.example:443", "400"},
      {"evil.example\r.good.example:443", "400"},
      {"evil.example\t.good.example:443", "400"},
      {"evil.example\x7f.good.example:443", "400"},
      {"evil.example\\.good.example:443", "400"},
      {"evil.example/.good.example:443", "400"},
      {"evil.example?.good.example:443", "400"},
      {"evil.example#.good.example:443", "400"},
      {"evil.example @good.example:443", "400"},
      {"evil.example@good.example:443", "400"},
      {"good.example:443@evil.example:443", "400"},
      {"b\xc3\xbc"
       "cher.example:443",
       "400"},
      {"good\xe3\x80\x82"
       "example:443",
       "400"},                                 // an ideographic full stop
      {"g\xef\xbd\x8fod.example:443", "400"},  // a full-width letter
      {"good.example", "400"},
      {"good.example:", "400"},
      {"good.example:0", "400"},
      {"good.example:65536", "400"},
      {"good.example:+443", "400"},
      {"good.example:443:443", "400"},
      {":443", "400"},
      {"", "400"},
      {"*:443", "400"},
      {"https://good.example:443", "400"},
      {"127.0.0.1:80", "127.0.0.1:80"},
      {"2130706433:80", "400"},
      {"0x7f000001:80", "400"},
      {"0x7f.0.0.1:80", "400"},
      {"0177.0.0.1:80", "400"},
      {"127.1:80", "400"},
      {"127.0.0.01:80", "400"},
      {"127.0.0.0x1:80", "400"},
      {"127.0.0.1.:80", "127.0.0.1:80"},
      {"[::1]:80", "::1:80"},
      {"[::FFFF:127.0.0.1]:80", "::ffff:127.0.0.1:80"},
      {"[::1]", "400"},
      {"[::1%25lo]:80", "400"},
      {"[::1%lo]:80", "400"},
      {"[fe80::1]x:80", "400"},
      {"[good.example]:80", "400"},
      {"::1:80", "400"},
  };
  for (const Case& one : cases) EXPECT_EQ(connect_outcome(one.target), one.outcome) << one.target;
}

TEST(EgressRequest, AmbiguousPlainTarget_IsRefused) {
  const std::vector<Case> cases = {
      {"http://good.example/", "good.example:80"},
      {"HTTP://GOOD.example:8080", "good.example:8080"},
      {"http://good.example./x", "good.example:80"},
      {"https://good.example/", "400"},
      {"ftp://good.example/", "400"},
      {"//good.example/", "400"},
      {"/", "400"},
      {"*", "400"},
      {"good.example:80", "400"},
      {"http:good.example", "400"},
      {"http:///good.example", "400"},
      {"http://user@good.example/", "400"},
      {"http://user:password@good.example/", "400"},
      {"http://good.example@evil.example/", "400"},
      {"http://evil.example\\@good.example/", "400"},
      {"http://evil.example\\.good.example/", "400"},
      {"http://evil.example#@good.example/", "evil.example:80"},
      {"http://evil.example?@good.example/", "evil.example:80"},
      {"http://evil.example/\0http://good.example/"s, "400"},
      {"http://evil.example%00.good.example/", "400"},
      {"http://evil.example /good.example", "400"},
      {"http://017700000001/", "400"},
      {"http://[::1]/", "::1:80"},
  };
  for (const Case& one : cases) EXPECT_EQ(get_outcome(one.target), one.outcome) << one.target;
}

TEST(EgressRequest, MalformedHead_IsRefused) {
  const std::vector<Case> cases = {
      {"", "400"},
      {"\r\n", "400"},
      {"GET\r\n", "400"},
      {"GET http://a.example/\r\n", "400"},
      {"GET http://a.example/ HTTP/2.0\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1 \r\n", "400"},
      {"GET  http://a.example/ HTTP/1.1\r\n", "400"},
      {"G\tT http://a.example/ HTTP/1.1\r\n", "400"},
      {"connect a.example:443 HTTP/1.1\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\nHost: b.example\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\nName : value\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\n Name: value\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\nName: value\r\n folded\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\nName\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\nName: a\nOther: b\r\n", "400"},
      {"GET http://a.example/ HTTP/1.1\r\nName: a\0b\r\n"s, "400"},
      {"CONNECT a.example:443 HTTP/1.1\r\nName\r\n", "400"},
      {"GET http://a.example/ HTTP/1.0\r\n", "a.example:80"},
      {"GET http://a.example/ HTTP/1.1\r\nName:\r\n", "a.example:80"},
  };
  for (const Case& one : cases) EXPECT_EQ(outcome(one.target), one.outcome) << one.target;
}

TEST(EgressRequest, BodyWithoutAUniqueLength_IsRefused) {
  const std::vector<Case> cases = {
      {"Content-Length: 12\r\n", "a.example:80"},
      {"Content-Length: 12\r\nContent-Length: 12\r\n", "400"},
      {"Content-Length: 12\r\ncontent-length: 13\r\n", "400"},
      {"Content-Length: 12, 12\r\n", "400"},
      {"Content-Length: +12\r\n", "400"},
      {"Content-Length: -1\r\n", "400"},
      {"Content-Length: 0x1\r\n", "400"},
      {"Content-Length:\r\n", "400"},
      {"Content-Length: 18446744073709551616\r\n", "400"},
      {"Transfer-Encoding: chunked\r\n", "411"},
      {"Transfer-Encoding: chunked\r\nContent-Length: 12\r\n", "400"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(outcome("POST http://a.example/ HTTP/1.1\r\n" + one.target), one.outcome) << one.target;
  }
}

TEST(EgressRequest, ForwardedHead_HasTheParsedHostAndNoHopByHopHeaders) {
  const auto request = parse_egress_request(
      "POST http://Good.Example.:8080/path?q=%20#part HTTP/1.1\r\n"
      "Host: evil.example\r\n"
      "hOsT: other.example\r\n"
      "Accept: */*\r\n"
      "Connection: X-Mine, content-length ,Host, keep-alive\r\n"
      "X-Mine: 1\r\n"
      "Keep-Alive: timeout=5\r\n"
      "Proxy-Connection: keep-alive\r\n"
      "Proxy-Authorization: Basic c2VjcmV0\r\n"
      "TE: trailers\r\n"
      "Upgrade: h2c\r\n"
      "Content-Length: 007\r\n");
  ASSERT_TRUE(request && request->forward);
  EXPECT_EQ(request->forward->head,
            "POST /path?q=%20 HTTP/1.1\r\n"
            "Host: good.example:8080\r\n"
            "Accept: */*\r\n"
            "Content-Length: 7\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(request->forward->body_bytes, 7u);
}

TEST(EgressRequest, ForwardedHead_HasTheParsedLengthOnce) {
  const auto request = parse_egress_request("POST http://a.example HTTP/1.0\r\nContent-Length:  007\r\n");
  ASSERT_TRUE(request && request->forward);
  EXPECT_EQ(request->forward->head,
            "POST / HTTP/1.0\r\nHost: a.example\r\nContent-Length: 7\r\nConnection: close\r\n\r\n");
}

TEST(EgressAnswer, HopByHopHeaders_AreRemovedAndBodiesUnchanged) {
  const std::string from_server =
      "HTTP/1.1 100 Continue\r\nKeep-Alive: 1\r\n\r\n"
      "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop, Content-Length\r\nX-Hop: 1\r\nContent-Length: 12\r\n"
      "Set-Cookie: a\r\nSet-Cookie: b\r\n\r\n"
      "\r\n\r\nbody\r\n\r\n";
  const std::string for_client =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: close\r\n\r\n"
      "\r\n\r\nbody\r\n\r\n";
  for (std::size_t step = 1; step <= from_server.size(); ++step) {
    EgressAnswer answer;
    std::string passed;
    for (std::size_t at = 0; at < from_server.size(); at += step) {
      passed += answer.pass(from_server.substr(at, step)).value_or("broken");
    }
    EXPECT_EQ(passed, for_client) << "in pieces of " << step;
    EXPECT_TRUE(answer.begun());
  }
}

TEST(EgressAnswer, ResponseOtherThanHttp1_IsNotForwarded) {
  for (const std::string head :
       {"SSH-2.0-server\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 20x No\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n"}) {
    EgressAnswer answer;
    EXPECT_FALSE(answer.pass(head)) << head;
    EXPECT_FALSE(answer.begun()) << head;
  }
  EgressAnswer endless;
  EXPECT_TRUE(endless.pass("HTTP/1.1 200 OK\r\nA: "));
  EXPECT_FALSE(endless.pass(std::string(kMaxEgressHeadBytes, 'a')));
}

}  // namespace
}  // namespace praxis
