// A person talks with an agent within tmux: keys typed by it, lines read back from it.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

class ChatInTmux : public CliChat {
 protected:
  void SetUp() override {
    if (Process({"tmux", "-V"}, options_).finish() != 0)
      GTEST_SKIP() << "tmux is missing: scripts/setup --test";
  }
  ~ChatInTmux() override { tmux({"kill-server"}); }

  std::string tmux(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tmux", "-S", home_folder() + "/tmux", "-f", "/dev/null"});
    Process process(arguments, options_);
    process.finish();
    return process.output;
  }
  /// All lines, from the first of the scrollback on.
  std::string lines() const { return tmux({"capture-pane", "-p", "-S", "-"}); }
  bool shows(const std::string& text) const {
    for (int i = 0; i < 1'200; ++i) {
      if (lines().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "not shown: " << text << "\nthe lines:\n" << lines();
    return false;
  }
  void type(const std::string& text) const { tmux({"send-keys", "-l", text}); }
  void press(const std::string& key) const { tmux({"send-keys", key}); }
};

TEST_F(ChatInTmux, ScrollbackIsWhatWasSaidOnceAndInOrder) {
  std::string long_answer;
  for (int i = 100; i < 160; ++i) long_answer += "line " + std::to_string(i) + "\n\n";
  file("talk.jsonl", says("First answer.") + says(long_answer) + says("Third answer."));
  tmux({"new-session", "-d", "-x", "60", "-y", "20", "-c", options_.folder,
        PRAXIS_BINARY_DIR "/praxis chat talk.toml; echo LEFT; sleep 600"});
  ASSERT_TRUE(shows(">\n"));
  type("One?");
  press("Enter");
  ASSERT_TRUE(shows("1 step"));
  type("Twoo");
  press("BSpace");
  type("?");
  press("Enter");
  ASSERT_TRUE(shows("line 159"));
  tmux({"resize-window", "-x", "50", "-y", "16"});
  type("Three?");
  press("Enter");
  ASSERT_TRUE(shows("Third answer."));
  type("not sent");
  ASSERT_TRUE(shows("> not sent"));
  press("C-c");
  ASSERT_TRUE(shows("Ctrl-C once more leaves"));
  press("C-c");
  ASSERT_TRUE(shows("LEFT"));
  std::vector<std::string> said{"> One?", "First answer.", "> Two?"};
  for (int i = 100; i < 160; ++i) said.push_back("line " + std::to_string(i));
  said.insert(said.end(), {"> Three?", "Third answer.", "LEFT"});
  const std::string all = lines();
  expect_once_in_order(all, said);
  EXPECT_EQ(count(all, "not sent"), 0U) << all;
  EXPECT_EQ(count(all, "Ctrl-C once more"), 0U) << all;
  EXPECT_EQ(count(all, "script:talk.jsonl"), 0U) << "a status line is left in:\n" << all;
}

}  // namespace
}  // namespace praxis::testing
