// `praxis config` from the user's view, profiles, and the mistakes that every command reports at its start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliConfig : public CommandLine {
 protected:
  std::string user_file() const { return (folder_ / "config/praxis/config.toml").string(); }
  /// The line of `praxis config show` about a setting.
  Json setting(const std::string& key, std::vector<std::string> flags = {}) const {
    std::vector<std::string> words{"config", "show", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const Json& item : praxis(words).items()) {
      if (json_string(item, "key") == key) return item;
    }
    return nullptr;
  }
};

TEST_F(CliConfig, ShowNamesTheLayerOfEachValue) {
  EXPECT_EQ(json_string(setting("model"), "layer"), "built-in");
  file("config/praxis/config.toml", "model = \"a:user\"\n[limits]\nmax_steps = 7\n");
  EXPECT_EQ(json_string(setting("model"), "layer"), "user");
  EXPECT_EQ(json_string(setting("model"), "origin"), user_file());
  EXPECT_EQ(json_string(setting("limits.max_steps"), "value"), "7");
  options_.env["PRAXIS_MODEL"] = "a:env";
  EXPECT_EQ(json_string(setting("model"), "layer"), "environment");
  EXPECT_EQ(json_string(setting("journal", {"--journal", "j.db"}), "layer"), "flag");
  const CommandResult shown = praxis({"config"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("environment PRAXIS_MODEL"));
}

TEST_F(CliConfig, ExplainSaysWhatASettingMeansAndWhoGivesIt) {
  file("config/praxis/config.toml", "model = \"a:user\"\n[limits]\nmax_usd = 2\n");
  options_.env["PRAXIS_LIMITS_MAX_USD"] = "1.5";
  const CommandResult told = praxis({"config", "explain", "limits.max_usd"});
  EXPECT_EQ(told.status, 0) << told.err;
  for (const char* line : {"limits.max_usd: Cost of one turn in US dollars", "takes     a number from",
                           "value     1.5", "layer     user: 2", "layer     environment: 1.5",
                           "variable  PRAXIS_LIMITS_MAX_USD", "a project can only tighten it"})
    EXPECT_THAT(told.out, HasSubstr(line));
  EXPECT_THAT(praxis({"config", "explain", "journal"}).out,
              HasSubstr("a project must not say where runs are kept"));
  const CommandResult mistyped = praxis({"config", "explain", "limits.maxusd"});
  EXPECT_EQ(mistyped.status, 2);
  EXPECT_THAT(mistyped.err, HasSubstr("did you mean \"limits.max_usd\"?"));
}

TEST_F(CliConfig, SetChangesOneLineAndKeepsTheRest) {
  EXPECT_EQ(praxis({"config", "set", "model", "a:b"}).status, 0);
  EXPECT_EQ(contents("config/praxis/config.toml"), "model = \"a:b\"\n");
  EXPECT_EQ(mode_of("config/praxis/config.toml"), 0600U);
  file("config/praxis/config.toml",
       "# mine\nmodel = \"a:b\"  # the cheap one\n\n[limits]\n# per turn\nmax_usd = 2\n");
  EXPECT_EQ(praxis({"config", "set", "model", "a:c"}).status, 0);
  EXPECT_EQ(praxis({"config", "set", "limits.timeout", "10m"}).status, 0);
  EXPECT_EQ(praxis({"config", "set", "suspend", "true"}).status, 0);
  EXPECT_EQ(praxis({"config", "set", "providers.house.base_url", "http://a.example/v1"}).status, 0);
  EXPECT_EQ(contents("config/praxis/config.toml"),
            "# mine\nmodel = \"a:c\"  # the cheap one\nsuspend = true\n\n[limits]\n# per turn\nmax_usd = 2\n"
            "timeout = \"10m\"\n\n[providers.house]\nbase_url = \"http://a.example/v1\"\n");
}

TEST_F(CliConfig, SetRefusesWhatWouldNotBeValid) {
  file("config/praxis/config.toml", "model = '''\na:b'''\n");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& message) {
    std::vector<std::string> command{"config", "set"};
    command.insert(command.end(), words.begin(), words.end());
    const CommandResult result = praxis(command);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused({"limits.max_steps", "many"}, "must be an integer from 1 to");
  refused({"modell", "a:b"}, "did you mean \"model\"?");
  refused({"model"}, "set what?");
  refused({"model", "a:c"}, "cannot be changed here");
  EXPECT_EQ(contents("config/praxis/config.toml"), "model = '''\na:b'''\n") << "nothing was written";
}

TEST_F(CliConfig, EditSavesOnlyWhatIsValid) {
  file("config/praxis/config.toml", "model = \"a:b\"\n");
  file("good.sh", "printf 'suspend = true\\n' >> \"$1\"\n");
  file("bad.sh", "printf 'nosuch = 1\\n' >> \"$1\"\n");
  options_.env["VISUAL"] = "";
  options_.env["EDITOR"] = "sh " + (folder_ / "bad.sh").string();
  const CommandResult bad = praxis({"config", "edit"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("unknown key \"nosuch\""));
  EXPECT_EQ(contents("config/praxis/config.toml"), "model = \"a:b\"\n");
  options_.env["EDITOR"] = "sh " + (folder_ / "good.sh").string();
  EXPECT_EQ(praxis({"config", "edit"}).status, 0);
  EXPECT_EQ(contents("config/praxis/config.toml"), "model = \"a:b\"\nsuspend = true\n");
  options_.env["EDITOR"] = "false";
  EXPECT_THAT(praxis({"config", "edit"}).err, HasSubstr("the editor \"false\" failed"));
}

TEST_F(CliConfig, ProfileLiesBetweenUserAndProject) {
  file("config/praxis/config.toml", "model = \"a:user\"\n");
  EXPECT_EQ(praxis({"config", "set", "model", "a:night", "--profile", "night"}).status, 0);
  EXPECT_EQ(contents("config/praxis/profiles/night.toml"), "model = \"a:night\"\n");
  EXPECT_EQ(json_string(setting("model"), "value"), "a:user");
  EXPECT_EQ(json_string(setting("model", {"--profile", "night"}), "layer"), "profile");
  options_.env["PRAXIS_PROFILE"] = "night";
  EXPECT_EQ(json_string(setting("model"), "value"), "a:night");
  const CommandResult unknown = praxis({"runs", "--profile", "nigth"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no profile \"nigth\"; there are: night"));
}

TEST_F(CliConfig, MistypedVariablesAndMissingFoldersAreReported) {
  options_.env["PRAXIS_LIMITS_MAXUSD"] = "3";
  options_.env["PRAXIS_AGENTS_FOLDER"] = (folder_ / "none").string();
  file("hello.jsonl", R"({"text": "Hello."})");
  const CommandResult run = praxis({"run", "--model", "script:hello.jsonl", "Hi"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: the variable PRAXIS_LIMITS_MAXUSD is not a setting; did you mean "
                                 "PRAXIS_LIMITS_MAX_USD?"));
  EXPECT_THAT(run.err, HasSubstr("none\" does not exist"));
  EXPECT_EQ(praxis({"doctor"}).status, 2);
  options_.env["PRAXIS_LIMITS_MAXUSD"] = "";
  options_.env["PRAXIS_MAX_USD"] = "3";
  EXPECT_THAT(praxis({"runs"}).err, HasSubstr("did you mean PRAXIS_LIMITS_MAX_USD?"));
}

TEST_F(CliConfig, FoldersAndToolsOfAnAgentThatDoNotExistAreReported) {
  file("a.toml",
       "model = \"script:hello.jsonl\"\n[tools.file]\nread = [\"here\", \"nowhere\"]\n[policy]\nallow = "
       "[\"file_rad\", \"file_read\"]\ndeny = [\"http\"]\n");
  file("hello.jsonl", R"({"text": "Hello."})");
  std::filesystem::create_directories(folder_ / "here");
  const CommandResult run = praxis({"run", "a.toml", "Hi"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("a.toml:3:1: the folder \"nowhere\" does not exist"));
  EXPECT_THAT(run.err, HasSubstr("is called \"file_rad\"; did you mean \"file_read\"?"));
  EXPECT_THAT(run.err, HasSubstr("is called \"http\""));
  EXPECT_THAT(run.err, Not(HasSubstr("\"here\"")));
}

}  // namespace
}  // namespace praxis::testing
