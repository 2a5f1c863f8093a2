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

TEST_F(CliDoctor, Fix_MakesFoldersAndRightsAsTheyShouldBe) {
  namespace fs = std::filesystem;
  file("config/praxis/config.toml",
       "[providers.house]\napi = \"chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"
       "key_file = \"house.key\"\n");
  file("config/praxis/house.key", "secret\n");
  file("config/praxis/profiles/work.toml", "");
  file("state/praxis/server-token", "token\n");
  file("elsewhere.toml", "");
  fs::create_symlink(folder_ / "elsewhere.toml", folder_ / "config/praxis/link.toml");
  const auto set = [&](const std::string& name, unsigned mode) {
    fs::permissions(folder_ / name, static_cast<fs::perms>(mode));
  };
  set("config/praxis/config.toml", 0666);
  set("config/praxis/profiles/work.toml", 0664);
  set("config/praxis/house.key", 0644);
  set("state/praxis", 0755);
  set("state/praxis/server-token", 0640);
  set("elsewhere.toml", 0666);
  EXPECT_EQ(doctor({}).status, 2) << "the configuration is refused";
  const CommandResult fixed = doctor({}, {"--fix", "--json"});
  EXPECT_EQ(fixed.status, 0) << fixed.out << fixed.err;
  EXPECT_EQ(json_at(fixed.last_line(), "repairs").get_array().size(), 6U) << fixed.out;
  EXPECT_THAT(fixed.out, AllOf(HasSubstr("config.toml\",\"done\":\"can be written by you only now; check its "
                                         "content (its mode was 0666)\""),
                               HasSubstr("praxis/agents\",\"done\":\"created\"")));
  EXPECT_EQ(mode_of("config/praxis/config.toml"), 0644U);
  EXPECT_EQ(mode_of("config/praxis/profiles/work.toml"), 0644U);
  EXPECT_EQ(mode_of("config/praxis/house.key"), 0600U);
  EXPECT_EQ(mode_of("state/praxis"), 0700U);
  EXPECT_EQ(mode_of("state/praxis/server-token"), 0600U);
  EXPECT_EQ(mode_of("elsewhere.toml"), 0666U) << "a link is left alone";
  EXPECT_EQ(mode_of("config/praxis/agents"), 0700U);
  EXPECT_EQ(json_at(doctor({}, {"--fix", "--json"}).last_line(), "repairs").get_array().size(), 0U);
  EXPECT_EQ(doctor({}, {"--fix", "--accept-loss"}).status, 2);
}

TEST_F(CliDoctor, Fix_SaysWhatItCannotDo) {
  const CommandResult sealed = doctor({}, {"--fix", "--journal", "/proc/runs/journal.db"});
  EXPECT_EQ(sealed.status, 2);
  EXPECT_THAT(sealed.out, HasSubstr("failed   /proc/runs "));
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "state/praxis"));
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
