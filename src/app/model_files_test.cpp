#include "app/model_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "app/agent_sources.hpp"
#include "app/open_runtime.hpp"
#include "journal/testing/journals.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::app {
namespace {

TEST(ModelFileReader, FirstResultOfAFile_Counts) {
  const testing::TemporaryFolder folder;
  ModelFileReader reader;
  std::ofstream(folder / "a") << "one";
  EXPECT_EQ(reader.read(folder / "a", 10).value_or("none"), "one");
  std::ofstream(folder / "a") << "two";
  EXPECT_EQ(reader.read(folder / "./a", 10).value_or("none"), "one");
  EXPECT_FALSE(reader.read(folder / "b", 10));
  std::ofstream(folder / "b") << "late";
  EXPECT_FALSE(reader.read(folder / "b", 10)) << "what was not hashed must not answer";
}

TEST(ModelFileReader, ScriptChangedAfterItsDigest_DoesNotAnswer) {
  const testing::TemporaryFolder folder;
  const std::string script = folder / "s.jsonl", before = R"({"text": "as hashed"})";
  std::ofstream(script) << before;
  std::ofstream(folder / "a.toml") << "id = 'a'\nmodel = 'script:" << script << "'\n";
  const Workspace workspace{.config = {}, .project = nullptr, .journal = "memory", .journal_given = true};
  const auto runtime = open_runtime(workspace, {}).value();
  AgentSources sources;
  auto agent = load_noted_agent(folder / "a.toml", agent_file_options(workspace, *runtime),
                                *workspace.model_files, sources);
  ASSERT_TRUE(agent) << agent.error().message;
  EXPECT_EQ(sources["model:" + script], before);
  std::ofstream(script) << R"({"text": "put there later"})";
  agent->runtime(runtime);
  const auto result = agent->run("hi");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "as hashed");
}

}  // namespace
}  // namespace praxis::app
