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
  EXPECT_EQ(shell_command_end("x", ended).how, "exit 3");
  EXPECT_EQ(shell_command_end("x", ended).output, "a␛[2J\uFFFD");
  ended.end = ProcessEnd::kSignalled;
  ended.signal = 9;
  EXPECT_EQ(shell_command_end("x", ended).how, "signal 9");
  ended.end = ProcessEnd::kCancelled;
  EXPECT_EQ(shell_command_end("x", ended).how, "stopped");
  EXPECT_EQ(shell_command_end("x", fail(ErrorCode::kTool, "no\x1bshell")).how, "no␛shell");
}

}  // namespace
}  // namespace praxis::tui
