// A person talks with an agent at a terminal: whole chats at a pseudo-terminal, judged by an emulator.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_P(CliChat, WhatWasSaidIsInTheScrollbackOnceAndInOrder) {
  std::string long_answer;
  for (int i = 100; i < 200; ++i) long_answer += "line " + std::to_string(i) + "\n\n";
  file("talk.jsonl", says("First answer.") + says(long_answer) + says("Third answer."));
  const auto run = chat({"talk.toml"}, {GetParam(), 24});
  begin(*run);
  run->type("One?\r");
  run->shows("First answer.");
  run->shows("1 step");
  run->type("Two?\r");
  run->shows("line 199");
  run->type("Three?\r");
  run->shows("Third answer.");
  std::vector<std::string> said{"> One?", "First answer.", "> Two?"};
  for (int i = 100; i < 200; ++i) said.push_back("line " + std::to_string(i));
  said.insert(said.end(), {"> Three?", "Third answer."});
  expect_once_in_order(left(*run), said);
}

TEST_P(CliChat, WideTextIsShownWhole) {
  const std::string wide =
      "日本語のテキスト、한국어 텍스트 👩‍💻 cafe\u0301 שלום 👍🏽 終";
  file("talk.jsonl", says(wide + "\n\n" + wide) + says("done"));
  const auto run = chat({"talk.toml"}, {GetParam(), 24});
  begin(*run);
  run->type("日本語を話しますか、日本語を話しますか、日本語を話しますか");
  run->shows("すか");
  run->type("\x7f\x7f\x7f\x7f");
  run->type("ね\r");
  run->shows("1 step");
  run->type("next\r");
  run->shows("done");
  std::string screen = left(*run);
  std::erase(screen, '\n');
  EXPECT_EQ(count(screen, "終"), 2U) << screen;
  EXPECT_EQ(count(screen, "日本語のテキスト"), 2U) << screen;
  EXPECT_THAT(screen, HasSubstr("日本語を話しますか、日本語を話しますか、日本語を話ね"));
}

TEST_P(CliChat, HostileTextNeverReachesTheTerminal) {
  const std::string hostile =
      "a\u001b]0;owned\u0007b\u001b[2Jc\u001b[?1049hd\u009b31me\u202efg\u001b]52;c;aGk=\u0007h\u001b[6n\r!"
      "\u200b.";
  file(
      "notes.jsonl",
      to_json_text({{"text", hostile},
                    {"tool_calls",
                     JsonArray{JsonObject{
                         {"name", "kv"},
                         {"arguments", JsonObject{{"op", "put"}, {"key", hostile}, {"value", hostile}}}}}}}) +
          '\n' + says(hostile));
  const auto run = chat({"notes.toml"}, {GetParam(), 40});
  begin(*run);
  run->type("\x1b[200~paste \u202e \x1b]0;pasted\x07 \x1b[2J end\x1b[201~");
  run->shows("end");
  run->type("\r");
  run->shows("wants to run");
  run->shows("\\u202e");
  run->type("\t");
  run->shows("[n]o");
  run->type("n");
  run->shows("reason for the model");
  run->type("why \x1b[200~\x1b]0;reason\x07\x1b[201~\r");
  run->shows("2 steps");
  EXPECT_THAT(left(*run), AllOf(HasSubstr("␛]0;owned␇"), HasSubstr("␛[2J")));
  for (const char* sequence : {"\x1b]", "\x1b[2J", "\x1b[?1049h", "\x1b[6n", "\xC2\x9b", "\xE2\x80\xAE"})
    EXPECT_THAT(run->output(), Not(HasSubstr(sequence)));
}

TEST_P(CliChat, ResizingLosesAndRepeatsNothing) {
  file("talk.jsonl", says("First answer, which is long enough to be broken on a narrow screen.") +
                         says("Second answer.", 1500));
  const auto run = chat({"talk.toml"}, {GetParam(), 24});
  begin(*run);
  run->type("One?\r");
  run->shows("1 step");
  run->type("Two?\r");
  run->shows("waits for the model");
  run->type("while it works");
  for (const TerminalShape shape : {TerminalShape{30, 24}, TerminalShape{100, 10}, TerminalShape{60, 40},
                                    TerminalShape{20, 8}, TerminalShape{GetParam(), 24}}) {
    run->resize(shape);
    run->type(".");
  }
  run->shows("Second answer.");
  const std::string screen = left(*run);
  EXPECT_EQ(count(screen, "> Two?"), 1U) << screen;
  EXPECT_EQ(count(screen, "Second answer."), 1U) << screen;
  EXPECT_EQ(count(screen, "First answer"), 1U) << screen;
  EXPECT_THAT(screen, Not(HasSubstr("while it works"))) << "what was not sent is no part of the scrollback";
}

INSTANTIATE_TEST_SUITE_P(Columns, CliChat, ::testing::Values(40, 80, 200));

TEST_F(CliChat, ApprovalInTheMiddleOfTypingTakesNoKey) {
  file("notes.jsonl", puts("a", 600) + says("Noted.") + says("Seen."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("Note it\r");
  run->shows("waits for the model");
  run->type("ye");
  run->shows("Tab decides");
  run->type("y");  // meant for the text
  run->shows("> yey");
  EXPECT_THAT(run->screen(), HasSubstr("Tab decides"));
  run->type("\t");
  run->shows("[y]es once  [a]lways  [n]o  [e]dit  [l]ater");
  run->type("y");
  run->shows("Noted.");
  run->type("\r");
  run->shows("Seen.");
  const std::string screen = left(*run);
  EXPECT_THAT(screen, AllOf(HasSubstr("allow by "), HasSubstr("> yey")));
  EXPECT_THAT(screen, Not(HasSubstr("Tab decides"))) << "the card is no part of the scrollback";
}

TEST_F(CliChat, CardIsAnsweredWithOneLetterWhenTheUserIsNotTyping) {
  file("notes.jsonl", puts("a", 2500) + says("Not noted."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("Note it\r");
  run->shows("[y]es once");
  run->type("n");
  run->shows("reason for the model");
  run->type("wrong key\r");
  run->shows("Not noted.");
  left(*run);
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("wrong key"));
}

TEST_F(CliChat, AlwaysShowsTheRuleBeforeItIsSaved) {
  options_.env["EDITOR"] = "true";
  file("notes.jsonl", puts("a") + puts("a") + says("Noted."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("Note it\r");
  run->shows("Tab decides");
  run->type("\t");
  run->shows("[a]lways");
  run->type("a");
  run->shows("Allow \"kv\" without asking whenever its arguments are exactly these:");
  run->shows("Save this rule?  [y]es  [t]his chat only  [e]dit it first  [n]o");
  run->type("e");
  EXPECT_TRUE(run->wait_until([&] {  // shown again, after an editor that changed nothing
    const std::string screen = run->screen();
    return screen.find("Allow \"kv\"") != screen.rfind("Allow \"kv\"");
  }));
  run->type("y");
  run->shows("Noted.");
  left(*run);
  EXPECT_THAT(contents("config/praxis/allowed.jsonl"), HasSubstr("\"key\":\"a\""));
}

TEST_F(CliChat, QuestionIsAnsweredAndTheDraftComesBack) {
  file("asks.toml", "id = 'asks'\nmodel = 'script:asks.jsonl'\n[tools.ask_user]\n");
  const Json ask{{"name", "ask_user"}, {"arguments", JsonObject{{"question", "Which colour?"}}}};
  file("asks.jsonl",
       to_json_text({{"tool_calls", JsonArray{ask}}, {"delay_ms", 600}}) + '\n' + says("Red it is."));
  const auto run = chat({"asks.toml"});
  begin(*run);
  run->type("Paint\r");
  run->shows("waits for the model");
  run->type("a draft");
  run->shows("Which colour?");
  run->type("\t");
  run->shows("answer with Enter");
  run->type("red\r");
  run->shows("Red it is.");
  run->shows("> a draft");
  left(*run);
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("red"));
}

TEST_F(CliChat, EnterSteersAndAltEnterQueues) {
  file("notes.toml", "id = 'notes'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n");
  file("notes.jsonl", puts("a", 1200) + says("Steered answer.") + says("Queued answer."));
  const auto run = chat({"notes.toml"});
  begin_and_queue(*run);
  run->type("rather that\r");
  run->shows("at the next step: rather that");
  run->shows("Queued answer.");
  expect_once_in_order(left(*run),
                       {"> Begin", "> rather that", "Steered answer.", "> then this", "Queued answer."});
}

TEST_F(CliChat, EscStopsTheAgentAndKeepsWhatIsThere) {
  file("talk.jsonl",
       "{\"asked\": \"One?\", \"text\": \"Too late.\", \"delay_ms\": 60000}\n" + says("Second."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("One?\r");
  run->shows("waits for the model");
  run->type("not read\r");
  run->shows("at the next step: not read");
  run->type("\x1b");
  run->shows("cancelled");
  run->shows("> not read");  // back in the composer
  run->type("\x15Two?\r");
  run->shows("Second.");
  EXPECT_THAT(left(*run), AllOf(HasSubstr("> One?"), Not(HasSubstr("Too late."))));
}

TEST_F(CliChat, KillWhileTypingKeepsDraftQueueAndRun) {
  file("notes.toml", "id = 'notes'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n");
  file("notes.jsonl", puts("a", 1500) + says("First answer.") + says("Queued answer."));
  {
    const auto run = chat({"notes.toml"});
    begin_and_queue(*run);
    run->type("half a sen");
    run->shows("> half a sen");
    EXPECT_FALSE(run->reads_lines());
    run->signal(SIGKILL);
    EXPECT_EQ(run->finish(), 128 + SIGKILL);
    EXPECT_TRUE(run->wait_until([&] { return run->reads_lines() && run->emulated().is_cursor_visible(); }))
        << "the terminal cannot be used";
  }
  const auto again = chat({"--resume", "last"});
  again->shows("> half a sen");
  again->shows("Queued answer.");
  again->type("tence\x1b[D\x1b[C");
  again->shows("> half a sentence");
  expect_once_in_order(left(*again), {"> Begin", "First answer.", "> then this", "Queued answer."});
}

TEST_F(CliChat, DraftOfAChatWithoutARunIsKeptToo) {
  file("talk.jsonl", says("Yes."));
  {
    const auto run = chat({"talk.toml"});
    begin(*run);
    run->type("line 1\x0aline 2");
    run->shows("  line 2");
    run->signal(SIGKILL);
    run->finish();
  }
  const auto again = chat({"talk.toml"});
  again->shows("> line 1\n  line 2");
  again->type("\r");
  again->shows("Yes.");
  left(*again);
  const auto third = chat({"talk.toml"});
  begin(*third);
  EXPECT_THAT(left(*third), Not(HasSubstr("line 1"))) << "what was sent is no draft";
}

TEST_F(CliChat, HistoryPasteAndUndoWork) {
  file("talk.jsonl", says("One.") + says("Two.") + says("Three."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  std::string pasted;
  for (int i = 0; i < 30; ++i) pasted += "pasted line " + std::to_string(i) + "\n";
  run->type("see \x1b[200~" + pasted + "\x1b[201~");
  run->shows("> see [paste 1: 31 lines]");
  run->type("\r");
  run->shows("One.");
  run->shows("pasted line 29");  // what is sent is whole
  run->type("gone\x1f\x1f\x1f\x1f");
  run->type("kept\r");
  run->shows("Two.");
  run->type("\x1b[A");
  run->shows("> kept\n");
  run->type("\x15see\x12");
  run->shows("> [paste 1: 30 lines]");
  run->type("\r");
  run->shows("Three.");
  const std::string screen = left(*run);
  EXPECT_EQ(count(screen, "> kept"), 1U);
  EXPECT_EQ(count(screen, "pasted line 29"), 2U);
}

TEST_F(CliChat, PlainChatWritesLinesWithoutSequences) {
  file("notes.jsonl", puts("a") + says("Noted.\u001b[2J"));
  const CommandResult run = shell("printf 'Note it\\ny\\n' | praxis chat notes.toml --plain");
  EXPECT_EQ(run.status, 0) << run.err;
  expect_once_in_order(run.out, {"> Note it", "notes wants to run:", "[y]es once", "Noted.␛[2J"});
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

TEST_F(CliChat, DumbTerminalGetsThePlainChat) {
  options_.env["TERM"] = "dumb";
  file("talk.jsonl", says("Yes."));
  const auto run = chat({"talk.toml"});
  run->type("A?\n");
  run->shows("Yes.");
  run->shows("1 step");
  run->type("/quit\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_THAT(run->output(), Not(HasSubstr("\x1b")));
}

TEST_F(CliChat, NoColorShowsNoStyleButTheCursor) {
  options_.env["NO_COLOR"] = "1";
  file("talk.jsonl", says("**Yes.**"));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("A?\r");
  run->shows("Yes.");
  left(*run);
  for (const char* sequence : {"\x1b[1m", "\x1b[2m", "\x1b[3"})
    EXPECT_THAT(run->output(), Not(HasSubstr(sequence)));
}

TEST_F(CliChat, AnswersAreRenderedMarkdown) {
  file("talk.jsonl", says("# Title\n\nSome **bold** words and `code`.\n\n- one\n- two\n\n"
                          "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nint x;\n```\n\nThe end."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("A?\r");
  run->shows("The end.");
  run->shows("1 step");
  const std::string screen = run->screen(true);
  EXPECT_THAT(screen, AllOf(HasSubstr("{b}bold{}"), HasSubstr("{cyan}code{}"), HasSubstr("• one\n• two"),
                            Not(HasSubstr("**")), Not(HasSubstr("```"))));
  expect_once_in_order(left(*run), {"> A?", "Title", "Some bold words", "one", "two", "int x;", "The end."});
}

TEST_F(CliChat, HostileConversationIsSafeWhenItIsOpenedAgain) {
  file("talk.jsonl", says("Ok.") + says("Yes."));
  praxis({"run", "talk.toml", "a\u001b]0;owned\u0007 \u001b[2J \u202e \u009b31m end"});
  const auto run = chat({"--resume", "last"});
  run->shows("␛]0;owned␇");
  run->shows("Ok.");
  run->type("again\r");
  run->shows("Yes.");
  expect_once_in_order(left(*run), {"> a␛]0;owned␇", "Ok.", "> again", "Yes."});
  for (const char* sequence : {"\x1b]", "\x1b[2J", "\xC2\x9b", "\xE2\x80\xAE"})
    EXPECT_THAT(run->output(), Not(HasSubstr(sequence)));
}

TEST_F(CliChat, WithoutATerminalItSaysWhatToDo) {
  const CommandResult refused = praxis({"chat", "talk.toml"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("praxis chat needs a terminal"), HasSubstr("--plain")));
}

TEST_F(CliChat, TerminationSetsTheTerminalBackAndSettlesTheTurn) {
  file("talk.jsonl", says("Too late.", 60000));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("A?\r");
  run->shows("waits for the model");
  run->signal(SIGTERM);
  EXPECT_EQ(run->finish(), 143);
  EXPECT_TRUE(run->reads_lines());
  EXPECT_THAT(praxis({"runs", "--json"}).out, HasSubstr("cancelled"));
}

}  // namespace
}  // namespace praxis::testing
