// The page: files of a pack, and how a browser gets its token.
#include "server/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/access.hpp"
#include "server/login_code.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPack =
    R"({"files":[{"path":"/","type":"text/html; charset=utf-8","etag":"e1","cache":"check","bodies":)"
    R"({"br":{"begin":0,"size":2},"gzip":{"begin":2,"size":2},"identity":{"begin":4,"size":4}}},)"
    R"({"path":"/assets/a.js","type":"text/javascript","etag":"e2","cache":"immutable","bodies":)"
    R"({"identity":{"begin":4,"size":3}}},)"
    R"({"path":"/assets/cut.js","type":"text/javascript","etag":"e3","bodies":)"
    R"({"identity":{"begin":4,"size":5}}}]})"
    "\nBRGZtext";

HttpAnswer answer_of(const std::string& path, const std::string& accepted, const std::string& known = {}) {
  HttpHeaders headers;
  if (!accepted.empty()) headers.emplace_back("Accept-Encoding", accepted);
  if (!known.empty()) headers.emplace_back("If-None-Match", known);
  return Page(kPack).answer(path, headers).value_or(HttpAnswer{404, {}, ""});
}

std::string header_of(const HttpAnswer& answer, std::string_view name) {
  return std::string(find_header(answer.headers, name).value_or(""));
}

TEST(Page, AnswersInTheBestEncodingThatTheClientTakes) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "text"},           {"gzip", "GZ"},       {"gzip, deflate, br", "BR"},
      {"br;q=0, gzip", "GZ"}, {"br;q=0.0", "text"}, {"br;q=0.5", "BR"},
      {"xbr", "text"},        {"BR ; q=1.0", "BR"}};
  for (const auto& [accepted, body] : cases) {
    const HttpAnswer answer = answer_of("/", accepted);
    EXPECT_EQ(answer.body, body) << accepted;
    EXPECT_EQ(header_of(answer, "content-encoding"), body == "BR" ? "br" : body == "GZ" ? "gzip" : "");
    EXPECT_EQ(header_of(answer, "vary"), "Accept-Encoding");
  }
  EXPECT_EQ(answer_of("/assets/a.js", "br").body, "tex");
}

TEST(Page, ClientThatHasAFileGetsNoBody) {
  EXPECT_EQ(header_of(answer_of("/", "br"), "etag"), "\"e1-br\"");
  EXPECT_EQ(answer_of("/", "br", "\"e1-br\"").status, 304);
  EXPECT_EQ(answer_of("/", "br", "\"e1-br\"").body, "");
  EXPECT_EQ(answer_of("/", "gzip", "\"e1-br\"").status, 200);
  EXPECT_EQ(header_of(answer_of("/", ""), "cache-control"), "no-cache");
  EXPECT_THAT(header_of(answer_of("/assets/a.js", ""), "cache-control"), HasSubstr("immutable"));
}

TEST(Page, PolicyForbidsWhatIsInlineOrFromElsewhere) {
  const std::string policy = header_of(answer_of("/", ""), "content-security-policy");
  for (const char* rule : {"default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'",
                           "form-action 'none'", "frame-ancestors 'none'"})
    EXPECT_THAT(policy, HasSubstr(rule));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_EQ(header_of(answer_of("/", ""), "referrer-policy"), "no-referrer");
}

TEST(Page, FilesOutsideOfThePackAreNotFound) {
  EXPECT_EQ(answer_of("/assets/b.js", "").status, 404);
  EXPECT_EQ(answer_of("/assets/cut.js", "").status, 404);
  for (const char* pack : {"", "{}", "{}\n", "no JSON\n", "{\"files\":7}\n"}) {
    const auto answer = Page(pack).answer("/", {});
    ASSERT_TRUE(answer) << pack;
    EXPECT_THAT(answer->body, HasSubstr("make page")) << pack;
  }
}

TEST(LoginCode, IsGoodOnceWithinItsTime) {
  LoginCode code("right", "token", UnixMillis{1'000});
  EXPECT_EQ(code.exchange("wrong", UnixMillis{1}), std::nullopt);
  EXPECT_EQ(code.exchange("right", UnixMillis{999}), "token");
  EXPECT_EQ(code.exchange("right", UnixMillis{999}), std::nullopt);
  LoginCode late("right", "token", UnixMillis{1'000});
  EXPECT_EQ(late.exchange("right", UnixMillis{1'000}), std::nullopt);
  EXPECT_EQ(late.exchange("right", UnixMillis{1}), std::nullopt);
}

TEST(LoginCode, FiveWrongCodesSpendIt) {
  LoginCode spent("right", "token", UnixMillis{1'000});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(spent.exchange("wrong", UnixMillis{1}), std::nullopt);
  EXPECT_EQ(spent.exchange("right", UnixMillis{1}), std::nullopt);
  LoginCode tried("right", "token", UnixMillis{1'000});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(tried.exchange("", UnixMillis{1}), std::nullopt);
  EXPECT_EQ(tried.exchange("right", UnixMillis{1}), "token");
}

class ServedPage : public testing::ServerTest {};

TEST_F(ServedPage, NeedsNoTokenAndRunsNoForeignScript) {
  start();
  const testing::Answer page = call("GET", "/", "", "");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page.head, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(page.body, HasSubstr("<title>Praxis</title>"));
  EXPECT_EQ(call("GET", "/assets/missing.js", "", "").status, 404);
}

TEST_F(ServedPage, CodeIsExchangedForTheTokenOnce) {
  ServerOptions options;
  options.login_code = "the-code";
  options.login_token = testing::kOwner;
  start(std::move(options));
  EXPECT_EQ(call("POST", "/api/v1/login", R"({"code":"another"})", "").status, 403);
  EXPECT_EQ(call("POST", "/api/v1/login", R"({"code":"the-code"})", "", "Origin: http://evil\r\n").status,
            403);
  const testing::Answer first = call("POST", "/api/v1/login", R"({"code":"the-code"})", "");
  EXPECT_EQ(first.text("token"), testing::kOwner);
  EXPECT_THAT(first.head, HasSubstr("Cache-Control: no-store"));
  EXPECT_EQ(call("POST", "/api/v1/login", R"({"code":"the-code"})", "").status, 403);
}

TEST_F(ServedPage, WithoutACodeLoginIsRefused) {
  start();
  EXPECT_EQ(call("POST", "/api/v1/login", R"({"code":""})", "").status, 403);
  EXPECT_EQ(call("POST", "/api/v1/login", R"({})", "").status, 403);
}

}  // namespace
}  // namespace praxis::server
