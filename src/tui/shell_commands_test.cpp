#include "tui/shell_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShellOutputs, AreBoundedTogetherAndTheLastOneStays) {
  ShellOutputs outputs;
  const std::string half(ShellOutputs::kMostBytes / 2 - 200, 'x');
  outputs.add({"first", "exit 0", half});
  outputs.add({"second", "exit 0", half});
  EXPECT_EQ(outputs.dropped(), 0U);
  outputs.add({"third", "exit 0", half});
  EXPECT_EQ(outputs.dropped(), 1U);
  outputs.add({"fourth", "exit 0", std::string(2 * ShellOutputs::kMostBytes, 'x')});
  EXPECT_EQ(outputs.dropped(), 3U);
  EXPECT_THAT(outputs.take(), ElementsAre(HasSubstr("fourth")));
  EXPECT_EQ(outputs.size(), 0U);
  EXPECT_EQ(outputs.dropped(), 0U);
}

TEST(ShellOutputs, ComeBackBeforeThoseThatWait) {
  ShellOutputs outputs;
  outputs.add({"one", "exit 0", std::string(100, 'x')});
  const std::vector<std::string> sent = outputs.take();
  outputs.add({"two", "exit 1", ""});
  outputs.put_back(sent);
  EXPECT_THAT(outputs.take(), ElementsAre(HasSubstr("\"one\""), HasSubstr("\"two\"")));
  outputs.add({"three", "exit 0", std::string(ShellOutputs::kMostBytes, 'x')});
  outputs.put_back(sent);
  EXPECT_EQ(outputs.dropped(), 1U);
  EXPECT_THAT(outputs.take(), ElementsAre(HasSubstr("\"three\"")));
}

const std::string kTestKey = "sk-of-the-tests-0123";

std::string without_key(std::string text) {
  for (std::size_t at = 0; (at = text.find(kTestKey)) != std::string::npos;)
    text.replace(at, kTestKey.size(), "[key]");
  return text;
}

/// Keeps what would run, until a test runs it.
class LateExecutor final : public Executor {
 public:
  void post(Task task) override { tasks_.push_back(std::move(task)); }
  void post_blocking(Task task) override { tasks_.push_back(std::move(task)); }
  TimerId after(std::chrono::nanoseconds /*delay*/, Task /*task*/) override { return 0; }
  void cancel(TimerId /*timer*/) override {}
  void run() {
    for (Task& task : std::exchange(tasks_, {})) task();
  }

 private:
  std::vector<Task> tasks_;
};

TEST(ShellCommands, CommandThatIsStoppedBeforeItBeginsDoesNotRun) {
  const auto executor = std::make_shared<LateExecutor>();
  const std::string file = ::testing::TempDir() + "praxis_stopped_command";
  ShellCommands commands(executor, [](std::string text) { return text; }, [] {});
  const auto ended = [&](bool stops) {
    std::filesystem::remove(file);
    commands.start("touch " + file);
    if (stops) {
      EXPECT_TRUE(commands.stop());
    }
    executor->run();
    const auto end = commands.take();
    return std::pair(end ? end->how : "", std::filesystem::exists(file));
  };
  EXPECT_EQ(ended(true), std::pair(std::string("stopped"), false));
  EXPECT_EQ(ended(false), std::pair(std::string("exit 0"), true));
  std::filesystem::remove(file);
}

TEST(ShellCommandEnd, OutputIsSafeAndItsEndIsNamed) {
  ProcessResult ended;
  ended.exit_code = 3;
  ended.out.head = "a\x1b[2J\xff";
  ended.out.total_bytes = ended.out.head.size();
  const auto end_of = [](const Result<ProcessResult>& result) {
    return shell_command_end("x", result, without_key);
  };
  EXPECT_EQ(end_of(ended).how, "exit 3");
  EXPECT_EQ(end_of(ended).output, "a␛[2J\uFFFD");
  ended.end = ProcessEnd::kSignalled;
  ended.signal = 9;
  EXPECT_EQ(end_of(ended).how, "signal 9");
  ended.end = ProcessEnd::kCancelled;
  EXPECT_EQ(end_of(ended).how, "stopped");
  EXPECT_EQ(end_of(fail(ErrorCode::kTool, "no\x1bshell")).how, "no␛shell");
}

constexpr std::size_t kEndBytes = ShellCommands::kMostOutput / 2;

/// The end of a command that wrote `bytes`, of which the process kept `kept` at either end.
ShellCommandEnd end_after(const std::string& bytes, std::size_t kept) {
  ProcessResult ended;
  ended.out.total_bytes = bytes.size();
  const bool is_whole = bytes.size() <= 2 * kept;
  ended.out.head = is_whole ? bytes : bytes.substr(0, kept);
  ended.out.tail = is_whole ? "" : bytes.substr(bytes.size() - kept);
  return shell_command_end("echo " + kTestKey, ended, without_key);
}

TEST(ShellCommandEnd, NoPartOfASecretStaysWhereTheOutputIsCut) {
  const std::string middle(3 * kEndBytes, '.');
  for (const std::size_t kept : {2 * kEndBytes, 4 * kEndBytes}) {
    for (std::size_t before = 0; before <= kTestKey.size(); ++before) {
      SCOPED_TRACE(before);
      const bool is_whole = before == kTestKey.size();  // in the head, in front of the cut
      const bool is_outside = before == 0;
      const std::string head(kEndBytes - before, 'h');
      const std::string tail(kEndBytes - kTestKey.size() + before, 't');
      const std::string output = head + kTestKey + middle + kTestKey + tail;
      const ShellCommandEnd end = end_after(output, kept);
      const std::string shown_head = head + (is_whole ? "[key]" : "");
      const std::string shown_tail = (is_outside ? "[key]" : "") + tail;
      const std::size_t keys = is_whole || is_outside ? kTestKey.size() : 0;
      EXPECT_EQ(end.output, shown_head + "\n[" +
                                std::to_string(output.size() - head.size() - tail.size() - keys) +
                                " bytes left out]\n" + shown_tail);
      EXPECT_EQ(end.line, "echo [key]");
    }
  }
}

TEST(ShellCommandEnd, LongOutputIsCutBetweenCharacters) {
  const std::string head(kEndBytes - 1, 'h'), tail(kEndBytes - 2, 't'), middle(5 * kEndBytes, '.');
  const ShellCommandEnd end = end_after(head + "€" + middle + "€" + tail, 2 * kEndBytes);
  EXPECT_EQ(end.output, head + "\n[" + std::to_string(middle.size() + 6) + " bytes left out]\n" + tail);
  const std::string whole = head + "€" + std::string(kEndBytes - 2, 't');
  EXPECT_EQ(end_after(whole, 2 * kEndBytes).output, whole);
}

}  // namespace
}  // namespace praxis::tui
