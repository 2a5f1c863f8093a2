#include "tui/shell_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ShellOutputs, AreBoundedTogetherAndTheLastOneStays) {
  ShellOutputs outputs;
  const std::string half(ShellOutputs::kMostBytes / 2 - 200, 'x');
  EXPECT_EQ(outputs.add({"first", "exit 0", half}), 0U);
  EXPECT_EQ(outputs.add({"second", "exit 0", half}), 0U);
  EXPECT_EQ(outputs.add({"third", "exit 0", half}), 1U);
  EXPECT_EQ(outputs.add({"fourth", "exit 0", std::string(2 * ShellOutputs::kMostBytes, 'x')}), 2U);
  EXPECT_THAT(outputs.take("all"), ElementsAre(HasSubstr("fourth")));
  EXPECT_EQ(outputs.size(), 0U);
}

TEST(ShellOutputs, ComeBackWithTheLastMessageOfThisText) {
  ShellOutputs outputs;
  outputs.add({"one", "exit 0", ""});
  outputs.take("again");
  outputs.add({"two", "exit 1", ""});
  outputs.take("again");
  outputs.put_back("other");
  EXPECT_THAT(outputs.take("none"), IsEmpty());
  outputs.add({"three", "exit 0", ""});
  outputs.put_back("again");
  EXPECT_THAT(outputs.take("more"), ElementsAre(HasSubstr("two"), HasSubstr("three")));
}

TEST(ShellLineEnd, OutputIsSafeAndItsEndIsNamed) {
  ProcessResult ended;
  ended.exit_code = 3;
  ended.out.head = "a\x1b[2J\xff";
  ended.out.total_bytes = ended.out.head.size();
  EXPECT_EQ(shell_line_end("x", ended).how, "exit 3");
  EXPECT_EQ(shell_line_end("x", ended).output, "a␛[2J\uFFFD");
  ended.end = ProcessEnd::kSignalled;
  ended.signal = 9;
  EXPECT_EQ(shell_line_end("x", ended).how, "signal 9");
  ended.end = ProcessEnd::kCancelled;
  EXPECT_EQ(shell_line_end("x", ended).how, "stopped");
  EXPECT_EQ(shell_line_end("x", fail(ErrorCode::kTool, "no\x1bshell")).how, "no␛shell");
}

}  // namespace
}  // namespace praxis::tui
