// Runs examples/birthday, with its script as the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "example_folder.hpp"
#include "example_tree.hpp"

namespace praxis::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class BirthdayTest : public ExampleFolder {
 protected:
  BirthdayTest() : ExampleFolder("birthday") {}
};

TEST_F(BirthdayTest, Agent_AsksThreeTimesAndPlansAParty) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(told_, HasSubstr("Whose birthday is it, and how old will they be?"));
  EXPECT_THAT(told_, HasSubstr("Where will you celebrate, and with how many guests?"));
  EXPECT_THAT(told_, HasSubstr("Can all of the guests eat chocolate and nuts?"));
  EXPECT_THAT(printed_, HasSubstr("> One of them must not eat nuts\n"));
  EXPECT_THAT(printed_, EndsWith("coloured paper, string.\n"));
  EXPECT_EQ(unfinished_nodes(journal()), "");
  EXPECT_EQ(run(std::string(kPraxis) + " replay last --journal " + journal().string()), 0) << told_;
}

TEST_F(BirthdayTest, DeclinedQuestion_EndsTheRunSuccessfully) {
  ASSERT_EQ(play("\"Ben's\""), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("I would have needed an answer to this: Where will you celebrate"));
}

}  // namespace
}  // namespace praxis::testing
