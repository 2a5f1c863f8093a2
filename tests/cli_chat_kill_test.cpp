// kill -9 of a chat in each of its phases while its user types: the draft, the queue and the run are there
// afterwards, and the next program on the terminal can use it.
#include <csignal>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

/// What the chat does when it is killed.
struct KilledPhase {
  std::string name;
  std::string message;  ///< that begins it; empty: the agent is idle
  std::string sign;     ///< on the screen, that it has begun
  std::string keys;     ///< typed after the draft
  std::string shown;    ///< then on the screen; empty: nothing is
  bool drafts = true;
};

const std::vector<KilledPhase> kKilledPhases{
    {.name = "Idle", .message = "", .sign = "", .keys = "", .shown = ""},
    {.name = "Streaming", .message = "stream", .sign = "line 7", .keys = "", .shown = ""},
    {.name = "ToolAtWork", .message = "help", .sign = "b {", .keys = "", .shown = ""},
    {.name = "CardWaits", .message = "put", .sign = "wants to run", .keys = "", .shown = ""},
    {.name = "TreePane", .message = "help", .sign = "b {", .keys = "\x14", .shown = "x stops"},
    {.name = "Picker", .message = "", .sign = "", .keys = "/resume\r", .shown = "search:", .drafts = false},
    {.name = "Paste", .message = "", .sign = "", .keys = "\x1b[200~half of a paste", .shown = ""}};

class ChatKilled : public CommandLine, public ChatRig, public ::testing::WithParamInterface<KilledPhase> {
 protected:
  ChatKilled() {
    file("talk.toml",
         "id = 'talk'\nmodel = 'script:talk.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv', 'b']\nask = ['kv']\n"
         "[agents.b]\nfile = 'b.toml'\ndescription = 'Helps'\n");
    file("b.toml", "id = 'b'\nmodel = 'script:b.jsonl'\n");
    file("b.jsonl", says("Too late.", 600'000));
    std::string lines;
    for (int i = 0; i < 5000; ++i) lines += "line " + std::to_string(i) + "\n\n";
    const Json help{{"name", "b"}, {"arguments", JsonObject{{"prompt", "go"}}}};
    const Json put{{"name", "kv"}, {"arguments", JsonObject{{"op", "put"}, {"key", "k"}, {"value", "v"}}}};
    file("talk.jsonl",
         to_json_text({{"asked", "stream"}, {"text", lines}, {"chunk", 2}, {"delay_ms", 6000}}) + '\n' +
             to_json_text({{"asked", "help"}, {"tool_calls", JsonArray{help}}}) + '\n' +
             to_json_text({{"asked", "put"}, {"tool_calls", JsonArray{put}}}) + '\n' + says("First."));
  }

  /// A chat, and after it another program on the same terminal.
  std::unique_ptr<TerminalSession> chat_and_next() const {
    const std::string chat = R"(echo $$ > pid.tmp; mv pid.tmp pid; exec "$0" chat talk.toml)";
    return std::make_unique<TerminalSession>(
        std::vector<std::string>{"sh", "-c",
                                 "sh -c '" + chat +
                                     "' " PRAXIS_BINARY_DIR "/praxis; printf 'next: '; "
                                     "read -r line; echo \"got:$line\""},
        options_);
  }
};

TEST_P(ChatKilled, KeepsDraftQueueAndRun) {
  const KilledPhase& phase = GetParam();
  praxis({"run", "talk.toml", "Other run"});
  const auto run = chat_and_next();
  begin(*run);
  run->type("Hello\r");
  run->shows("First.");
  if (!phase.message.empty()) {
    run->type(phase.message + '\r');
    run->shows("> " + phase.message);
    run->type("waits its turn\x1b\r");
    run->shows("queued: waits its turn");
  }
  if (phase.drafts) {
    run->type("half a sentence");
    run->shows("> half a sentence");
  }
  if (!phase.sign.empty()) run->shows(phase.sign);
  run->type(phase.keys);
  if (!phase.shown.empty()) run->shows(phase.shown);
  if (phase.shown.empty() && !phase.keys.empty())  // nothing says that the chat has read them
    run->wait_until([looks = 0]() mutable { return ++looks > 5; });
  kill(std::stoi(contents("pid")), SIGKILL);

  run->shows("next:");
  EXPECT_TRUE(run->wait_until([&] { return run->reads_lines(); }));
  EXPECT_TRUE(run->wait_until([&] { return run->emulated().is_cursor_visible(); }));
  run->type("typed\r");
  run->shows("got:typed");
  EXPECT_THAT(run->screen(), HasSubstr("typed\ngot:typed")) << "no echo";
  EXPECT_EQ(run->finish(), 0);
  EXPECT_EQ(run->emulated().tampering(), "");

  TerminalSession again(command({"chat", "--resume", "last"}), options_);
  again.shows("First.");
  if (phase.drafts) again.shows("> half a sentence");
  if (!phase.message.empty()) {
    again.shows("queued: waits its turn");
    again.shows("> " + phase.message);
  }
  const std::string screen = again.screen();
  EXPECT_EQ(count(screen, "> Hello"), 1U) << screen;
  EXPECT_EQ(count(screen, "half of a paste"), 0U) << screen;
  left(again);
}

INSTANTIATE_TEST_SUITE_P(In, ChatKilled, ::testing::ValuesIn(kKilledPhases),
                         [](const auto& phase) { return phase.param.name; });

}  // namespace
}  // namespace praxis::testing
