#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

TEST(ParseUrl, FillsInDefaults) {
  const auto url = parse_url("HTTPS://API.Example.COM.");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "api.example.com");
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->target, "/");
  EXPECT_FALSE(url->ipv6);
}

TEST(ParseUrl, KeepsTheTargetAsWrittenWithoutTheFragment) {
  EXPECT_EQ(parse_url("http://h:8080/a/../b%20c?q=1&r=/x?y#part")->target, "/a/../b%20c?q=1&r=/x?y");
  EXPECT_EQ(parse_url("http://h?q=a@b")->target, "/?q=a@b");
  EXPECT_EQ(parse_url("http://h:8080")->port, 8080);
  EXPECT_EQ(parse_url("http://h:")->port, 80);
}

TEST(ParseUrl, ReadsIpLiterals) {
  const auto v6 = parse_url("http://[2001:DB8::1]:81/x");
  ASSERT_TRUE(v6) << v6.error().message;
  EXPECT_EQ(v6->host, "2001:db8::1");
  EXPECT_EQ(v6->port, 81);
  EXPECT_TRUE(v6->ipv6);
  EXPECT_EQ(parse_url("http://127.0.0.1")->host, "127.0.0.1");
  EXPECT_TRUE(parse_url("http://127.0.0.1")->is_address);
  EXPECT_FALSE(parse_url("http://host")->is_address);
}

TEST(ParseUrl, AmbiguousUrls_AreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv,
                                      "example.com"sv,
                                      "ftp://h"sv,
                                      "file:///etc/passwd"sv,
                                      "http:/h"sv,
                                      "http://"sv,
                                      "http:///x"sv,
                                      "http://user@h"sv,
                                      "http://user:pw@h"sv,
                                      "http://a@b@c"sv,
                                      "http://h:0"sv,
                                      "http://h:65536"sv,
                                      "http://h:+80"sv,
                                      "http://h:80x"sv,
                                      "http://h:80:80"sv,
                                      "http://h /"sv,
                                      "http://h\t"sv,
                                      "http://h\\x"sv,
                                      "http://h/\r\nX: y"sv,
                                      "http://h\0.x"sv,
                                      "http://h%00.x"sv,
                                      "http://h%2e"sv,
                                      "http://a..b"sv,
                                      "http://.h"sv,
                                      "http://h.."sv,
                                      "http://."sv,
                                      "http://b\xc3\xbc"
                                      "cher.de"sv,
                                      "http://h/\xc3\xbc"sv,
                                      "http://[::1"sv,
                                      "http://[::1]x"sv,
                                      "http://[fe80::1%25eth0]"sv,
                                      "http://[1.2.3.4]"sv,
                                      "http://[::g]"sv,
                                      "http://2130706433"sv,
                                      "http://0x7f000001"sv,
                                      "http://127.1"sv,
                                      "http://0177.0.0.1"sv,
                                      "http://1.2.3.256"sv,
                                      "http://x.0x7f"sv,
                                      "http://h/\x7f"sv}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::kInput);
    EXPECT_FALSE(url.error().message.empty());
  }
  EXPECT_FALSE(parse_url("http://h/" + std::string(20'000, 'a')));
  EXPECT_FALSE(parse_url("http://" + std::string(64, 'a')));
  std::string long_name = "http://a";
  for (int i = 0; i < 200; ++i) long_name += ".a";
  EXPECT_FALSE(parse_url(long_name));
}

TEST(ParseUrl, ErrorNeverRepeatsTheUrl) {
  EXPECT_EQ(parse_url("http://user:hunter2@h").error().message.find("hunter2"), std::string::npos);
}

TEST(ParseUrl, HostWithOtherLetters_IsRefusedWithTheFormThatWorks) {
  const auto url = parse_url("http://b\u00fccher.example/");
  ASSERT_FALSE(url);
  EXPECT_TRUE(url.error().message.contains("punycode")) << url.error().message;
  EXPECT_TRUE(parse_url("http://xn--bcher-kva.example/"));
}

TEST(IsNonPublicAddress, CoversTheFirstAndLastAddressOfEachBlock) {
  for (const char* address : {"0.0.0.0",
                              "0.255.255.255",
                              "10.0.0.0",
                              "10.255.255.255",
                              "100.64.0.0",
                              "100.127.255.255",
                              "127.0.0.1",
                              "127.255.255.255",
                              "169.254.0.0",
                              "169.254.169.254",
                              "172.16.0.0",
                              "172.31.255.255",
                              "192.0.0.0",
                              "192.0.0.255",
                              "192.0.2.1",
                              "192.88.99.1",
                              "192.168.0.0",
                              "192.168.255.255",
                              "198.18.0.0",
                              "198.19.255.255",
                              "198.51.100.1",
                              "203.0.113.1",
                              "224.0.0.1",
                              "239.255.255.255",
                              "240.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "::7f00:1",
                              "::ffff:127.0.0.1",
                              "::ffff:10.1.2.3",
                              "64:ff9b::127.0.0.1",
                              "64:ff9b:1::8.8.8.8",
                              "2002:7f00:1::",
                              "2002:c0a8:101::",
                              "2001:0:7f00:1::",
                              "2001:0:808:808::80ff:fffe",
                              "fc00::",
                              "fdff:ffff::1",
                              "fe80::1",
                              "febf::1",
                              "fec0::1",
                              "ff02::1",
                              "2001:db8::1",
                              "100::1",
                              "2001:2::1",
                              "3fff:fff::1",
                              "4000::1",
                              "fe80::1%eth0",
                              "localhost",
                              "",
                              "8.8.8.8 ",
                              "08.8.8.8",
                              "8.8.8"}) {
    EXPECT_TRUE(is_non_public_address(address)) << address;
  }
}

TEST(IsNonPublicAddress, CoversIdentifiersThatAreNoAddresses) {
  for (const char* address : {"2001:10::1", "2001:1f:ffff::1", "2001:20::1", "2001:3f:ffff::1"})
    EXPECT_TRUE(is_non_public_address(address)) << address;
}

TEST(IsNonPublicAddress, TextAfterANulIsNotIgnored) {
  using namespace std::string_view_literals;
  for (const std::string_view address : {"8.8.8.8\0"sv, "8.8.8.8\0.example"sv, "2606:4700::1111\0"sv})
    EXPECT_TRUE(is_non_public_address(address)) << address;
}

TEST(IsNonPublicAddress, LeavesTheNeighboursAlone) {
  for (const char* address : {"1.0.0.0",         "9.255.255.255",        "11.0.0.0",
                              "100.63.255.255",  "100.128.0.0",          "126.255.255.255",
                              "128.0.0.0",       "169.253.255.255",      "169.255.0.0",
                              "172.15.255.255",  "172.32.0.0",           "192.0.1.0",
                              "192.0.3.0",       "192.167.255.255",      "192.169.0.0",
                              "198.17.255.255",  "198.20.0.0",           "198.51.101.0",
                              "203.0.114.0",     "223.255.255.255",      "8.8.8.8",
                              "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8",     "2002:808:808::",
                              "2606:4700::1111", "2001:4860:4860::8888", "2001:0:808:808::f7f7:f7f7",
                              "2001:40::1",      "3fff:1000::1"}) {
    EXPECT_FALSE(is_non_public_address(address)) << address;
  }
}

}  // namespace
}  // namespace praxis
