// Runs examples/nightly: a run that sleeps for days, over several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "example_folder.hpp"
#include "example_tree.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NightlyExample : public ExampleFolder {
 protected:
  NightlyExample() : ExampleFolder("nightly") {}
  std::string written(const std::string& name) const {
    return content_of(root_ / "build/nightly/out" / name);
  }
};

TEST_F(NightlyExample, RunWhoseProcessEnds_WakesUpInAnotherOne) {
  ASSERT_EQ(play("--sleep 8000"), 0) << told_;
  EXPECT_THAT(printed_,
              AllOf(HasSubstr("T03:00:00.000Z  0 3 * * * UTC  nightly"), HasSubstr("waits: timer")));
  EXPECT_THAT(written("report.md"), AllOf(HasSubstr("disk /var is 97 %"), HasSubstr("certificate of mail")));
  EXPECT_THAT(written("reminder.md"), AllOf(HasSubstr("Please look at the disk /var"),
                                            HasSubstr("disk /var is 98 %"), Not(HasSubstr("certificate"))));
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_EQ(run(std::string(kPraxis) + " replay last --journal " + journal().string()), 0) << told_;
}

TEST_F(NightlyExample, Readme_ShowsWhatIsPrinted) { expect_readme_holds(); }

}  // namespace
}  // namespace praxis::testing
