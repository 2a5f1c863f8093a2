// Runs examples/support-desk, with its script as the model of the three agents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "example_folder.hpp"
#include "example_tree.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class SupportDeskExample : public ExampleFolder {
 protected:
  SupportDeskExample() : ExampleFolder("support-desk") {}
  /// Runs praxis where the example is, with its journal and its memory.
  int desk(const std::string& arguments) {
    const std::filesystem::path build = root_ / "build" / name_;
    return run("env -C " + root_.string() + " PRAXIS_MEMORY=" + (build / "memory.db").string() + ' ' +
               kPraxis + ' ' + arguments + " --journal " + journal().string());
  }
};

TEST_F(SupportDeskExample, ThreeAgentsShareAConversation_AndThePersonDecides) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(told_, AllOf(HasSubstr("technical answers"), HasSubstr("p1 waits (question)"),
                           HasSubstr("billing answers"), HasSubstr("p2 waits (approval)")));
  EXPECT_EQ(content_of(root_ / "build/support-desk/refunds/118.txt"),
            "118 12.90 the filter of 2 May was charged twice\n");
  ASSERT_EQ(desk("runs"), 0) << told_;
  const std::size_t second = printed_.find('\n') + 1;
  const std::string first_run = printed_.substr(second, printed_.find(' ', second) - second);
  ASSERT_EQ(desk("show " + first_run), 0) << told_;
  EXPECT_THAT(printed_, AllOf(HasSubstr("## Turn t1, reception"), HasSubstr("## Turn t2, technical"),
                              HasSubstr("## Turn t3, technical"), HasSubstr("## Turn t4, billing")));
  ASSERT_EQ(desk("tree " + first_run), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("  completed  "));
  EXPECT_EQ(desk("replay " + first_run), 0) << told_;
}

TEST_F(SupportDeskExample, NextRun_KnowsTheCustomer) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(printed_,
              EndsWith("descaling helped your K-17: do it every three months, and E4 stays away.\n"));
  EXPECT_EQ(unfinished_nodes(journal()), "");
  ASSERT_EQ(desk("show last"), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("Customer 118, Ada Meyer, has the machine K-17."));
}

TEST_F(SupportDeskExample, WithoutTheNote_TheCustomerIsAskedAgain) {
  std::filesystem::create_directories(root_ / "build/support-desk/refunds");
  EXPECT_EQ(
      desk("run examples/support-desk/desk.toml \"Customer 118 again. My machine shows E4, as before.\""), 3)
      << "else the example shows nothing";
  EXPECT_THAT(told_, HasSubstr("Does the lamp blink twice or three times?"));
}

TEST_F(SupportDeskExample, Readme_ShowsWhatIsPrinted) { expect_readme_holds(); }

}  // namespace
}  // namespace praxis::testing
