// Logins against real HTTP servers, kind and hostile ones.
#include "mcp/oauth_login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/testing/oauth_server.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::OauthBehaviour;
using testing::OauthServers;
using ::testing::StartsWith;

class OauthLoginTest : public ::testing::Test {
 protected:
  OauthLoginTest() {
    reach_.rule_for = [](const Url&) {
      return [](std::string_view address) { return address == "127.0.0.1"; };
    };
    reach_.http = make_http_client();
    reach_.is_local = true;
    reach_.use_proxy = false;
    request_.server = servers_.url();
    request_.challenge.status = 401;
    request_.limit = std::chrono::minutes(1);
    request_.show = [this](const std::string& address) {
      shown_ = address;
      OauthServers::open(address);
    };
  }
  Result<OauthLogin> log_in() { return praxis::log_in(reach_, request_, *environment_, {}); }
  /// A login that these servers must not get: no code reaches them.
  Error refused(const OauthBehaviour& behaviour) {
    servers_.behave(behaviour);
    const auto login = log_in();
    EXPECT_THAT(servers_.token_requests(), IsEmpty());
    return login ? make_error(ErrorCode::kInternal, "no error") : login.error();
  }
  std::string asked(const std::string& name) const { return OauthServers::field(shown_, name); }

  OauthServers servers_;
  OauthReach reach_;
  OauthRequest request_;
  std::string shown_;
  std::shared_ptr<Environment> environment_ = fixed_environment(7);
};

TEST_F(OauthLoginTest, CodeIsAskedForAndRedeemedAsTheSpecificationWants) {
  request_.challenge.scope = "read write";
  const auto login = log_in();
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ(login->issuer, servers_.issuer());
  EXPECT_EQ(login->tokens.access, "access-secret-1");
  EXPECT_EQ(login->scope, "read write");
  EXPECT_EQ(asked("resource"), servers_.url());
  EXPECT_EQ(asked("scope"), "read write");
  EXPECT_EQ(asked("code_challenge_method"), "S256");
  EXPECT_EQ(asked("client_id"), "registered-7");
  EXPECT_THAT(asked("redirect_uri"), AllOf(StartsWith("http://127.0.0.1:"), HasSubstr("/callback")));
  auto token = servers_.token_requests().at(0);
  EXPECT_EQ(token["resource"], servers_.url());
  EXPECT_EQ(token["redirect_uri"], asked("redirect_uri"));
  EXPECT_EQ(pkce_challenge(token["code_verifier"]), asked("code_challenge"));
  const Json registration = servers_.registrations().at(0);
  EXPECT_EQ(json_at(registration, "redirect_uris"), Json(JsonArray{Json(asked("redirect_uri"))}));
  EXPECT_EQ(json_text(registration, "application_type"), "native");
}

TEST_F(OauthLoginTest, ClientIsTheOneThatTheUserSetUp) {
  servers_.behave({.takes_client_addresses = true});
  request_.identity = {"own id", "own:secret", servers_.issuer(), "https://praxis.example/client.json"};
  ASSERT_TRUE(log_in());
  EXPECT_EQ(asked("client_id"), "own id");
  EXPECT_EQ(servers_.token_requests().at(0)["authorization"],
            "Basic " + base64_encode("own%20id:own%3Asecret"));
  request_.identity = {.address = "https://praxis.example/client.json"};
  ASSERT_TRUE(log_in());
  EXPECT_EQ(asked("client_id"), "https://praxis.example/client.json");
  servers_.behave({.registered_secret = "its-secret"});
  ASSERT_TRUE(log_in());
  EXPECT_EQ(asked("client_id"), "registered-7");
  EXPECT_THAT(servers_.token_requests().at(2)["authorization"], StartsWith("Basic "));
  EXPECT_EQ(servers_.registrations().size(), 1U);
}

TEST_F(OauthLoginTest, AnswerOfAnotherIssuer_IsNotUsed) {
  for (const char* iss : {"https://evil.example", "-"})
    EXPECT_THAT(refused({.iss = iss}).message, HasSubstr("does not come from")) << iss;
  EXPECT_THAT(refused({.iss = servers_.issuer() + "/"}).message, HasSubstr("does not come from"));
  EXPECT_THAT(refused({.iss = "https://evil.example", .names_itself = false, .refuses = true}).message,
              AllOf(HasSubstr("does not come from"), Not(HasSubstr("access_denied"))));
  servers_.behave({.iss = "-", .names_itself = false});
  EXPECT_TRUE(log_in()) << "it never said that it would name itself";
}

TEST_F(OauthLoginTest, AnswerWithAnotherState_ChangesNothing) {
  int forged = 0;
  request_.show = [&](const std::string& address) {
    const std::string to = OauthServers::field(address, "redirect_uri");
    for (const char* query : {"?code=evil&state=guess", "?code=evil", "?code=evil&state=a&state=b"})
      forged += OauthServers::open(to + query) == 400 ? 1 : 0;
    EXPECT_EQ(OauthServers::open(address), 200);
  };
  ASSERT_TRUE(log_in());
  EXPECT_EQ(forged, 3);
  EXPECT_EQ(servers_.token_requests().at(0)["code"], "code-1");
}

TEST_F(OauthLoginTest, RefusalOfThePerson_IsReported) {
  EXPECT_THAT(refused({.refuses = true}).message, HasSubstr("refused the login: access_denied"));
}

TEST_F(OauthLoginTest, MetadataOfOthers_IsRefused) {
  request_.challenge.metadata = "http://localhost:1/.well-known/oauth-protected-resource";
  EXPECT_THAT(refused({}).message, HasSubstr("metadata of another place"));
  request_.challenge.metadata.clear();
  EXPECT_THAT(refused({.resource = "https://other.example/mcp"}).message, HasSubstr("another resource"));
  EXPECT_THAT(refused({.issuer = "https://other.example"}).message, HasSubstr("another issuer"));
  EXPECT_THAT(refused({.pkce_method = "plain"}).message, HasSubstr("PKCE"));
  EXPECT_THAT(refused({.registers = false}).message, HasSubstr("`client_id`"));
  EXPECT_EQ(refused({.padding = 300'000}).kind(), ErrorKind::kTooLarge);
  EXPECT_THAT(refused({.metadata_redirect = "http://169.254.169.254/latest"}).message,
              HasSubstr("redirects, which is not followed"));
  request_.identity = {.id = "own", .issuer = "https://as.example"};
  EXPECT_THAT(refused({}).message, HasSubstr("the client id is that of"));
}

TEST_F(OauthLoginTest, ServerElsewhere_CannotSendTheLoginToThisMachine) {
  reach_.is_local = false;
  for (const char* address : {"http://127.0.0.1:1/token", "http://as.example/token", "file:///etc/passwd",
                              "javascript:alert(1)", "https://u:p@as.example/"})
    EXPECT_FALSE(check_oauth_address(reach_, address)) << address;
  EXPECT_TRUE(check_oauth_address(reach_, "https://as.example/token"));
  EXPECT_THAT(refused({}).message, HasSubstr("must begin with https://"));
  EXPECT_THAT(servers_.server_requests(), IsEmpty());
  reach_.is_local = true;
  reach_.rule_for = [](const Url&) { return [](std::string_view) { return false; }; };
  EXPECT_EQ(refused({}).kind(), ErrorKind::kAddressRefused);
}

TEST_F(OauthLoginTest, LoginIsRenewedAtItsIssuerOnly) {
  const auto login = log_in();
  ASSERT_TRUE(login);
  const auto renewed = renew_login(reach_, request_, *login, {});
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(renewed->tokens.access, "access-secret-2");
  EXPECT_EQ(servers_.token_requests().at(1)["resource"], servers_.url());
  const auto again = renew_login(reach_, request_, *login, {});
  ASSERT_FALSE(again) << "the refresh token was replaced";
  EXPECT_EQ(json_text(again.error().detail(), "oauth_error"), "invalid_grant");
  EXPECT_THAT(again.error().message, Not(HasSubstr("refresh-secret")));
  OauthLogin other = *renewed;
  other.issuer = "https://as.example";
  EXPECT_THAT(renew_login(reach_, request_, other, {}).error().message, HasSubstr("sends to"));
  EXPECT_EQ(servers_.token_requests().size(), 3U) << "another issuer's token goes nowhere";
}

}  // namespace
}  // namespace praxis
