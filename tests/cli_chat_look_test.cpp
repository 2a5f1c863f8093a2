// How a chat looks and calls for attention on the terminal that it is in, judged by the bytes that it writes.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAsks = "\x1b]11;?";
constexpr const char* kLightError = "\x1b[38;5;124m";
constexpr const char* kDarkError = "\x1b[38;5;203m";

class ChatLook : public CliChat {
 protected:
  ChatLook() {
    options_.env["TERM"] = "xterm-256color";
    file("talk.jsonl", says("One."));
  }
};

TEST_F(ChatLook, AnswerOfTheTerminalChoosesTheThemeAndIsNotTyped) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("/nope\x1b]11;rgb:ffff/ffff/ffff\x1b\\s\r");
  run->shows("there is no /nopes");
  left(*run);
  EXPECT_THAT(run->output(), AllOf(HasSubstr(kAsks), HasSubstr(kLightError)));
}

TEST_F(ChatLook, SettingAndFlagChooseTheThemeWithoutAsking) {
  file("config/praxis/config.toml", "[chat]\ntheme = 'dark'\n");
  const auto configured = chat({"talk.toml"});
  begin(*configured);
  configured->type("/nope\r");
  configured->shows("there is no /nope");
  left(*configured);
  EXPECT_THAT(configured->output(), AllOf(HasSubstr(kDarkError), Not(HasSubstr(kAsks))));
  const auto flagged = chat({"talk.toml", "--theme", "light"});
  begin(*flagged);
  flagged->type("/nope\r");
  flagged->shows("there is no /nope");
  left(*flagged);
  EXPECT_THAT(flagged->output(), AllOf(HasSubstr(kLightError), Not(HasSubstr(kAsks))));
}

TEST_F(ChatLook, EndOfATurnCallsOnlyWhileAnotherWindowIsLookedAt) {
  file("config/praxis/config.toml",
       "[chat]\nnotify = 'osc9'\nnotify_command = 'echo \"$1\" >> called.txt'\n");
  file("talk.jsonl", says("One.") + says("Two.") + says("Three."));
  file("called.txt", "");
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("A?\r");
  run->shows("One.");
  run->shows("1 step");
  EXPECT_THAT(run->output(), Not(HasSubstr("\x1b]9;")));
  run->type("\x1b[OB?\r");
  run->shows("Two.");
  for (int i = 0; i < 6'000 && contents("called.txt").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  run->type("\x1b[IC?\r");
  run->shows("Three.");
  const std::string screen = left(*run);
  EXPECT_EQ(count(run->output(), "\x1b]9;The agent has finished\x07"), 1U) << screen;
  EXPECT_EQ(contents("called.txt"), "The agent has finished\n");
}

TEST_F(ChatLook, StepThatWaitsRingsTheBellWhileAnotherWindowIsLookedAt) {
  file("notes.jsonl", puts("a") + says("Noted."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("\x1b[ONote it\r");
  run->shows("wants to run");
  run->type("\x1b[I");
  left(*run);
  EXPECT_EQ(count(run->output(), "\x07"), 1U);
}

TEST_F(ChatLook, NoColorAsksNothing) {
  options_.env["NO_COLOR"] = "1";
  const auto run = chat({"talk.toml", "--theme", "light"});
  begin(*run);
  run->type("/nope\r");
  run->shows("there is no /nope");
  left(*run);
  EXPECT_THAT(run->output(), AllOf(Not(HasSubstr(kAsks)), Not(HasSubstr("\x1b[38"))));
}

}  // namespace
}  // namespace praxis::testing
