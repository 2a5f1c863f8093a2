#include "models/provider_access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace praxis {
namespace {

namespace fs = std::filesystem;

using Settings = std::map<std::string, std::string>;

Environ environ_of(Settings settings) {
  return [settings = std::move(settings)](const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string() : found->second;
  };
}

ProviderFacts house() {
  return {.id = "house",
          .api = "chat",
          .base_url = "https://{TEAM}.example/v1",
          .base_url_env = "HOUSE_URL",
          .key_env = {"HOUSE_KEY", "OLD_HOUSE_KEY"},
          .headers = {{"x-team", "{TEAM}"}}};
}

std::string mistake(const ProviderFacts& provider, const Settings& settings) {
  const auto access = access_to(provider, environ_of(settings));
  return access ? "no mistake was found" : access.error().message;
}

TEST(ProviderAccess, EnvironmentVariablesInTheUrl_AreFilledIn) {
  const auto access = access_to(house(), environ_of({{"TEAM", "blue"}, {"OLD_HOUSE_KEY", "k"}}));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->base_url, "https://blue.example/v1");
  EXPECT_EQ(access->key, "k");
  EXPECT_EQ(access->headers, (HttpHeaders{{"x-team", "blue"}}));
}

TEST(ProviderAccess, MissingVariable_IsNamed) {
  EXPECT_EQ(mistake(house(), {{"HOUSE_KEY", "k"}}), "provider \"house\": set TEAM");
  EXPECT_EQ(mistake(house(), {{"TEAM", "blue"}}),
            "provider \"house\" needs a key: set HOUSE_KEY or OLD_HOUSE_KEY");
  ProviderFacts elsewhere{.id = "own", .base_url_env = "OWN_URL"};
  EXPECT_EQ(mistake(elsewhere, {}), "provider \"own\": set OWN_URL to its base URL");
}

TEST(ProviderAccess, VariableThatCouldChangeTheUrl_IsRefused) {
  for (const char* team : {"evil.example/", "a@evil", "a:1", "a?b"}) {
    EXPECT_EQ(mistake(house(), {{"TEAM", team}, {"HOUSE_KEY", "k"}}),
              "provider \"house\": TEAM may contain only letters, digits, '-', '_' and '.'");
  }
}

TEST(ProviderAccess, OverriddenBaseUrl_NeedsNoKeyButMustBeValid) {
  ProviderFacts provider = house();
  provider.headers.clear();
  const auto access = access_to(provider, environ_of({{"HOUSE_URL", "http://127.0.0.1:8080/v1"}}));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->base_url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(access->key, "");
  EXPECT_TRUE(
      mistake(provider, {{"HOUSE_URL", "localhost:8080"}}).starts_with("provider \"house\": HOUSE_URL: "));
  EXPECT_EQ(mistake(provider, {{"HOUSE_URL", "http://h/v1?key=x"}}),
            "provider \"house\": HOUSE_URL: a base URL must not have a query or fragment");
}

TEST(ProviderAccess, OptionalKey_IsSentIfPresent) {
  ProviderFacts provider = house();
  provider.needs_key = false;
  EXPECT_EQ(access_to(provider, environ_of({{"TEAM", "a"}}))->key, "");
  EXPECT_EQ(access_to(provider, environ_of({{"TEAM", "a"}, {"HOUSE_KEY", "k"}}))->key, "k");
}

class KeyFile : public testing::Test {
 protected:
  KeyFile() : path_(testing::TempDir() + "praxis_key_file_" + std::to_string(getpid())) {
    provider_.id = "house";
    provider_.key_file = path_;
  }
  ~KeyFile() override { fs::remove_all(path_); }
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  std::string mistake() {
    const auto key = find_key(provider_, environ_of({}));
    return key ? "no mistake was found" : key.error().message;
  }
  std::string wrong(const std::string& what) const {
    return "provider \"house\": the key file \"" + path_ + "\" " + what;
  }

  const std::string path_;
  ProviderFacts provider_;
};

TEST_F(KeyFile, TrailingNewline_IsStripped) {
  write("very-secret\n", 0400);
  const auto key = find_key(provider_, environ_of({}));
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->value, "very-secret");
  EXPECT_EQ(key->origin, path_);
}

TEST_F(KeyFile, Variable_TakesPrecedence) {
  write("from-file");
  provider_.key_env = {"HOUSE_KEY"};
  EXPECT_EQ(find_key(provider_, environ_of({{"HOUSE_KEY", "from-env"}}))->value, "from-env");
}

TEST_F(KeyFile, FileAccessibleToOthers_IsRefused) {
  for (const mode_t mode : {0640U, 0604U, 0610U, 0666U}) {
    write("very-secret", mode);
    EXPECT_EQ(mistake(), wrong("is open to others; chmod 600 it")) << mode;
  }
}

TEST_F(KeyFile, InvalidKey_IsRefusedWithoutShowingIt) {
  EXPECT_EQ(mistake(), wrong("cannot be read: No such file or directory"));
  for (const std::string& text : {std::string("\n"), std::string("two words"), std::string("a\nb"),
                                  std::string(20'000, 'x'), std::string("k\xc3\xa9y")}) {
    write(text);
    EXPECT_EQ(mistake(), wrong("must contain one key, without spaces"));
  }
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(mistake(), wrong("is not a regular file"));
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(mistake(), wrong("is not a regular file")) << "and reading does not wait for a writer";
}

}  // namespace
}  // namespace praxis
