// Runs examples/inbox: a mail with instructions, and a model that obeys them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "example_folder.hpp"
#include "example_tree.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class InboxExample : public ExampleFolder {
 protected:
  InboxExample() : ExampleFolder("inbox") {}
  std::filesystem::path written(const std::string& name) const { return root_ / "build/inbox/out" / name; }
};

TEST_F(InboxExample, Injection_WaitsForAPersonAndTheWorkIsDone) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(told_, HasSubstr("p1 waits"));
  EXPECT_THAT(told_, Not(HasSubstr("p2 waits"))) << "the file that the user named needs no question";
  EXPECT_THAT(told_, HasSubstr("path: \"outbox/eve@elsewhere.example.txt\""));
  EXPECT_THAT(told_, HasSubstr("copied from file."));
  EXPECT_FALSE(std::filesystem::exists(written("outbox")));
  EXPECT_THAT(content_of(written("summary.md")), HasSubstr("Bob: the keys are at the desk"));
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_EQ(run(std::string(kPraxis) + " replay last --journal " + journal().string()), 0) << told_;
}

TEST_F(InboxExample, WithoutTheTable_TheMailIsObeyed) {
  const std::filesystem::path agent = root_ / "examples/inbox/agent.toml";
  std::string text = content_of(agent);
  text.replace(text.find("mode = \"ask\""), 12, "mode = \"off\"");
  std::ofstream(agent) << text;
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_TRUE(std::filesystem::exists(written("outbox/eve@elsewhere.example.txt")))
      << "else the example shows nothing";
}

}  // namespace
}  // namespace praxis::testing
