// `praxis mcp login` and `logout`, and runs with servers that want a login.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "mcp/testing/oauth_server.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliMcpLogin : public CommandLine {
 protected:
  CliMcpLogin() {
    options_.env["NO_PROXY"] = "127.0.0.1";
    file("script.jsonl",
         "{\"tool_calls\": [{\"name\": \"t__echo\", \"arguments\": {}}]}\n{\"text\": \"DONE\"}\n");
    file("agent.toml",
         "model = \"script:script.jsonl\"\n[policy]\nallow = [\"t__*\"]\n[tools.mcp.t]\nurl = \"" +
             servers_.url() + "\"\n");
  }

  /// Logs in, as a person with a browser.
  CommandResult log_in(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"mcp", "login", "agent.toml"});
    Process process(command(more), options_);
    if (process.prints("code_challenge_method=S256") && process.prints("\n")) {
      const std::size_t begin = process.output.find("http://");
      OauthServers::open(process.output.substr(begin, process.output.find('\n', begin) - begin));
    }
    const int status = process.finish();
    return {status, process.output, process.errors};
  }

  OauthServers servers_;
};

TEST_F(CliMcpLogin, LoginIsUsedUntilTheLogout) {
  const CommandResult before = praxis({"mcp", "test", "agent.toml"});
  EXPECT_EQ(before.status, 1);
  EXPECT_THAT(before.err, HasSubstr("it wants a login; log in with: praxis mcp login agent.toml t"));
  EXPECT_THAT(praxis({"doctor"}).out, HasSubstr("wanted by " + servers_.url()));
  const CommandResult login = log_in({"t"});
  EXPECT_EQ(login.status, 0) << login.err;
  EXPECT_THAT(login.out, AllOf(HasSubstr("t: logged in at " + servers_.issuer()), Not(HasSubstr("secret"))));
  EXPECT_EQ(mode_of("state/praxis/mcp-logins.jsonl"), 0600U);
  EXPECT_EQ(praxis({"mcp", "call", "agent.toml", "t__echo"}).out, "echoed\n");
  EXPECT_THAT(praxis({"doctor"}).out, AllOf(HasSubstr("1 server"), Not(HasSubstr("wanted by"))));
  EXPECT_EQ(praxis({"mcp", "login", "agent.toml"}).out, "t: no login is missing\n");
  const CommandResult out = praxis({"mcp", "logout", "agent.toml"});
  EXPECT_EQ(out.out, "t: the login is forgotten\n");
  EXPECT_THAT(out.err, HasSubstr("it may still be valid at its login server"));
  EXPECT_EQ(praxis({"mcp", "test", "agent.toml"}).status, 1);
  EXPECT_EQ(praxis({"mcp", "login", "agent.toml", "other"}).status, 2);
}

TEST_F(CliMcpLogin, CallOfARunWithoutALogin_WaitsForIt) {
  OauthBehaviour behaviour;
  behaviour.lists_for_all = true;
  servers_.behave(behaviour);
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("log in with: praxis mcp login agent.toml t"));
  ASSERT_EQ(log_in().status, 0);
  const CommandResult resumed = praxis({"resume", "last", "--allow", "p1"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("DONE"));
  for (const char* what : {"access-secret", "refresh-secret"}) {
    EXPECT_THAT(praxis({"logs", "last", "--json"}).out + run.err + resumed.err, Not(HasSubstr(what)));
    EXPECT_THAT(contents("state/praxis/journal.db"), Not(HasSubstr(what)));
  }
}

TEST_F(CliMcpLogin, StopEndsTheWait) {
  Process process(command({"mcp", "login", "agent.toml"}), options_);
  ASSERT_TRUE(process.reports("Ctrl-C stops"));
  process.signal(SIGINT);
  EXPECT_NE(process.finish(), 0);
  EXPECT_THAT(process.errors, HasSubstr("the login was stopped"));
}

TEST_F(CliMcpLogin, KeysOfALoginThatDoNotFit_AreNamed) {
  const auto with = [&](const std::string& lines) {
    file("agent.toml",
         "model = \"script:script.jsonl\"\n[policy]\nallow = [\"t__*\"]\n[tools.mcp.t]\n" + lines);
    return praxis({"mcp", "list", "agent.toml"}).err;
  };
  const std::string url = "url = \"https://h.example/mcp\"\n";
  EXPECT_THAT(with(url + "client_id = \"x\"\n"), HasSubstr("\"client_id\" together with \"issuer\""));
  EXPECT_THAT(with("command = [\"x\"]\nissuer = \"https://h.example\"\n"), HasSubstr("\"url\" only"));
  EXPECT_THAT(with(url + "client_metadata_url = \"http://h.example/c\"\n"), HasSubstr("https://"));
}

}  // namespace
}  // namespace praxis::testing
