#include "praxis/runtime/config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// A machine of its own: system file, home with a repository in it, environment, flags.
class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / ("praxis-config-" + std::string(test->name()));
    fs::remove_all(root_);
    fs::create_directories(repository() / ".git");
    fs::create_directories(repository() / "src");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path home() const { return root_ / "home"; }
  fs::path repository() const { return home() / "work"; }
  fs::path system_file() const { return root_ / "etc/config.toml"; }
  fs::path user_file() const { return home() / ".config/praxis/config.toml"; }
  fs::path project_file() const { return repository() / ".praxis/config.toml"; }
  fs::path local_file() const { return repository() / ".praxis/config.local.toml"; }

  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  Result<Config> load() {
    return load_config(
        {(repository() / "src").string(),
         [this](const std::string& name) { return name == "HOME" ? home().string() : env_[name]; }, flags_,
         system_file().string()});
  }
  Config loaded() {
    auto config = load();
    EXPECT_TRUE(config.has_value()) << config.error().message;
    return config ? *std::move(config) : Config{};
  }
  std::string mistake() {
    const auto config = load();
    if (config) return "no mistake was found";
    EXPECT_EQ(config.error().code, ErrorCode::kInput);
    return config.error().message;
  }

  fs::path root_;
  std::map<std::string, std::string> env_;
  std::map<std::string, std::string> flags_;
};

TEST_F(ConfigTest, NothingIsSetByNobody) {
  EXPECT_TRUE(loaded().settings.empty());
  EXPECT_EQ(loaded().get("model"), "");
}

TEST_F(ConfigTest, EachLayerWinsOverTheOneBelow) {
  const auto expect = [&](const std::string& value, const std::string& origin) {
    const Config config = loaded();
    EXPECT_EQ(config.get("model"), value);
    EXPECT_EQ(config.settings.at("model").origin, origin);
  };
  write(system_file(), "model = 'a:system'");
  expect("a:system", system_file());
  write(user_file(), "model = 'a:user'");
  expect("a:user", user_file());
  write(project_file(), "model = 'a:project'");
  expect("a:project", project_file());
  write(local_file(), "model = 'a:local'");
  expect("a:local", local_file());
  env_["PRAXIS_MODEL"] = "a:env";
  expect("a:env", "environment PRAXIS_MODEL");
  flags_["model"] = "a:flag";
  expect("a:flag", "flag");
  EXPECT_EQ(loaded().files,
            (std::vector<std::string>{system_file(), user_file(), project_file(), local_file()}));
}

TEST_F(ConfigTest, XdgConfigHomeMovesTheUserFile) {
  write(root_ / "xdg/praxis/config.toml", "model = 'a:b'");
  env_["XDG_CONFIG_HOME"] = root_ / "xdg";
  EXPECT_EQ(loaded().get("model"), "a:b");
  env_["XDG_CONFIG_HOME"] = "relative";
  EXPECT_EQ(loaded().get("model"), "") << "a relative path counts as unset";
}

TEST_F(ConfigTest, TimeoutsAreMilliseconds) {
  write(user_file(), "limits.timeout = '1.5m'");
  EXPECT_EQ(loaded().get("limits.timeout"), "90000");
  env_["PRAXIS_LIMITS_TIMEOUT"] = "30s";
  EXPECT_EQ(loaded().get("limits.timeout"), "30000");
  flags_["limits.timeout"] = "2000";
  EXPECT_EQ(loaded().get("limits.timeout"), "2000");
}

TEST_F(ConfigTest, NobodyGoesBeyondTheSystemsLimits) {
  write(system_file(), "[limits]\nmax_usd = 2.5\nmax_steps = 50");
  write(user_file(), "[limits]\nmax_usd = 10\nmax_steps = 20");
  flags_["limits.max_steps"] = "1000";
  const Config config = loaded();
  EXPECT_EQ(config.get("limits.max_usd"), "2.5");
  EXPECT_EQ(config.get("limits.max_steps"), "50");
  EXPECT_EQ(config.settings.at("limits.max_steps").origin, system_file());
}

TEST_F(ConfigTest, HostileProject_WidensNoLimit) {
  write(user_file(), "[limits]\nmax_usd = 1\nmax_steps = 20");
  write(project_file(), "[limits]\nmax_usd = 100\nmax_steps = 5");
  const Config config = loaded();
  EXPECT_EQ(config.get("limits.max_usd"), "1");
  EXPECT_EQ(config.settings.at("limits.max_usd").origin, user_file());
  EXPECT_EQ(config.get("limits.max_steps"), "5") << "but it may tighten one";
}

TEST_F(ConfigTest, HostileProject_SetsNeitherJournalNorProviders) {
  write(project_file(), "\njournal = 'mine.db'");
  EXPECT_EQ(mistake(), project_file().string() +
                           ":2:1: a project must not say where runs are kept; set \"journal\" in your own "
                           "configuration, PRAXIS_JOURNAL or --journal");
  for (const char* text : {"base_url = 'http://evil'", "[providers.openai]\nbase_url = 'http://evil'",
                           "OPENAI_BASE_URL = 'http://evil'", "[env]\nOPENAI_API_KEY = 'x'"}) {
    write(project_file(), text);
    EXPECT_NE(mistake().find("unknown key"), std::string::npos) << text;
  }
}

TEST_F(ConfigTest, HostileProject_AboveTheRepositoryOrInASharedFolderIsNotRead) {
  write(home() / ".praxis/config.toml", "model = 'a:above'");
  EXPECT_EQ(loaded().get("model"), "");
  fs::remove_all(repository() / ".git");
  write(root_ / ".praxis/config.toml", "model = 'a:shared'");
  EXPECT_EQ(load_config({root_ / "elsewhere/src", [](const std::string&) { return ""; }, {}, "/nowhere"})
                ->get("model"),
            "");
  EXPECT_EQ(load_config({root_, [](const std::string&) { return ""; }, {}, "/nowhere"})->get("model"),
            "a:shared");
}

TEST_F(ConfigTest, PathsAreRelativeToTheirFile) {
  write(user_file(), "journal = 'runs.db'");
  write(project_file(), "agents.folder = 'agents'");
  EXPECT_EQ(loaded().get("journal"), user_file().parent_path() / "runs.db");
  EXPECT_EQ(loaded().get("agents.folder"), repository() / "agents");
  write(user_file(), "journal = 'memory'");
  EXPECT_EQ(loaded().get("journal"), "memory");
}

TEST_F(ConfigTest, MistakesNameFileLineKeyAndTheNearest) {
  write(user_file(), "modell = 'a:b'");
  EXPECT_EQ(mistake(), user_file().string() + ":1:1: unknown key \"modell\"; did you mean \"model\"?");
  write(user_file(), "[limits]\nmax_steps = 0");
  EXPECT_EQ(mistake(), user_file().string() +
                           ":2:1: \"limits.max_steps\" must be a whole number from 1 to 4294967295, not 0");
  write(user_file(), "[limits]\ntimeout = 0");
  EXPECT_EQ(mistake(), user_file().string() + ":2:1: \"limits.timeout\" must be more than 0");
  write(user_file(), "model = ");
  EXPECT_TRUE(mistake().starts_with(user_file().string() + ":1:")) << mistake();
}

TEST_F(ConfigTest, MistakesOutsideOfFilesNameTheirOrigin) {
  env_["PRAXIS_LIMITS_MAX_STEPS"] = "many";
  EXPECT_EQ(mistake(),
            "environment PRAXIS_LIMITS_MAX_STEPS: \"limits.max_steps\" must be a whole number from 1 to "
            "4294967295, not \"many\"");
  env_.clear();
  flags_["limits.max_cost"] = "1";
  EXPECT_EQ(mistake(), "there is no setting \"limits.max_cost\"");
}

}  // namespace
}  // namespace praxis
