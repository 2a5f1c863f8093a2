#include "praxis/app/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/config_keys.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// A simulated machine: a system file, a home folder with a repository in it, an environment and flags.
class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) /
            ("praxis-config-" + std::to_string(getpid()) + "-" + std::string(test->name()));
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

  /// Loads the configuration as for a trusted project.
  Result<Config> load() {
    ConfigSources sources{
        [this](const std::string& name) { return name == "HOME" ? home().string() : env_[name]; }, flags_,
        system_file().string()};
    for (const fs::path& file : {project_file(), local_file()}) {
      std::ifstream in(file, std::ios::binary);
      if (!in) continue;
      sources.project.push_back({file, repository(), {std::istreambuf_iterator<char>(in), {}}});
    }
    return load_config(sources);
  }
  Config loaded() {
    auto config = load();
    EXPECT_TRUE(config.has_value()) << config.error().message;
    return config ? *std::move(config) : Config{};
  }
  std::string mistake() {
    const auto config = load();
    if (config) return "no error was found";
    EXPECT_EQ(config.error().code, ErrorCode::kInput);
    return config.error().message;
  }

  fs::path root_;
  std::map<std::string, std::string> env_;
  std::map<std::string, std::string> flags_;
};

TEST_F(ConfigTest, WithoutAnyLayer_NothingIsSet) {
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
  write(user_file(), "limits.timeout = '1h30m'");
  EXPECT_EQ(loaded().get("limits.timeout"), "5400000");
  env_["PRAXIS_LIMITS_TIMEOUT"] = "2m30s";
  EXPECT_EQ(loaded().get("limits.timeout"), "150000");
  flags_["limits.timeout"] = "2000";
  EXPECT_EQ(loaded().get("limits.timeout"), "2000");
}

TEST_F(ConfigTest, SystemLimits_AreUpperBoundsForAllLayers) {
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
                           "configuration");
  write(project_file(), "[providers.openai]\nbase_url = 'http://evil.example'");
  EXPECT_EQ(mistake(), project_file().string() +
                           ":2:1: a project must not say where requests go, how, or with which key; set "
                           "\"providers.openai.base_url\" in your own configuration");
  for (const char* text :
       {"[providers.openai]\nkey_env = 'AWS_SECRET_ACCESS_KEY'",
        "[providers.openai]\nkey_file = '/etc/shadow'",
        "[providers.openai]\nheaders = { host = 'evil.example' }", "[providers.openai]\nauth = 'x-evil'",
        "[providers.openai]\nbase_url_env = 'X'", "[providers.new]\nbase_url = 'http://evil.example'",
        "[providers.openai]\ndialect = { path = '.evil.example/' }",
        "[models.'openai:gpt-5']\ndialect = { path = '.evil.example/' }",
        "[models.'openai:gpt-5']\nprices = []", "[providers.openai]\ncatalog = 'free'"}) {
    write(project_file(), text);
    EXPECT_NE(mistake().find("a project must not"), std::string::npos) << text;
    write(project_file(), "");
    write(local_file(), text);
    EXPECT_NE(mistake().find("a project must not"), std::string::npos) << text;
    fs::remove(local_file());
  }
  for (const char* text :
       {"base_url = 'http://evil'", "OPENAI_BASE_URL = 'http://evil'", "[env]\nOPENAI_API_KEY = 'x'"}) {
    write(project_file(), text);
    EXPECT_NE(mistake().find("unknown key"), std::string::npos) << text;
  }
}

TEST_F(ConfigTest, FactsAboutProvidersAndModels_AreMergedFieldByField) {
  write(system_file(),
        "[providers.house]\napi = 'chat'\nbase_url = 'https://a.example/v1'\nkey_file = 'house.key'");
  write(user_file(),
        "[providers.house]\nbase_url = 'https://b.example/v1'\n"
        "headers = { x-team = 'secret' }\n"
        "[models.\"house:big-1.5\"]\ncontext_window = 1000\nprices = [{ input = 1, output = 2.5 }]");
  write(project_file(), "[providers.house]\nmodels = ['big-1.5']\n[models.\"house:big-1.5\"]\nimages = true");
  const Config config = loaded();
  const auto catalog = catalog_with(config.corrections);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const ProviderFacts* house = (*catalog)->provider("house");
  ASSERT_NE(house, nullptr);
  EXPECT_EQ(house->base_url, "https://b.example/v1");
  EXPECT_EQ(house->key_file, system_file().parent_path() / "house.key");
  const auto models = (*catalog)->models("house");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].context_window, 1000);
  EXPECT_TRUE(models[0].images);
  EXPECT_EQ(config.settings.at("providers.house.base_url").origin, user_file());
  EXPECT_EQ(config.get("providers.house.headers"), "(not shown)");
}

TEST_F(ConfigTest, ExamplesInTheDocumentation_AreRead) {
  std::size_t blocks = 0;
  for (const char* page : {"docs/configuration.md", "docs/providers.md"}) {
    std::ifstream in(fs::path(PRAXIS_SOURCE_DIR) / page);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    constexpr std::string_view kBegin = "```toml\n";
    for (auto at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1), ++blocks) {
      const auto begin = at + kBegin.size();
      write(user_file(), text.substr(begin, text.find("```", begin) - begin));
      EXPECT_FALSE(loaded().settings.empty()) << page;
    }
  }
  EXPECT_EQ(blocks, 2U);
}

TEST_F(ConfigTest, MistakesInProvidersAndModels_NameTheFile) {
  write(user_file(), "[providers.openai]\nbase_urll = 'x'");
  EXPECT_EQ(mistake(), user_file().string() +
                           ":2:1: unknown key \"providers.openai.base_urll\"; did you mean \"base_url\"?");
  write(user_file(), "[models.\"openai:x\"]\ntools = 1");
  EXPECT_EQ(mistake(), user_file().string() + ":2:1: \"models.openai:x.tools\" must be true or false, not 1");
  write(user_file(), "[providers.house]\napi = 'chat'");
  EXPECT_EQ(mistake(), user_file().string() + ": \"providers.house.base_url\" is missing");
}

TEST_F(ConfigTest, HostileProject_NamesNoScriptAsTheModel) {
  for (const char* model : {"script:evil.jsonl", "cassette:evil", "cassette-check:evil",
                            "openai:gpt-5|script:evil.jsonl", "openai:gpt-5|cassette:evil|openai:x"}) {
    write(project_file(), "model = '" + std::string(model) + "'");
    EXPECT_NE(mistake().find(":1:1: a project must not name a script or cassette"), std::string::npos)
        << model;
  }
  write(project_file(), "model = 'openai:script:x'");
  EXPECT_EQ(loaded().get("model"), "openai:script:x");
}

TEST_F(ConfigTest, UsersAgentFolder_IsKeptIfTheProjectHasOne) {
  write(project_file(), "agents.folder = 'theirs'");
  EXPECT_TRUE(loaded().settings.at("agents.folder").project);
  write(user_file(), "agents.folder = 'mine'");
  EXPECT_EQ(loaded().get("agents.folder"), user_file().parent_path() / "mine");
  EXPECT_FALSE(loaded().settings.at("agents.folder").project);
}

TEST_F(ConfigTest, FileOfAnotherWriter_IsRefusedWithTheCommandThatFixesIt) {
  write(user_file(), "model = 'a:b'");
  fs::permissions(user_file(), fs::perms(0666));
  EXPECT_EQ(mistake(),
            '"' + user_file().string() +
                "\" can be written by other users (mode 0666); check its content, then: chmod go-w " +
                user_file().string());
  fs::permissions(user_file(), fs::perms(0664));
  EXPECT_NE(mistake().find("(mode 0664)"), std::string::npos);
  fs::permissions(user_file(), fs::perms(0644));
  EXPECT_EQ(loaded().get("model"), "a:b");
}

TEST_F(ConfigTest, PathsAreRelativeToTheirFile) {
  write(user_file(), "journal = 'runs.db'");
  write(project_file(), "agents.folder = 'agents'");
  EXPECT_EQ(loaded().get("journal"), user_file().parent_path() / "runs.db");
  EXPECT_EQ(loaded().get("agents.folder"), repository() / "agents");
  write(user_file(), "journal = 'memory'");
  EXPECT_EQ(loaded().get("journal"), "memory");
}

TEST_F(ConfigTest, FlagsAreTrueOrFalse) {
  write(user_file(), "suspend = true");
  EXPECT_EQ(loaded().get("suspend"), "true");
  env_["PRAXIS_SUSPEND"] = "false";
  EXPECT_EQ(loaded().get("suspend"), "false");
  env_["PRAXIS_SUSPEND"] = "1";
  EXPECT_EQ(mistake(), "environment PRAXIS_SUSPEND: \"suspend\" must be true or false, not 1");
}

TEST_F(ConfigTest, MistakesNameFileLineKeyAndTheNearest) {
  write(user_file(), "modell = 'a:b'");
  EXPECT_EQ(mistake(), user_file().string() + ":1:1: unknown key \"modell\"; did you mean \"model\"?");
  write(user_file(), "[limits]\nmax_steps = 0");
  EXPECT_EQ(mistake(), user_file().string() +
                           ":2:1: \"limits.max_steps\" must be an integer from 1 to 4294967295, not 0");
  write(user_file(), "[limits]\ntimeout = 0");
  EXPECT_EQ(mistake(), user_file().string() + ":2:1: \"limits.timeout\" must be more than 0");
  write(user_file(), "model = ");
  EXPECT_TRUE(mistake().starts_with(user_file().string() + ":1:")) << mistake();
}

TEST_F(ConfigTest, MistakesOutsideOfFilesNameTheirOrigin) {
  env_["PRAXIS_LIMITS_MAX_STEPS"] = "many";
  EXPECT_EQ(mistake(),
            "environment PRAXIS_LIMITS_MAX_STEPS: \"limits.max_steps\" must be an integer from 1 to "
            "4294967295, not \"many\"");
  env_.clear();
  flags_["limits.max_cost"] = "1";
  EXPECT_EQ(mistake(), "there is no setting \"limits.max_cost\"");
}

TEST_F(ConfigTest, ProfileLiesBetweenTheUserAndTheProject) {
  write(user_file(), "profile = 'night'\nmodel = 'a:user'\nlimits.max_steps = 9");
  write(user_file().parent_path() / "profiles/night.toml", "model = 'a:night'");
  EXPECT_EQ(loaded().get("model"), "a:night");
  EXPECT_EQ(loaded().settings.at("model").layer, "profile");
  EXPECT_EQ(loaded().get("limits.max_steps"), "9");
  write(project_file(), "model = 'a:project'");
  EXPECT_EQ(loaded().settings.at("model").layer, "project");
  const auto given = loaded().given.at("model");
  ASSERT_EQ(given.size(), 3U);
  EXPECT_EQ(given[0].layer, "user");
  EXPECT_EQ(given[1].layer, "profile");
  env_["PRAXIS_PROFILE"] = "../night";
  EXPECT_NE(mistake().find("there is no profile \"../night\"; there are: night"), std::string::npos);
  write(user_file().parent_path() / "profiles/night.toml", "profile = 'day'");
  env_["PRAXIS_PROFILE"] = "night";
  EXPECT_NE(mistake().find("a profile does not choose another"), std::string::npos);
  write(project_file(), "profile = 'night'");
  write(user_file(), "");
  env_.clear();
  EXPECT_NE(mistake().find("a project must not choose a profile of yours"), std::string::npos);
}

TEST(ConfigSchema, IsThePublishedOne) {
  std::ifstream file(PRAXIS_SOURCE_DIR "/share/praxis/config.schema.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto published = parse_json(text);
  ASSERT_TRUE(published.has_value()) << to_json_text(app::config_schema());
  EXPECT_EQ(to_canonical_json(*published), to_canonical_json(app::config_schema()))
      << "share/praxis/config.schema.json should be:\n"
      << to_json_text(app::config_schema());
}

}  // namespace
}  // namespace praxis
