// kill -9 of a chat in each of its phases while its user types: the draft, the queue and the run are there
// afterwards, and the next program on the terminal can use it.
#include <csignal>

#include "chat_rig.hpp"
#include "net/testing/test_server.hpp"

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
    {.name = "Streaming", .message = "stream this", .sign = "line 7", .keys = "", .shown = ""},
    {.name = "ToolAtWork", .message = "help", .sign = "b {", .keys = "", .shown = ""},
    {.name = "CardWaits", .message = "put", .sign = "wants to run", .keys = "", .shown = ""},
    {.name = "TreePane", .message = "help", .sign = "b {", .keys = "\x14", .shown = "x stops"},
    {.name = "Picker", .message = "", .sign = "", .keys = "/resume\r", .shown = "search:", .drafts = false},
    {.name = "Paste", .message = "", .sign = "", .keys = "\x1b[200~half of a paste", .shown = ""}};

std::string half_or_whole(const std::string& text, bool ends) {
  const auto event = [](const JsonObject& choice) {
    return "data: " + to_json_text({{"choices", JsonArray{choice}}}) + "\n\n";
  };
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" +
                       event({{"index", 0}, {"delta", JsonObject{{"content", text}}}});
  if (ends)
    answer += event({{"index", 0}, {"delta", JsonObject()}, {"finish_reason", "stop"}}) + "data: [DONE]\n\n";
  return answer;
}

class ChatKilled : public CommandLine, public ChatRig, public ::testing::WithParamInterface<KilledPhase> {
 protected:
  ChatKilled() {
    file("talk.toml",
         "id = 'talk'\nmodel = 'script:talk.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv', 'b']\nask = ['kv']\n"
         "[agents.b]\nfile = 'b.toml'\ndescription = 'Helps'\n");
    file("b.toml", "id = 'b'\nmodel = 'script:b.jsonl'\n");
    file("b.jsonl", says("Too late.", 600'000));
    const Json help{{"name", "b"}, {"arguments", JsonObject{{"prompt", "go"}}}};
    const Json put{{"name", "kv"}, {"arguments", JsonObject{{"op", "put"}, {"key", "k"}, {"value", "v"}}}};
    file("talk.jsonl", to_json_text({{"asked", "help"}, {"tool_calls", JsonArray{help}}}) + '\n' +
                           to_json_text({{"asked", "put"}, {"tool_calls", JsonArray{put}}}) + '\n' +
                           says("First."));
  }

  /// A model that is in the middle of its answer to "stream" for ever.
  void use_half_answers() {
    file("talk.toml", "id = 'talk'\nmodel = 'compatible:m'\n");
    options_.env["OPENAI_BASE_URL"] = server_.url("/v1");
    options_.env["no_proxy"] = options_.env["NO_PROXY"] = "127.0.0.1";
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

 private:
  TestServer server_{[](const TestRequest& request, TestConnection& to) {
    const bool is_half = request.body.contains("\"stream this\"");
    std::string lines;
    for (int i = 0; i < 10; ++i) lines += "line " + std::to_string(i) + "\n\n";
    to.write(half_or_whole(is_half ? lines : "First.", !is_half));
    is_half ? to.wait_for_close() : to.close();
  }};
};

TEST_P(ChatKilled, KeepsDraftQueueAndRun) {
  const KilledPhase& phase = GetParam();
  if (phase.name == "Streaming") use_half_answers();
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
