// The user's logins at MCP servers: kept in the user's own file, used and renewed by the client.
#include "app/mcp_login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "mcp/testing/oauth_server.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis::app {
namespace {

using praxis::testing::OauthServers;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class McpLoginTest : public ::testing::Test {
 protected:
  McpLoginTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "praxis_login_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = folder;
    folder_ = folder + "/state/praxis";
    access_ = access_to(servers_.url());
  }
  ~McpLoginTest() override { std::filesystem::remove_all(root_); }

  std::shared_ptr<McpAccess> access_to(const std::string& server) const {
    return make_mcp_login({server, "praxis mcp login a.toml s", {}, make_http_client(), folder_, false})
        .value();
  }
  std::unique_ptr<McpClient> client(const std::shared_ptr<McpAccess>& access) const {
    McpEndpoint endpoint;
    endpoint.url = servers_.url();
    endpoint.http = make_http_client();
    endpoint.use_proxy = false;
    endpoint.access = access;
    return std::make_unique<McpClient>(std::move(endpoint));
  }
  static Result<McpResult> call(McpClient& client) { return client.call("echo", JsonObject{}, {}); }
  Result<std::string> log_in() const {
    const auto wanted = access_->wanted();
    const auto open = [](const std::string& address) { OauthServers::open(address); };
    return access_->log_in(wanted->value_or(OauthChallenge{401}), open, {});
  }
  std::string file() const { return folder_ + "/mcp-logins.jsonl"; }
  std::string content() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }

  OauthServers servers_;
  std::string root_, folder_;
  std::shared_ptr<McpAccess> access_;
};

TEST_F(McpLoginTest, WithoutALogin_TheCallSaysHowToLogIn) {
  const auto refused = client(access_)->tools();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kAuthorisation);
  EXPECT_THAT(refused.error().message, HasSubstr("log in with: praxis mcp login a.toml s"));
  const auto kept = McpLogins(folder_).of(servers_.url()).value();
  EXPECT_FALSE(kept.login);
  ASSERT_TRUE(kept.wanted) << "praxis doctor says it";
  EXPECT_EQ(kept.command, "praxis mcp login a.toml s");
}

TEST_F(McpLoginTest, LoginIsKeptForItsServerInAFileOfTheUsersOwn) {
  ASSERT_EQ(log_in().value(), servers_.issuer());
  struct stat about = {};
  ASSERT_EQ(stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0600U);
  EXPECT_EQ(access_->token(), "access-secret-1");
  EXPECT_EQ(call(*client(access_)).value().text, "echoed");
  EXPECT_FALSE(access_->wanted().value());
  EXPECT_EQ(access_to(servers_.url() + "/other")->token(), "") << "another server gets no token of this one";
  const auto out = access_->log_out({}).value();
  EXPECT_TRUE(out.had_login);
  EXPECT_THAT(out.still_valid, HasSubstr("ends no logins on request"));
  EXPECT_FALSE(access_->log_out({}).value().had_login);
  EXPECT_THAT(content(), Not(HasSubstr("secret")));
  EXPECT_FALSE(call(*client(access_)));
}

TEST_F(McpLoginTest, LogoutEndsTheTokensAtTheirIssuer) {
  praxis::testing::OauthBehaviour behaviour;
  behaviour.revokes = true;
  servers_.behave(behaviour);
  ASSERT_TRUE(log_in());
  const auto out = access_->log_out({}).value();
  EXPECT_TRUE(out.had_login);
  EXPECT_EQ(out.still_valid, "");
  std::string ended;
  for (const auto& request : servers_.issuer_requests()) {
    if (request.target == "/revoke") ended += request.body + ' ';
  }
  EXPECT_THAT(ended, AllOf(HasSubstr("token=refresh-secret-1&client_id=registered-7"),
                           HasSubstr("token=access-secret-1&client_id=registered-7")));
  EXPECT_THAT(content(), Not(HasSubstr("secret")));
}

TEST_F(McpLoginTest, FileThatOthersCanRead_IsRefusedWithoutASecret) {
  ASSERT_TRUE(log_in());
  std::ofstream(file(), std::ios::app) << "{\"server\": broken-secret\n";
  EXPECT_EQ(access_->token(), "");
  const auto refused = call(*client(access_));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("mcp-logins.jsonl:2"), Not(HasSubstr("secret"))));
}

TEST_F(McpLoginTest, EndedToken_IsRenewedAndTheCallIsMadeOnceMore) {
  ASSERT_TRUE(log_in());
  const auto used = client(access_), other = client(access_to(servers_.url()));
  ASSERT_TRUE(call(*used));
  servers_.expire();
  EXPECT_EQ(call(*used).value().text, "echoed");
  EXPECT_EQ(servers_.token_requests().size(), 2U);
  EXPECT_EQ(call(*other).value().text, "echoed") << "it takes what the first one has kept";
  EXPECT_EQ(servers_.token_requests().size(), 2U);
  servers_.revoke();
  const auto refused = call(*used);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kAuthorisation) << "the call waits as a step";
  EXPECT_EQ(reach_of(refused.error()), Reach::kAnswered) << "it had no effect";
  EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  ASSERT_TRUE(log_in());
  EXPECT_EQ(call(*used).value().text, "echoed");
}

TEST_F(McpLoginTest, LoginThatAnotherProcessRenewsMeanwhile_IsUsed) {
  ASSERT_TRUE(log_in());
  servers_.revoke();
  servers_.before_token("access-of-other", [this] {
    McpLogins logins(folder_);
    auto entry = logins.of(servers_.url()).value();
    entry.login->tokens.access = "access-of-other";
    EXPECT_TRUE(logins.keep(entry));
  });
  EXPECT_EQ(call(*client(access_)).value().text, "echoed");
}

TEST_F(McpLoginTest, CallThatNeedsMore_WantsALoginWithBothScopes) {
  praxis::testing::OauthBehaviour behaviour;
  behaviour.scope = "read";
  behaviour.token_scope = "write";
  servers_.behave(behaviour);
  EXPECT_FALSE(client(access_)->tools());
  ASSERT_TRUE(log_in());
  const auto narrow = call(*client(access_));
  ASSERT_FALSE(narrow);
  EXPECT_THAT(narrow.error().message, HasSubstr("log in with: "));
  ASSERT_TRUE(log_in());
  EXPECT_EQ(McpLogins(folder_).of(servers_.url()).value().login->scope, "read write");
  EXPECT_EQ(call(*client(access_)).value().text, "echoed");
  const Status again = access_->renew(access_->token(), {403, "", "write"}, {});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, Not(HasSubstr("log in with"))) << "another login would not help";
}

}  // namespace
}  // namespace praxis::app
