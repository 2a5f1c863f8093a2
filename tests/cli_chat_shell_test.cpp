// `!command` in a chat: whose act it is, what stops it, and what of it the model sees.
#include <csignal>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ChatShell : public CliChat {
 protected:
  ChatShell() {
    options_.env["SHELL"] = "/bin/sh";
    file("talk.jsonl", says("Ok."));
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  /// Types a line for the shell, as a person does, who does not type and send it in one instant.
  static void run_line(TerminalSession& chat, const std::string& line) {
    chat.type('!' + line);
    chat.shows("Enter runs this in your shell");
    chat.type("\r");
    loses(chat, "Enter runs this in your shell");
  }
  std::string log() { return praxis({"export", "last"}).out; }
};

TEST_F(ChatShell, CtrlCStopsTheCommandWithAllItStarted) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_line(
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
    run_line(*run, "kill -STOP $PPID; echo $PPID > parent; sleep 1000");  // what would end it stands still
    ASSERT_TRUE(run->wait_until([&] { return contents("parent").ends_with('\n'); }));
    stop_both(*run, key);
    kill(std::stoi(contents("parent")), SIGCONT);
    std::filesystem::remove(folder_ / "parent");
    run->shows("stopped; the model sees it");
    run->type("\x04");
    EXPECT_EQ(run->finish(), 0);
  }
}

TEST_F(ChatShell, LeavingTheChatStopsTheCommand) {
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_line(*run, "echo $$ > shell; sleep 1000");
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
    run->shows("Enter runs this in your shell");
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
  std::filesystem::path history;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder_))
    if (each.path().filename() == "history.jsonl") history = each.path();
  ASSERT_FALSE(history.empty());
  std::ofstream(history, std::ios::app) << "\"!touch ran\"\n";
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
  run_line(*run, "echo x >> ran");
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
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("Begin\r");
  run->shows("waits for the model");
  run_line(*run, "printf 'k%spt' e");
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
}

TEST_F(ChatShell, OutputIsBoundedAndSaysSo) {
  file("talk.jsonl", says("Seen."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run_line(*run, "printf begin; yes | head -c 3000000; printf 'e%s' nd >&2");
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
