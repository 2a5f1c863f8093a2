// `!command` in a chat: what runs it, what stops it, and what of it the model sees.
#include <array>
#include <csignal>
#include <utility>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ChatShell : public CliChat {
 protected:
  ChatShell() { file("talk.jsonl", says("Ok.")); }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  /// Types a command and sends it when the chat says that Enter runs it.
  static void run_command(TerminalSession& chat, const std::string& line) {
    chat.type('!' + line);
    chat.shows("Enter runs this in your shell");
    chat.type("\r");
    loses(chat, "Enter runs this in your shell");
  }
  std::filesystem::path history() const {
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder_))
      if (each.path().filename() == "history.jsonl") return each.path();
    ADD_FAILURE() << "there is no history";
    return {};
  }
  std::string log() { return praxis({"export", "last"}).out; }
};

TEST_F(ChatShell, CtrlCStopsTheCommandWithAllItStarted) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(
      *run,
      "sh -c 'trap \"\" INT TERM; echo $$ > deaf; sleep 1000' & setsid sleep 1000 & echo $! > other; wait");
  ASSERT_TRUE(
      run->wait_until([&] { return contents("deaf").ends_with('\n') && contents("other").ends_with('\n'); }));
  run->type("\x03");
  run->shows("stopped; the model sees it");
  for (const char* name : {"deaf", "other"}) {
    const pid_t process = std::stoi(contents(name));
    EXPECT_TRUE(run->wait_until([&] { return kill(process, 0) != 0; })) << name << " is still there";
  }
  run->type("Go on\r");
  run->shows("Ok.");
  run->type("\x04");  // a second Ctrl-C may come too soon to be the first of two
  EXPECT_EQ(run->finish(), 0);
}

/// Stops a command that does not end, and the agent.
void stop_both(TerminalSession& chat, const std::string& key) {
  chat.type(key);
  chat.shows("Esc stops the agent; your command is ending");
  chat.type(key);
  chat.shows("- cancelled:");
}

TEST_F(ChatShell, AgentIsStoppedWhileACommandDoesNotEnd) {
  file("talk.jsonl", says("Slow.", 600000) + says("Slow.", 600000));
  for (const std::string key : {"\x1b", "\x03"}) {
    const auto run = chat({"talk.toml"});
    begin(*run);
    run->type("Begin\r");
    run->shows("waits for the model");
    run_command(*run, "kill -STOP $PPID; echo $PPID > parent; sleep 1000");  // what would end it stands still
    ASSERT_TRUE(run->wait_until([&] { return contents("parent").ends_with('\n'); }));
    stop_both(*run, key);
    // On a slow machine it may have been given up by now, and its number be that of another process.
    if (run->screen().contains("your command is ending")) kill(std::stoi(contents("parent")), SIGCONT);
    std::filesystem::remove(folder_ / "parent");
    run->shows("the model sees it");
    run->type("\x04");
    EXPECT_EQ(run->finish(), 0);
  }
}

TEST_F(ChatShell, LeavingTheChatStopsTheCommand) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "echo $$ > shell; sleep 1000");
  ASSERT_TRUE(run->wait_until([&] { return contents("shell").ends_with('\n'); }));
  run->type("\x04");
  EXPECT_EQ(run->finish(), 0);
  const pid_t process = std::stoi(contents("shell"));
  EXPECT_TRUE(run->wait_until([&] { return kill(process, 0) != 0; }));
  EXPECT_TRUE(run->reads_lines());
}

TEST_F(ChatShell, WhatTheUserHasNotTypedDoesNotRun) {
  file("talk.jsonl", says("Slow.", 600000) + says("Read."));
  auto run = chat({"talk.toml"});
  begin(*run);
  run->type("\x1b[200~!touch ran\x1b[201~\r");
  run->shows("not run: type the !");
  run->type("\x03");
  loses(*run, "> !touch");
  run->type("\x1b[A");
  run->shows("> !touch ran");
  run->type("\r");
  run->shows("not run: type the !");
  run->type("\x15!touch ran\r\r");  // a paste, of a terminal that does not mark it
  run->shows("Enter once more runs");
  run->type("\x15");
  loses(*run, "> !touch");
  run->type("!touch ran");
  run->shows("Enter runs this in your shell");
  run->signal(SIGKILL);
  EXPECT_EQ(run->finish(), 128 + SIGKILL);
  run = chat({"talk.toml"});
  run->shows("> !touch ran");
  run->type("\r");
  run->shows("not run: type the !");
  run->type("\x01 \r");
  run->shows("waits for the model");
  EXPECT_THAT(left(*run), HasSubstr(">  !touch ran"));
  EXPECT_FALSE(exists("ran"));
}

TEST_F(ChatShell, PasteThatIsNotMarkedDoesNotBringItsEnter) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  const std::string command = "!touch ran #";
  const std::string filler(4096, 'x');  // a terminal gives at most so many bytes at once
  const auto at_most = [&](std::size_t bytes) { return command + filler.substr(command.size(), bytes); };
  for (const std::string& paste : {command + "\r", command + "\r" + filler, command + filler + "\r",
                                   at_most(4096) + "\r", at_most(4095) + "\r", command + "\r\r\r"}) {
    run->type(paste);
    run->shows(paste.size() > 4000 ? "too long to run from here" : "Enter runs this in your shell");
    EXPECT_FALSE(exists("ran"));
    run->type("\x15");
    loses(*run, "your shell");
  }
  run->type("!");
  run->shows("Enter runs this in your shell");
  run->type("touch ran\r");
  run->shows("Enter once more runs");
  EXPECT_FALSE(exists("ran"));
  run->shows("Enter runs this in your shell");
  run->type("\r");
  run->shows("exit 0; the model sees it");
  EXPECT_TRUE(exists("ran"));
  left(*run);
}

TEST_F(ChatShell, EnterRightAfterTheTextDoesNotRun) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  bool was_refused = false;
  // On a slow machine the pause passes now and then.
  for (int i = 0; i < 100 && !was_refused; ++i) {
    run->type("!true");
    run->shows("> !true");
    run->wait_until([looks = 0]() mutable { return ++looks > 1; });  // longer than a frame
    run->type("\r");
    EXPECT_TRUE(run->wait_until([&] {
      const std::string screen = run->screen();
      was_refused = screen.contains("Enter once more runs");
      return was_refused || (!screen.contains("> !true") && !screen.contains("Esc stops your command"));
    }));
  }
  EXPECT_TRUE(was_refused);
  left(*run);
}

TEST_F(ChatShell, StoredMessageDoesNotRun) {
  auto run = chat({"talk.toml"});
  begin(*run);
  run->type("\x1b[200~!touch ran" + std::string(11, '\n') + "\x1b[201~");
  run->shows("[paste 1: 12 lines]");
  run->type("\r");
  run->shows("not run: type the !");
  run->type("\x03");
  loses(*run, "[paste 1");
  run->type("Hello\r");
  run->shows("Ok.");
  run->type("\x04");
  EXPECT_EQ(run->finish(), 0);
  std::ofstream(history(), std::ios::app) << "\"!touch ran\"\n";
  run = chat({"talk.toml"});
  begin(*run);
  run->type("\x1b[A");
  run->shows("> !touch ran");
  run->type("\r");
  run->shows("not run: type the !");
  run->type("\x03");
  loses(*run, "> !touch ran");
  EXPECT_FALSE(exists("ran"));
  run->type("\x04");
  EXPECT_EQ(run->finish(), 0);
}

TEST_F(ChatShell, BackslashJoinsTheLinesOfACommand) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("!printf '%s,' a\\");
  run->shows("printf '%s,' a\\");
  run->type("\r");
  run->type("b c");
  run->shows("  b c");
  run->shows("Enter runs this in your shell");
  run->type("\r");
  run->shows("ab,c,");
  left(*run);
}

TEST_F(ChatShell, CommandThatWasClearedComesBackAsACommand) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("!touch ran");
  run->shows("Enter runs this in your shell");
  run->type("\x03");
  loses(*run, "your shell");
  run->type("\x1b[A");
  run->shows("Enter runs this in your shell");
  run->type("\r");
  run->shows("exit 0; the model sees it");
  EXPECT_TRUE(exists("ran"));
  run->type("\x04");
  EXPECT_EQ(run->finish(), 0);
}

TEST_F(ChatShell, MessageOfAnotherSurfaceDoesNotRunWhenItIsTakenBack) {
  file("talk.jsonl", says("Slow.", 600000));
  const auto run = chat({"talk.toml"});
  begin_and_queue(*run);
  const std::string id = json_string(praxis({"runs", "--json"}).items().at(0), "id");
  EXPECT_EQ(praxis({"tree", "enqueue", id, "!touch ran"}).status, 0);
  run->shows("queued: !touch ran");
  run->type("\x1b[1;3A");
  run->shows("> !touch ran");
  run->type("\r");
  run->shows("not run: type the !");
  run->type("\x15");
  left(*run);
  EXPECT_FALSE(exists("ran"));
}

TEST_F(ChatShell, HistoryRunsALineAgain) {
  auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "echo x >> ran");
  run->shows("exit 0; the model sees it");
  left(*run);
  run = chat({"talk.toml"});
  begin(*run);
  run->type("\x1b[A");
  run->shows("Enter runs this in your shell");
  run->type("\r");
  run->shows("exit 0; the model sees it");
  left(*run);
  EXPECT_EQ(contents("ran"), "x\nx\n");
}

TEST_F(ChatShell, OutputComesBackWithItsMessage) {
  file("talk.jsonl", R"({"asked": "Begin", "text": "Too late.", "delay_ms": 600000})"
                     "\n" +
                         says("Seen."));
  auto run = chat({"talk.toml"});
  begin(*run);
  run->type("Begin\r");
  run->shows("waits for the model");
  run_command(*run, "printf 'k%spt' e");
  run->shows("next message: 1 output");
  run->type("unread\r");
  run->shows("next step: unread");
  loses(*run, "next message: 1 output");
  run->type("\x1b");
  run->shows("> unread");
  run->shows("next message: 1 output");
  run->type("\r");
  run->shows("Seen.");
  expect_once_in_order(left(*run), {"> Begin", "- cancelled:", "> unread", "(exit 0, 4 bytes)", "Seen."});
  EXPECT_THAT(log(), HasSubstr(R"(end=\"exit 0\" bytes=4>\nkept\n</command>)"));
  run = chat({"--resume", "last"});
  run->shows("script:talk.jsonl");  // the last line
  const std::string screen = run->screen();
  left(*run);
  EXPECT_EQ(count(screen, "> unread"), 1U) << "it came back again: " << screen;
  EXPECT_EQ(count(screen, "next message:"), 0U) << screen;
}

TEST_F(ChatShell, OutputStaysWithItsMessageAlsoInTheNextChat) {
  file("talk.jsonl", R"({"asked": "Begin", "text": "Too late.", "delay_ms": 600000})"
                     "\n" +
                         says("Seen.") + says("Seen again."));
  auto run = chat({"talk.toml"});
  begin(*run);
  run->type("Begin\r");
  run->shows("waits for the model");
  run_command(*run, "printf 'k%spt' e");
  run->shows("next message: 1 output");
  run->type("carry\x1b\r");
  run->shows("queued: carry");
  loses(*run, "next message: 1 output");
  run->signal(SIGKILL);
  EXPECT_EQ(run->finish(), 128 + SIGKILL);
  run = chat({"--resume", "last"});
  run->shows("queued: carry");
  const std::string tree = praxis({"tree", "last"}).out;
  const std::size_t queued = tree.find(" queued: carry");
  ASSERT_NE(queued, std::string::npos) << tree;
  const std::size_t mark = tree.rfind('#', queued);
  run->type("/queue edit " + tree.substr(mark, queued - mark) + " carried\r");
  run->shows("queued: carried");
  EXPECT_THAT(run->screen(), Not(HasSubstr("next message:")));
  run->type("\x1b[1;3A");  // Alt-Up
  run->shows("> carried");
  run->shows("next message: 1 output;");
  run->type("\r");
  run->shows("next step: carried");
  run->type("\x1b");
  run->shows("- cancelled:");
  run->shows("next message: 1 output;");
  run->type("\r");
  run->shows("- 1 step,");
  run->type("\x1b\x1b");
  run->shows("Back to before which message?");
  run->type("\r");
  run->shows("> carried");
  run->shows("next message: 1 output;");
  run->type("\r");
  run->shows("Seen again.");
  EXPECT_EQ(count(left(*run), "(exit 0, 4 bytes)"), 2U) << "once before it was taken back, once after";
}

TEST_F(ChatShell, OutputDoesNotComeBackWithAnotherMessageOfTheSameText) {
  file("talk.jsonl", R"({"asked": "Begin", "text": "Too late.", "delay_ms": 600000})"
                     "\n" +
                         says("Seen."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "printf 'k%spt' e");
  run->shows("next message: 1 output");
  run->type("carry\r");
  run->shows("- 1 step,");
  run->type("Begin\r");
  run->shows("waits for the model");
  run->type("carry\r");
  run->shows("next step: carry");
  run->type("\x1b");
  run->shows("- cancelled:");
  loses(*run, "next step: carry");
  EXPECT_THAT(run->screen(), Not(HasSubstr("next message:")));
  left(*run);
}

TEST_F(ChatShell, OutputDoesNotComeBackWhenGoingBackFails) {
  file("talk.jsonl", says("Seen.") + says("Slow.", 600000));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "printf 'k%spt' e");
  run->shows("next message: 1 output");
  run->type("carry\r");
  run->shows("- 1 step,");
  run->type("\x1b\x1b");
  run->shows("Back to before which message?");
  EXPECT_EQ(praxis({"tree", "steer", "last", "Begin"}).status, 0);
  run->shows("> Begin");
  run->type("\r");
  run->shows("Esc stops it first");
  EXPECT_EQ(count(run->screen(), "> carry"), 1U) << run->screen();
  EXPECT_THAT(run->screen(), Not(HasSubstr("next message:")));
  run->type("\x04");
  EXPECT_EQ(run->finish(), 0);
}

TEST_F(ChatShell, CommandWithAKnownSecretIsNotInTheHistory) {
  options_.env["OPENAI_API_KEY"] = "sk-of-the-tests-0123456789";
  const auto run = chat({"talk.toml"});
  begin(*run);
  const std::array<std::pair<const char*, const char*>, 3> lines{
      {{"echo before", "before"}, {"echo sk-of-the-tests-0123456789", "[key]"}, {"echo after", "after"}}};
  for (const auto& [line, printed] : lines) {
    run_command(*run, line);
    run->shows(std::string("\n") + printed + "\nexit 0; the model sees it");  // of this command
  }
  left(*run);
  EXPECT_THAT(contents(history()), AllOf(HasSubstr("before"), HasSubstr("after"), Not(HasSubstr("sk-of"))));
}

TEST_F(ChatShell, KnownSecretsAreNotInTheOutput) {
  options_.env["OPENAI_API_KEY"] = "sk-of-the-tests-0123456789";
  file("talk.jsonl", says("Seen."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "echo key: $OPENAI_API_KEY");
  run->shows("exit 0; the model sees it");
  run->type("Look\r");
  run->shows("Seen.");
  EXPECT_THAT(left(*run), AllOf(HasSubstr("key: [key]\n"), Not(HasSubstr("sk-of"))));
  EXPECT_THAT(praxis({"export", "last", "--format", "records"}).out,
              AllOf(HasSubstr("key: [key]"), Not(HasSubstr("sk-of"))));
}

TEST_F(ChatShell, CommandThatIsNotShownWholeDoesNotRun) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("!");
  run->shows("Enter runs this in your shell");
  run->type("\x1b[200~touch ran;" + std::string(3000, ' ') + "ls\x1b[201~");
  run->shows("too long to run from here");
  run->type("\r");
  run->shows("not run: all of a command must be on the screen");
  EXPECT_FALSE(exists("ran"));
  left(*run);
}

TEST_F(ChatShell, OutputIsBoundedAndSaysSo) {
  file("talk.jsonl", says("Seen."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_command(*run, "printf begin; yes | head -c 3000000; printf 'e%s' nd >&2");
  run->shows("exit 0; the model sees it");
  run->type("Read\r");
  run->shows("Seen.");
  EXPECT_THAT(left(*run), AllOf(HasSubstr("begin"), HasSubstr("\nend\n"), HasSubstr("left out")));
  EXPECT_LT(log().size(), 60'000U);
}

TEST_F(ChatShell, PlainChatSendsTheLineAsAMessage) {
  options_.input = "!touch ran\n";
  EXPECT_THAT(praxis({"chat", "talk.toml", "--plain"}).out,
              AllOf(HasSubstr("> !touch ran"), HasSubstr("Ok.")));
  EXPECT_FALSE(exists("ran"));
}

}  // namespace
}  // namespace praxis::testing
