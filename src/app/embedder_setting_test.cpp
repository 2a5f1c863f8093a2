// The setting `embedder`.
#include "app/embedder_setting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace praxis::app {
namespace {

using ::testing::HasSubstr;

Result<std::shared_ptr<Embedder>> embedder_of(const std::string& setting) {
  Workspace workspace;
  if (!setting.empty()) workspace.config.settings["embedder"].value = setting;
  return configured_embedder(workspace);
}

TEST(EmbedderSetting, NamesAModelOrNothing) {
  EXPECT_EQ(embedder_of("").value(), nullptr);
  EXPECT_EQ(embedder_of("hashing").value()->name(), "hashing-384");
  setenv("OPENAI_API_KEY", "sk-test", 1);
  EXPECT_THAT(embedder_of("openai:text-embedding-3-small").value()->name(),
              HasSubstr("/v1 text-embedding-3-small"));
  unsetenv("OPENAI_API_KEY");
}

TEST(EmbedderSetting, Mistakes_AreNamed) {
  const auto message = [](const std::string& setting) { return embedder_of(setting).error().message; };
  EXPECT_THAT(message("openai"), HasSubstr("must be PROVIDER:NAME"));
  EXPECT_THAT(message("absent:m"), HasSubstr("unknown provider"));
  EXPECT_THAT(message("anthropic:m"), HasSubstr("without embeddings"));
  EXPECT_THAT(message("openai:m"), HasSubstr("OPENAI_API_KEY"));
}

}  // namespace
}  // namespace praxis::app
