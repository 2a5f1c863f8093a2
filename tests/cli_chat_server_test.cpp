// `praxis chat --server`: chats of several terminals and a client of the API on one run of a server, judged
// by an emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "chat_rig.hpp"
#include "net/testing/test_server.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Between a client and the server: cuts one event stream after a call has ended, and then the answer to one
/// message.
class CuttingRelay {
 public:
  explicit CuttingRelay(std::uint16_t port)
      : port_(port), relay_([this](const TestRequest& request, TestConnection& to) { pass(request, to); }) {}

  std::uint16_t port() const { return relay_.port(); }
  void cut_next_answer() { cuts_answer_ = true; }
  bool has_cut_stream() const { return !cuts_stream_; }
  bool has_cut_answer() const { return !cuts_answer_; }

 private:
  void pass(const TestRequest& request, TestConnection& to) {
    std::string text = request.method + ' ' + request.target + " HTTP/1.1\r\nConnection: close\r\n";
    for (const auto& [name, value] : request.headers) text.append(name + ": " + value + "\r\n");
    RawClient server(port_);
    server.send(text + "\r\n" + request.body);
    if (request.target.ends_with("/messages") && cuts_answer_.exchange(false)) {
      server.read_all();
      return to.cut();
    }
    std::size_t passed = 0;
    while (server.read_more()) {
      if (!to.write(std::string_view(server.received()).substr(passed))) return;
      passed = server.received().size();
      const bool is_due = request.target.ends_with("/events") && server.received().contains("tool.completed");
      if (is_due && cuts_stream_.exchange(false)) return to.cut();
    }
    to.close();
  }

  const std::uint16_t port_;
  std::atomic<bool> cuts_stream_ = true, cuts_answer_ = false;
  TestServer relay_;
};

class CliChatServer : public ServedCommandLine, public ChatRig {
 protected:
  void agent(const std::string& name, const std::string& script, const std::string& more = "") const {
    file(name + ".jsonl", script);
    file("config/praxis/agents/" + name + ".toml", "model = \"script:" + name + ".jsonl\"\n" + more);
  }
  Words at_server(Words words) const {
    words.insert(words.begin(), "chat");
    words.insert(words.end(),
                 {"--server", "http://127.0.0.1:" + std::to_string(port_), "--token-file", "token"});
    return words;
  }
  std::unique_ptr<TerminalSession> chat(const Words& words) const {
    auto terminal = std::make_unique<TerminalSession>(command(at_server(words)), options_, TerminalShape{});
    begin(*terminal);
    return terminal;
  }
  /// The id of the only run.
  std::string run_id() const {
    const auto listed = parse_json(call("GET /api/v1/runs"));
    const JsonArray* runs = listed ? json_at(*listed, "runs").if_array() : nullptr;
    return runs == nullptr || runs->empty() ? "" : json_string(runs->front(), "id");
  }
  CommandResult plain(Words words, const std::string& input) const {
    words.emplace_back("--plain");
    ProcessOptions options = options_;
    options.input = input;
    return praxis(at_server(words), options);
  }
};

constexpr const char* kAsksForNotes = "[tools.kv]\n[policy]\nask = [\"kv\"]\n";

TEST_F(CliChatServer, TerminalsAndClientsShowTheSameOnceAndInOrder) {
  agent("notes", says("First.") + puts("a") + says("Noted.") + says("Third.") + says("Fourth."),
        kAsksForNotes);
  const auto server = serve();
  const auto first = chat({"notes"});
  first->type("One\r");
  first->shows("First.");
  const auto second = chat({"--resume", "last"});
  second->shows("First.");

  // What is in the composers keeps the card from taking the keys.
  first->type("steered");
  second->type("waits");
  first->shows("> steered");
  second->shows("> waits");
  const std::string path = "/api/v1/runs/" + run_id() + "/messages";
  EXPECT_THAT(call("POST " + path, R"({"prompt":"Two"})"), HasSubstr("\"id\""));
  first->shows("Tab decides");
  second->shows("Tab decides");
  first->type("\r");
  second->shows("at the next step: steered");
  second->type("\x1b\r");
  first->shows("queued: waits");
  second->type("\t");
  second->shows("[y]es once");
  second->type("y");
  for (const auto* terminal : {&first, &second}) (*terminal)->shows("Third.");
  for (const auto* terminal : {&first, &second}) {
    EXPECT_TRUE((*terminal)->wait_until([&] { return count((*terminal)->screen(), "1 step,") == 2; }));
  }

  EXPECT_THAT(call("POST " + path, R"({"prompt":"Four"})"), HasSubstr("\"id\""));
  for (const auto* terminal : {&first, &second}) (*terminal)->shows("Fourth.");

  const Words parts{"> One",  "First.",  "> Two",  "allow by ", "* kv",   "> steered",
                    "Noted.", "> waits", "Third.", "> Four\n",  "Fourth."};
  expect_once_in_order(left(*first), parts);
  expect_once_in_order(left(*second), parts);
  Words said;
  for (const char* text : {"One", "First.", "Two", "steered", "Noted.", "waits", "Third.", "Four", "Fourth."})
    said.push_back("{\"type\":\"text\",\"text\":\"" + std::string(text) + "\"}");
  expect_once_in_order(call("GET " + path), said);
}

TEST_F(CliChatServer, ChatGoesOnWhenTheServerIsKilledAndWhatWasTypedIsKept) {
  std::string script;
  for (int i = 0; i < 5; ++i) script += puts("k" + std::to_string(i), 30);
  agent("steps", script + says("Done.") + says("After."), "[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  auto server = serve();
  const auto run = chat({"steps"});
  run->type("Go\r");
  run->shows("\"k0\"");
  server->signal(SIGKILL);
  server->finish();
  run->shows("no connection to the server");
  run->type("hello\r");
  run->shows("cannot connect");
  run->type(" again");
  run->shows("> hello again");
  server = serve();
  run->shows("Done.");
  EXPECT_TRUE(run->wait_until([&] { return !run->screen().contains("no connection"); }));
  run->type("\r");
  run->shows("After.");
  const std::string screen = left(*run);
  expect_once_in_order(
      screen, {"> Go", "\"k0\"", "\"k1\"", "\"k2\"", "\"k3\"", "\"k4\"", "Done.", "> hello again", "After."});
}

TEST_F(CliChatServer, WhatIsCutOnTheWayIsNeitherLostNorRepeated) {
  agent("steps", puts("k0") + puts("k1", 30) + says("Done.") + says("After."),
        "[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  const auto server = serve();
  CuttingRelay relay(port_);
  port_ = relay.port();
  const auto run = chat({"steps"});
  run->type("Go\r");
  run->shows("- 3 steps");  // the turn is over
  EXPECT_TRUE(relay.has_cut_stream());
  relay.cut_next_answer();
  run->type("More\r");
  run->shows("After.");
  run->shows("- 1 step");
  EXPECT_TRUE(relay.has_cut_answer());
  const std::string screen = left(*run);
  expect_once_in_order(screen, {"> Go", "\"k0\"", "\"k1\"", "Done.", "> More", "After."});
  EXPECT_THAT(screen, Not(HasSubstr("error")));
  server->signal(SIGKILL);  // ends what the relay waits for
  server->finish();
}

TEST_F(CliChatServer, AnswerThatIsBeingWrittenIsShownToThoseWhoComeLater) {
  agent("slow", to_json_text({{"text", "It is being written."}, {"chunk", 5}, {"delay_ms", 600'000}}) + '\n');
  const auto server = serve();
  const auto first = chat({"slow"});
  first->type("Go\r");
  first->shows("waits for the model");
  const auto second = chat({"--resume", "last"});
  second->shows("waits for the model");
  second->type("\x1b");
  for (const auto* terminal : {&first, &second}) (*terminal)->shows("cancelled: ");
  left(*second);
  first->type("\x04");
  EXPECT_EQ(first->finish(), 0);
}

TEST_F(CliChatServer, CommandsActOnTheRunOfTheServer) {
  agent("talk", says("First answer.") + says("Second answer.") + says("Third answer."));
  agent("other", says("Another one."));
  file("notes.txt", "what the file says\n");
  const auto server = serve();
  const CommandResult done =
      plain({"talk"},
            "See @notes.txt\n/cost\n/context\n/tree\n/diff\n/undo\n/model x:y\n"
            "/export talk.md\nMore\n/rewind\nOnce more\n/fork\n/agent other\nHi\n/agent none\n");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("+ notes.txt"), HasSubstr("this run: ~"), HasSubstr("user (1 message)"),
                    HasSubstr("completed"), HasSubstr("no file was changed"), HasSubstr("no file changes"),
                    HasSubstr("a run at a server keeps its model")));
  EXPECT_THAT(done.out, AllOf(HasSubstr("written to talk.md"), HasSubstr("the conversation stands before t2"),
                              HasSubstr("Another one."), HasSubstr("the server has no agent \"none\"")));
  EXPECT_THAT(contents("talk.md"), AllOf(HasSubstr("what the file says"), HasSubstr("First answer.")));
  expect_once_in_order(done.out,
                       {"First answer.", "> More", "Second answer.", "> Once more", "Third answer."});
}

TEST_F(CliChatServer, ImageGoesWithTheMessageThatMakesTheRunAndWithALaterOne) {
  agent("talk", says("I see it.") + says("And this one."));
  const std::string png("\x89PNG\r\n\x1a\nimage");
  file("a shot.png", png);
  const auto server = serve();
  const auto run = chat({"talk"});
  run->type("Look: @\"a shot.png\" \r");
  run->shows("I see it.");
  run->shows("- 1 step");  // an image is refused until the turn is over
  run->type("Again: @\"a shot.png\" \r");
  run->shows("And this one.");
  EXPECT_TRUE(run->wait_until([&] { return count(run->screen(), "- 1 step") == 2; }));
  const std::string screen = left(*run);
  expect_once_in_order(screen, {"> Look: @", "I see it.", "> Again: @", "And this one."});
  EXPECT_EQ(count(screen, "+ image/png (1 kB)"), 2U) << screen;
  const std::string said = call("GET /api/v1/runs/" + run_id() + "/messages");
  EXPECT_EQ(count(said, R"({"type":"image","media_type":"image/png","bytes":13})"), 2U) << said;
}

TEST_F(CliChatServer, UndoTakesFilesOfTheServerBackAndSaysWhatStays) {
  const auto write = [&](const std::string& name, const std::string& content) {
    const Json arguments{{"path", (folder_ / name).string()}, {"content", content}};
    const JsonObject call{{"name", "file_write"}, {"arguments", arguments}};
    return to_json_text(JsonObject{{"tool_calls", JsonArray{call}}}) + '\n';
  };
  file("a.txt", "one\n");
  agent("writes", write("a.txt", "two\n") + write("b.txt", "x\n") + says("Written."),
        "[tools.file]\nwrite = [\"" + folder_.string() + "\"]\n[policy]\nallow = [\"file_write\"]\n");
  const auto server = serve();
  const auto run = chat({"writes"});
  run->type("Go\r");
  run->shows("- 3 steps");
  run->type("/undo\r");
  run->shows("/undo again changes 2 files");
  EXPECT_EQ(contents("a.txt"), "two\n");
  run->type("/undo\r");
  run->shows("2 files changed; /undo redo takes that back");
  EXPECT_EQ(contents("a.txt"), "one\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.txt"));
  run->type("/undo redo\r");
  run->shows("/undo redo again changes 2 files");
  run->type("/undo redo\r");
  EXPECT_TRUE(run->wait_until([&] { return contents("a.txt") == "two\n"; }));
  file("a.txt", "mine\n");
  run->type("/undo\r");
  run->shows("changed since, not by this run; it stays");
  run->type("/undo\r");
  run->shows("1 file changed");
  EXPECT_EQ(contents("a.txt"), "mine\n");
  left(*run);
}

TEST_F(CliChatServer, RuleOfAnApproverIsSavedAtTheServer) {
  agent("notes", puts("a") + says("Noted.") + puts("a") + says("Again."), kAsksForNotes);
  const auto server = serve();
  const CommandResult done = plain({"notes"}, "One\na\ny\nTwo\n");
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("Allow \"kv\" without asking"), HasSubstr("Noted."), HasSubstr("Again.")));
  EXPECT_EQ(count(done.out, "[a]lways"), 1U) << done.out;
}

TEST_F(CliChatServer, WhatIsWrongIsSaidInOneMessage) {
  agent("talk", says("Hi."));
  const auto server = serve();
  file("wrong", "not-a-token-of-this-server\n");
  std::filesystem::permissions(folder_ / "wrong", std::filesystem::perms::owner_read);
  const std::string url = "http://127.0.0.1:" + std::to_string(port_);
  struct Case {
    Words words;
    int status;
    std::string message;
  };
  for (const Case& each : std::vector<Case>{
           {{"--server", url, "--token-file", "wrong"}, 4, "the server answered 401"},
           {{"--server", "http://127.0.0.1:1", "--token-file", "token"}, 6, "cannot connect to 127.0.0.1:1"},
           {{"--server", "nonsense", "--token-file", "token"}, 2, "not a usable URL"},
           {{"--resume", "nope", "--server", url, "--token-file", "token"}, 2, "there is no run \"nope\""},
           {{"--resume", "last", "--server", url, "--token-file", "token"}, 2, "the server has no runs yet"},
           {{"tolk", "--server", url, "--token-file", "token"}, 2, "did you mean \"talk\"?"},
           {{"talk.toml", "--server", url, "--token-file", "token"}, 2, "a server knows agents by name"},
           {{"--journal", "x.db", "--server", url, "--token-file", "token"},
            2,
            "does not work with --server"}}) {
    Words words = each.words;
    words.insert(words.begin(), {"chat", "--plain"});
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, each.status) << each.message << result.err;
    EXPECT_EQ(count(result.err, "praxis: error: "), 1U) << result.err;
    EXPECT_THAT(result.err, HasSubstr(each.message));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(run_id(), "") << "nothing was begun";
}

}  // namespace
}  // namespace praxis::testing
