// The texts and documents of OAuth, as the specifications have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/oauth_challenge.hpp"
#include "mcp/oauth_metadata.hpp"
#include "mcp/oauth_redirect.hpp"
#include "mcp/oauth_text.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OauthText, Pkce_GivesTheChallengeOfRfc7636) {
  EXPECT_EQ(pkce_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  EXPECT_EQ(oauth_random(*fixed_environment(1)).size(), 43U);
}

TEST(OauthText, Form_IsReadAsItWasWritten) {
  const FormFields fields{{"a", "x y&=%+\xc3\xa9"}, {"none", ""}, {"b", "https://h/p?q"}};
  const std::string text = form_of(fields);
  EXPECT_EQ(text, "a=x%20y%26%3D%25%2B%C3%A9&b=https%3A%2F%2Fh%2Fp%3Fq");
  auto read = read_form(text);
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)["a"], "x y&=%+\xc3\xa9");
  EXPECT_EQ(read_form("a=1+2").value()["a"], "1 2");
  EXPECT_FALSE(read_form("state=1&state=2")) << "two readers could take it differently";
}

TEST(OauthChallengeTest, BearerIsFoundAmongOthers) {
  const auto found =
      read_challenge(401, {{"WWW-Authenticate", R"(Basic realm="x, scope=\"no\"", Negotiate abc==)"},
                           {"www-authenticate", R"(BEARER error = invalid_token , scope="a b",)"
                                                R"( resource_metadata="https://h/\m")"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scope, "a b");
  EXPECT_EQ(found->metadata, "https://h/m");
  EXPECT_TRUE(read_challenge(401, {})) << "a server may say nothing else";
  EXPECT_FALSE(read_challenge(403, {{"WWW-Authenticate", "Bearer scope=\"a\""}}));
  EXPECT_TRUE(read_challenge(403, {{"WWW-Authenticate", "Bearer error=\"insufficient_scope\""}}));
  EXPECT_FALSE(read_challenge(500, {{"WWW-Authenticate", "Bearer"}}));
}

TEST(OauthMetadata, AddressesFollowThePathRules) {
  EXPECT_THAT(resource_addresses(parse_url("https://h.example:8443/a/mcp").value()),
              ElementsAre("https://h.example:8443/.well-known/oauth-protected-resource/a/mcp",
                          "https://h.example:8443/.well-known/oauth-protected-resource"));
  EXPECT_THAT(resource_addresses(parse_url("https://h.example").value()),
              ElementsAre("https://h.example/.well-known/oauth-protected-resource"));
  EXPECT_THAT(issuer_addresses(parse_url("https://h.example/tenant1").value()),
              ElementsAre("https://h.example/.well-known/oauth-authorization-server/tenant1",
                          "https://h.example/.well-known/openid-configuration/tenant1",
                          "https://h.example/tenant1/.well-known/openid-configuration"));
  EXPECT_THAT(issuer_addresses(parse_url("https://h.example/").value()),
              ElementsAre("https://h.example/.well-known/oauth-authorization-server",
                          "https://h.example/.well-known/openid-configuration"));
}

TEST(OauthMetadata, ResourceIsTheServerOrContainsIt) {
  const Url server = parse_url("https://h.example/a/mcp").value();
  const auto read = [&](const std::string& resource) {
    return read_resource(
        JsonObject{{"resource", resource}, {"authorization_servers", JsonArray{"https://as.example"}}},
        server);
  };
  for (const char* good : {"https://h.example/a/mcp", "https://h.example/a", "https://h.example"})
    EXPECT_TRUE(read(good)) << good;
  for (const char* bad :
       {"https://h.example/a/mcp/x", "https://h.example/a/m", "http://h.example/a/mcp",
        "https://h.example:444/a/mcp", "https://evil.example/a/mcp", "urn:x", "https://h.example/a/mcp#x"})
    EXPECT_FALSE(read(bad)) << bad;
  EXPECT_THAT(read("https://evil.example/").error().message, HasSubstr("another resource"));
  EXPECT_FALSE(read_resource(JsonObject{{"resource", "https://h.example/a/mcp"}}, server));
}

TEST(OauthScopes, AreJoinedAndCompared) {
  EXPECT_EQ(joined_scopes("a b", "b c"), "a b c");
  EXPECT_EQ(joined_scopes("", ""), "");
  EXPECT_TRUE(has_scopes("a b", "b"));
  EXPECT_FALSE(has_scopes("ab", "a"));
}

TEST(OauthRedirectTest, WithoutAnAnswerTheWaitEnds) {
  const auto redirect = OauthRedirect::start("state").value();
  const auto late = redirect->wait({}, std::chrono::milliseconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::kTimeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(redirect->wait(stop.get_token(), std::chrono::minutes(1)).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace praxis
