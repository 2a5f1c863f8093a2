// The pane with the agents of a chat, and `/doctor`: in this process and at a server, judged by an emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat_rig.hpp"
#include "served_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCtrlT = "\x14";
constexpr const char* kDownKey = "\x1b[B";

class ChatTree : public ServedCommandLine, public ChatRig {
 protected:
  /// `lead` asks `b`, which asks for an approval, and `c`, whose model does not answer.
  ChatTree() {
    agent("lead", "", "[policy]\nallow = ['*']\n" + below("b") + below("c"));
    agent("b", puts("a") + says("Long, then.") + R"({"asked": "be brief", "text": "Brief, then."})" + '\n',
          "[tools.kv]\n[policy]\nask = ['kv']\n");
    agent("c", R"({"text": "Too late.", "delay_ms": 600000})"
               "\n");
    const auto asks = [](const char* name) {
      return JsonObject{{"name", name},
                        {"arguments", JsonObject{{"prompt", std::string("work on ") + name}}}};
    };
    file("lead.jsonl", to_json_text({{"tool_calls", JsonArray{asks("b"), asks("c")}}}) + '\n' + says("Top."));
  }

  void agent(const std::string& name, const std::string& script, const std::string& more = "") const {
    file(name + ".jsonl", script);
    file("config/praxis/agents/" + name + ".toml",
         "id = '" + name + "'\nmodel = \"script:" + name + ".jsonl\"\n" + more);
  }
  static std::string below(const std::string& name) {
    return "[agents." + name + "]\nfile = '" + name + ".toml'\ndescription = 'Helps'\n";
  }
  std::vector<std::string> at_server(std::vector<std::string> words) const {
    words.insert(words.end(),
                 {"--server", "http://127.0.0.1:" + std::to_string(port_), "--token-file", "token"});
    return words;
  }
  std::unique_ptr<TerminalSession> chat(const std::vector<std::string>& words, TerminalShape shape) const {
    auto terminal = std::make_unique<TerminalSession>(command(words), options_, shape);
    begin(*terminal);
    return terminal;
  }

  /// Follows and steers `b`; pauses, unpauses, annotates and stops `c`; approves the call of `b`.
  static void work_in_pane(TerminalSession& run) {
    run.type("Go\r");
    run.shows("waits for you");
    run.type(kCtrlT);
    run.shows("Enter follows");
    run.shows("└─ c ");
    run.type(kDownKey);
    run.shows("> ├─ b ");
    run.type("\r");
    run.shows("> work on b");
    run.type("s");
    run.shows("at its next step?");
    run.type("be brief\r");
    run.shows("steer by ");
    run.type("\x1b");
    loses(run, "Up/Down scroll");
    run.type(kDownKey);
    run.shows("> └─ c ");
    run.type("p");
    run.shows("p continues");
    run.type("p");
    loses(run, "p continues");
    run.type("n");
    run.shows("which note?");
    run.type("watch this\r");
    run.shows("# watch this");
    run.type("xn");  // not stopped
    run.type("x");
    run.shows("stop it and all");
    run.type("y");
    run.shows("c model failed");
    run.type("\t");
    run.shows("[y]es once");
    run.type("y");
    run.shows("- 2 steps");
    run.type(std::string(kCtrlT) + kCtrlT);
    loses(run, "x stops");
  }
  /// What the tree of the run says in the end.
  static void expect_done(const std::vector<Json>& nodes, const std::string& said_by_b) {
    ASSERT_EQ(nodes.size(), 3U);
    EXPECT_EQ(json_string(nodes[0], "status"), "completed");
    EXPECT_EQ(json_string(nodes[1], "status"), "completed");
    EXPECT_EQ(json_string(nodes[2], "status"), "cancelled");
    EXPECT_EQ(json_string(nodes[2], "comment"), "watch this");
    EXPECT_THAT(said_by_b, AllOf(HasSubstr("be brief"), HasSubstr("Brief, then."), Not(HasSubstr("Long"))));
  }
};

class ChatTreeAt : public ChatTree, public ::testing::WithParamInterface<TerminalShape> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ChatTreeAt,
                         ::testing::Values(TerminalShape{40, 24}, TerminalShape{80, 24},
                                           TerminalShape{200, 50}),
                         [](const auto& shape) { return "Columns" + std::to_string(shape.param.columns); });

TEST_P(ChatTreeAt, AgentsAreFollowedSteeredPausedAnnotatedAndStopped) {
  const auto run = chat({"chat", "lead"}, GetParam());
  work_in_pane(*run);
  const std::string screen = left(*run);
  expect_once_in_order(screen, {"> Go", "b steer by ", "c paused", "c continues", "c annotate by ", "Top."});
  EXPECT_THAT(screen, Not(HasSubstr("work on b\n"))) << "the conversation of b is no part of the scrollback";
  const auto nodes = praxis({"tree", "last", "--json"}).items();
  ASSERT_EQ(nodes.size(), 3U) << praxis({"tree", "last", "--json"}).out;
  expect_done(nodes, praxis({"show", json_string(nodes[1], "id")}).out);
}

TEST_F(ChatTree, AgentsOfAServerAreFollowedSteeredPausedAnnotatedAndStopped) {
  const auto server = serve();
  const auto run = chat(at_server({"chat", "lead"}), {40, 24});
  work_in_pane(*run);
  expect_once_in_order(left(*run),
                       {"> Go", "b steer by ", "c paused", "c continues", "c annotate by ", "Top."});
  const auto nodes = praxis(at_server({"tree", "last", "--json"})).items();
  ASSERT_EQ(nodes.size(), 3U);
  expect_done(nodes, call("GET /api/v1/runs/" + json_string(nodes[1], "id") + "/messages"));
}

TEST_F(ChatTree, ConversationOfAnAgentIsScrolled) {
  std::string long_text;
  for (int i = 0; i < 2000; ++i) long_text += "word ";
  file("c.jsonl", to_json_text({{"text", "Of the sea. " + long_text + "The end."}, {"chunk", 4}}) + '\n');
  file("b.jsonl", says("Long, then."));
  const auto run = chat({"chat", "lead"}, {80, 24});
  run->type("Go\r");
  run->shows("- 2 steps");
  run->type(kCtrlT);
  run->shows("> lead");
  run->type(std::string(kDownKey) + kDownKey);
  run->shows("> └─ c ");
  run->type("\r");
  run->shows("The end.");
  for (int i = 0; i < 200; ++i) run->type("\x1b[A");
  run->shows("Of the sea.");
  run->type("\x1b\x1b");
  EXPECT_THAT(left(*run), Not(HasSubstr("Of the sea.")))
      << "the conversation of c is no part of the scrollback";
}

TEST_F(ChatTree, DoctorChecksWhereTheRunsAre) {
  ProcessOptions options = options_;
  options.input = "/doctor\n";
  const CommandResult here = praxis({"chat", "--plain", "--model", "script:c.jsonl"}, options);
  EXPECT_EQ(here.status, 0) << here.err;
  EXPECT_THAT(here.out, AllOf(HasSubstr("ok      journal: "), HasSubstr("sandbox: ")));
  EXPECT_THAT(here.out, HasSubstr((folder_ / "state").string()));

  const auto server = serve();
  const CommandResult there = praxis(at_server({"chat", "lead", "--plain"}), options);
  EXPECT_EQ(there.status, 0) << there.err;
  EXPECT_THAT(there.out, AllOf(HasSubstr("ok      journal: "), HasSubstr("runs.db"), HasSubstr("sandbox: ")));
  server->signal(SIGKILL);
}

}  // namespace
}  // namespace praxis::testing
