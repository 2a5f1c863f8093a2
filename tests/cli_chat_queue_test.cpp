// The messages of a chat that wait: back into the composer, moved, withdrawn, at every door of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "chat_rig.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAltUp = "\x1b[1;3A";
constexpr const char* kAltEnter = "\x1b\r";

/// The id that stands before the last `text` on a screen, such as `12` of `#12 queued: this`.
std::string id_of(const std::string& screen, const std::string& text) {
  const auto end = screen.rfind(text);
  const auto begin = end == std::string::npos ? end : screen.rfind('#', end);
  if (begin == std::string::npos) return "";
  return screen.substr(begin + 1, screen.find(' ', begin) - begin - 1);
}

/// A turn that goes on until it is stopped, and the messages behind it.
void begin_and_enqueue(TerminalSession& chat, const std::vector<std::string>& messages) {
  ChatRig::begin(chat);
  chat.type("Begin\r");
  chat.shows("waits for the model");
  for (const std::string& each : messages) {
    chat.type(each + kAltEnter);
    chat.shows("queued: " + each);
  }
}

/// Opens the list; waits until it has this many messages.
void open_list(TerminalSession& chat, int messages) {
  chat.type("/queue\r");
  chat.shows("Messages that wait  (" + std::to_string(messages) + ")");
}

/// Whether the list shows these messages in this order.
bool lists_in_order(TerminalSession& chat, const std::vector<std::string>& messages) {
  const bool listed = chat.wait_until([&] {
    const std::string screen = chat.screen();
    std::size_t at = screen.rfind("Messages that wait");
    for (const std::string& each : messages) {
      if (at == std::string::npos) return false;
      at = screen.find("queued: " + each, at);
    }
    return at != std::string::npos;
  });
  EXPECT_TRUE(listed) << chat.screen();
  return listed;
}

class ChatQueue : public CliChat {
 protected:
  ChatQueue() {
    file("talk.jsonl",
         "{\"asked\": \"Begin\", \"text\": \"Too late.\", \"delay_ms\": 600000}\n" + says("Second."));
  }
  /// All records of the last run.
  std::string log() const { return praxis({"export", "last"}).out; }
};

TEST_F(ChatQueue, AltUpBringsTheLastMessageBackIntoTheComposer) {
  const auto run = chat({"talk.toml"});
  begin_and_enqueue(*run, {"one", "two"});
  run->type(kAltUp);
  run->shows("> two");
  run->shows("withdrawn by");
  loses(*run, "queued: two");
  run->type("!");
  run->type(kAltEnter);
  run->shows("queued: two!");
  run->type(kAltUp);
  run->shows("> two!");
  run->type(kAltUp);
  run->shows("> one");
  loses(*run, "queued: ");
  run->type(kAltUp);
  run->shows("no message waits");
  run->type("\x1b");
  run->shows("cancelled");
  const std::string screen = left(*run);
  EXPECT_EQ(count(screen, "withdrawn by"), 3U) << screen;
  EXPECT_EQ(count(log(), R"("kind":"withdraw")"), 3U) << log();
  EXPECT_THAT(log(), HasSubstr(R"("surface":"cli")"));
  EXPECT_THAT(praxis({"replay", "last"}).err + praxis({"replay", "last"}).out, Not(HasSubstr("differ")));
}

TEST_F(ChatQueue, ListMovesEditsAndWithdrawsOnANarrowTerminal) {
  const auto run = chat({"talk.toml"}, {40, 24});
  begin_and_enqueue(*run, {"first", "second", "third"});
  open_list(*run, 3);
  lists_in_order(*run, {"first", "second", "third"});
  run->type("\x1b[B\x1b[B");  // to the third
  run->type("u");
  lists_in_order(*run, {"first", "third", "second"});
  run->type(kAltUp);
  lists_in_order(*run, {"third", "first", "second"});
  run->type("d");
  lists_in_order(*run, {"first", "third", "second"});
  run->type("x");
  run->shows("Messages that wait  (2)");
  lists_in_order(*run, {"first", "second"});
  run->type("\x1b[A\x1b[A\r");  // edits the first
  run->shows("> first");
  loses(*run, "Messages that wait");
  run->type(" of all");
  run->type(kAltEnter);
  run->shows("queued: first of all");
  open_list(*run, 2);
  lists_in_order(*run, {"second", "first of all"});
  run->type("\x1b");
  loses(*run, "Messages that wait");
  run->type("\x1b");
  run->shows("cancelled");
  left(*run);
  EXPECT_EQ(count(log(), R"("kind":"move")"), 3U) << log();
}

TEST_F(ChatQueue, KillAfterAMessageIsBackKeepsItInTheDraftOnly) {
  {
    const auto run = chat({"talk.toml"});
    begin_and_enqueue(*run, {"stays", "comes back"});
    run->type(kAltUp);
    run->shows("> comes back");
    run->shows("withdrawn by");
    run->signal(SIGKILL);
    EXPECT_EQ(run->finish(), 128 + SIGKILL);
  }
  const auto again = chat({"--resume", "last"});
  again->shows("> comes back");
  again->shows("queued: stays");
  again->type("\x1b");
  again->shows("cancelled");
  const std::string screen = left(*again);
  EXPECT_EQ(count(screen, "queued: comes back"), 0U) << screen;
  EXPECT_THAT(log(), Not(HasSubstr(R"("source":"queue")")));
}

TEST_F(ChatQueue, CommandLineWithdrawsUntilTheModelHasTheMessage) {
  file("talk.jsonl", says("First.") + says("Second."));
  ASSERT_EQ(praxis({"run", "talk.toml", "Begin"}).status, 0);
  const auto waiting = [&] {
    const std::string out = praxis({"tree", "last", "--json"}).out;
    const auto node = parse_json(out.substr(0, out.find('\n')));
    const JsonArray* list = node ? json_at(*node, "waiting").if_array() : nullptr;
    return list == nullptr ? JsonArray() : *list;
  };
  ASSERT_EQ(praxis({"tree", "enqueue", "last", "one"}).status, 0);
  ASSERT_EQ(praxis({"tree", "enqueue", "last", "two"}).status, 0);
  ASSERT_EQ(waiting().size(), 2U);
  const std::string one = to_plain_text(json_at(waiting()[0], "id"));
  const std::string two = to_plain_text(json_at(waiting()[1], "id"));
  EXPECT_THAT(praxis({"tree", "last"}).out, HasSubstr("#" + one + " queued: one"));
  EXPECT_EQ(praxis({"tree", "move", "last", two + " before " + one}).status, 0);
  EXPECT_EQ(json_string(waiting()[0], "text"), "two");
  EXPECT_EQ(praxis({"tree", "withdraw", "last", one}).status, 0);
  EXPECT_EQ(waiting().size(), 1U);
  EXPECT_THAT(praxis({"tree", "withdraw", "last", one}).err, HasSubstr("was withdrawn"));
  EXPECT_EQ(praxis({"resume", "last"}).status, 0);
  const CommandResult late = praxis({"tree", "withdraw", "last", two});
  EXPECT_NE(late.status, 0);
  EXPECT_THAT(late.err, HasSubstr("message " + two + " is already with the model"));
  EXPECT_THAT(praxis({"show", "last"}).out, AllOf(HasSubstr("two"), HasSubstr("Second.")));
}

TEST_F(ChatQueue, PlainChatEditsMovesAndWithdrawsAtATerminal) {
  const auto run = chat({"talk.toml", "--plain"});
  run->type("Begin\n");
  run->shows("> Begin");
  // A line reaches the agent at its next step, which the slow answer keeps away.
  for (const char* text : {"one\n", "two\n", "three\n"}) run->type(text);
  const auto id_in_list = [&](const std::string& text) {
    int looks = 0;
    run->wait_until([&] {
      if (looks++ % 50 == 0) run->type("/queue\n");
      return id_of(run->screen(), " next step: " + text) != "";
    });
    return id_of(run->screen(), " next step: " + text);
  };
  const std::string three = id_in_list("three"), two = id_in_list("two"), one = id_in_list("one");
  ASSERT_TRUE(one != "" && two != "" && three != "") << run->screen();
  run->type("/queue up " + three + '\n');
  run->shows("moved #" + three + " up");
  run->type("/queue withdraw " + one + '\n');
  run->shows("withdrawn by");
  run->type("/queue edit " + two + " two, but better\n");
  EXPECT_NE(id_in_list("two, but better"), "");
  run->type("/queue withdraw " + one + '\n');
  run->shows("no message #" + one + " waits");
  run->signal(SIGTERM);
  run->finish();
  const std::string all = log();
  EXPECT_EQ(count(all, R"("kind":"withdraw")"), 2U) << all;
  EXPECT_EQ(count(all, R"("kind":"move")"), 1U) << all;
  EXPECT_THAT(all, HasSubstr("two, but better"));
}

TEST_F(ChatQueue, CompactSummarisesOlderMessagesOnceBeforeTheNextAnswer) {
  const std::string more(30'000, 'x');  // more than is kept as it was said
  file("talk.jsonl", says("First answer. " + more) + says("Second answer.") + says("What was said before.") +
                         says("Third answer.") + says("Fourth answer."));
  const auto run = chat({"talk.toml"}, {40, 24});
  begin(*run);
  const auto ask = [&](const std::string& question) {
    const std::size_t ended = count(run->screen(), "- 1 step");
    run->type(question + '\r');
    EXPECT_TRUE(run->wait_until([&] { return count(run->screen(), "- 1 step") > ended; })) << run->screen();
  };
  ask("One?");
  ask("Two?");
  run->type("/compact\r");
  run->shows("older messages are summarised");
  ask("Three?");
  ask("Four?");
  expect_once_in_order(left(*run), {"First answer.", "Second answer.", "> /compact", "> Three?",
                                    "the model sees a summary", "Third answer.", "Fourth answer."});
  EXPECT_EQ(count(log(), R"("kind":"compact")"), 1U) << log();
  EXPECT_EQ(count(log(), R"("kind":"compacted")"), 1U) << log();
  EXPECT_THAT(log(), HasSubstr("What was said before."));
}

class ChatQueueServer : public ServedCommandLine, public ChatRig {
 protected:
  std::vector<std::string> at_server(std::vector<std::string> words) const {
    words.insert(words.end(),
                 {"--server", "http://127.0.0.1:" + std::to_string(port_), "--token-file", "token"});
    return words;
  }
  std::unique_ptr<TerminalSession> chat(const std::vector<std::string>& words,
                                        TerminalShape shape = {}) const {
    auto terminal = std::make_unique<TerminalSession>(command(at_server(words)), options_, shape);
    begin(*terminal);
    return terminal;
  }
};

TEST_F(ChatQueueServer, TerminalsShowTheSameQueueAndOneOfThemChangesIt) {
  file("talk.jsonl",
       "{\"asked\": \"Begin\", \"text\": \"Too late.\", \"delay_ms\": 600000}\n" + says("Second."));
  file("config/praxis/agents/talk.toml", "model = \"script:talk.jsonl\"\n");
  const auto server = serve();
  const auto first = chat({"chat", "talk"});
  begin_and_enqueue(*first, {"one", "two", "three"});
  const auto second = chat({"chat", "--resume", "last"}, {40, 24});
  second->shows("queued: three");
  open_list(*second, 3);
  second->type("u");  // the first one stays where it is
  second->type("\x1b[B\x1b[Bu");
  lists_in_order(*second, {"one", "three", "two"});
  open_list(*first, 3);
  lists_in_order(*first, {"one", "three", "two"});
  second->type("\r");
  second->shows("> three");
  first->shows("Messages that wait  (2)");
  lists_in_order(*first, {"one", "two"});
  for (const auto* terminal : {&first, &second}) (*terminal)->shows("withdrawn by");
  first->type("\x1b");
  loses(*first, "Messages that wait");

  const auto tree = praxis(at_server({"tree", "last"}));
  const std::string two = id_of(tree.out, " queued: two");
  ASSERT_NE(two, "") << tree.out;
  EXPECT_EQ(praxis(at_server({"tree", "withdraw", "last", two})).status, 0);
  EXPECT_THAT(praxis(at_server({"tree", "withdraw", "last", two})).err, HasSubstr("was withdrawn"));
  for (const auto* terminal : {&first, &second}) loses(**terminal, "queued: two");
  first->type("\x1b");
  for (const auto* terminal : {&first, &second}) (*terminal)->shows("cancelled");
  left(*second);
  left(*first);
}

}  // namespace
}  // namespace praxis::testing
