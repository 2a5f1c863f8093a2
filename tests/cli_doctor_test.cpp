// `praxis doctor` tries what it reports; runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliDoctor : public CommandLine {
 protected:
  CommandResult doctor(const std::map<std::string, std::string>& env,
                       std::vector<std::string> more = {}) const {
    ProcessOptions options = options_;
    options.env["NO_PROXY"] = "127.0.0.1";
    for (const auto& [name, value] : env) options.env[name] = value;
    more.insert(more.begin(), "doctor");
    return praxis(more, options);
  }
};

TEST_F(CliDoctor, JournalThatCannotBeWritten_IsAFailureBeforeTheFirstRun) {
  const CommandResult fresh = doctor({});
  EXPECT_EQ(fresh.status, 0) << fresh.out;
  EXPECT_THAT(fresh.out, HasSubstr("journal.db will be created by the first run"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state")) << "a check changes nothing";
  const CommandResult sealed = doctor({}, {"--journal", "/proc/runs/journal.db"});
  EXPECT_EQ(sealed.status, 2);
  EXPECT_THAT(sealed.out, HasSubstr("/proc/runs/journal.db cannot be written: /proc"));
}

TEST_F(CliDoctor, ConfiguredModelThatCannotBeMade_IsAFailure) {
  const CommandResult unknown = doctor({{"PRAXIS_MODEL", "nosuch:x"}});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.out, HasSubstr("failed   model"));
  EXPECT_EQ(doctor({{"PRAXIS_MODEL", "openai:gpt-5-mini"}}).status, 2) << "its key is missing";
  EXPECT_EQ(doctor({{"PRAXIS_MODEL", "openai:gpt-5-mini"}, {"OPENAI_API_KEY", "key"}}).status, 0);
}

TEST_F(CliDoctor, KeysInAddresses_AreNotShown) {
  for (const std::string& address :
       {std::string("http://127.0.0.1:9/v1?key=SECRET"), std::string("http://me:SECRET@127.0.0.1:9/v1"),
        std::string("http://SECRET@[::1]/@v1#SECRET")}) {
    file("config/praxis/config.toml", "[providers.house]\napi = \"chat\"\nbase_url = \"" + address + "\"\n");
    const std::string shown = doctor({}).out + doctor({}, {"--json"}).out;
    EXPECT_THAT(shown, HasSubstr("http://")) << shown;
    EXPECT_THAT(shown, Not(HasSubstr("SECRET")));
  }
}

TEST_F(CliDoctor, Statuses_HaveColoursAtATerminal) {
  ProcessOptions options = options_;
  options.env["NO_COLOR"] = "";
  options.env["PRAXIS_MODEL"] = "nosuch:x";
  TerminalSession terminal(command({"doctor"}), options, {200, 60});
  EXPECT_EQ(terminal.finish(), 2);
  EXPECT_THAT(terminal.screen(true), AllOf(HasSubstr("{green}ok"), HasSubstr("{red}failed")));
}

TEST_F(CliDoctor, Online_SendsTheKeyAndFailsWhenItIsRefused) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    const bool good = find_header(request.headers, "authorization") == "Bearer good-key";
    to.write(http_reply(good && request.target == "/v1/models" ? 200 : 401, "{}"));
  });
  const auto online = [&](const std::string& key) {
    return doctor(
        {{"OPENAI_BASE_URL", server.url("/v1")}, {"OPENAI_API_KEY", key}, {"PRAXIS_MODEL", "openai:m"}},
        {"--online"});
  };
  const CommandResult good = online("good-key");
  EXPECT_EQ(good.status, 0) << good.out;
  EXPECT_THAT(good.out, HasSubstr("/v1/models answers (status 200)"));
  const CommandResult refused = online("stale-key");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.out, HasSubstr("/v1/models refuses the key in OPENAI_API_KEY (status 401)"));
  EXPECT_THAT(good.out + refused.out, Not(HasSubstr("good-key")));
  EXPECT_THAT(refused.out, Not(HasSubstr("stale-key")));
}

}  // namespace
}  // namespace praxis::testing
