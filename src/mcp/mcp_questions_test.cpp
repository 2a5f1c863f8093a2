// Questions of servers of versions with a handshake, which ask in the middle of a call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "praxis/base/reach.hpp"
#include "praxis/mcp/mcp_client.hpp"
#include "praxis/process/process.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

class McpQuestionsTest : public ::testing::Test {
 protected:
  McpQuestionsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_mcp_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~McpQuestionsTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<McpClient> client() const {
    McpProgram program;
    program.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/server.py", "inquiring",
                    (folder_ / "notes").string()};
    program.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    McpBounds bounds;
    bounds.answers_questions = true;
    return std::make_unique<McpClient>(program, bounds);
  }
  static McpCallOptions options(const std::optional<McpInput>& input = {}, const char* action = "accept",
                                JsonObject content = {}) {
    McpCallOptions made;
    made.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    if (!input) return made;
    for (const auto& each : input->requests)
      made.answers[each.key()] = JsonObject{{"action", action}, {"content", content}};
    made.state = input->state;
    return made;
  }
  /// Waits until the server has noted the line.
  void await_note(const std::string& line) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::string notes;
    while (!notes.contains(line) && std::chrono::steady_clock::now() < end) {
      std::ifstream in(folder_ / "notes");
      notes.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_THAT(notes, HasSubstr(line));
  }

  std::filesystem::path folder_;
};

TEST_F(McpQuestionsTest, CallWaitsForItsAnswer) {
  const auto server = client();
  const auto asked = server->call("echo", JsonObject{}, options());
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_TRUE(asked->input);
  const Json& question = asked->input->requests.begin()->value();
  EXPECT_EQ(json_text(json_at(question, "params"), "message"), "Which size?");
  const auto answered = server->call("echo", JsonObject{}, options(asked->input, "accept", {{"size", "L"}}));
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(answered->text, R"(size {"action": "accept", "content": {"size": "L"}})");
  const auto again = server->call("echo", JsonObject{}, options(asked->input));
  ASSERT_FALSE(again) << "it was answered";
  EXPECT_EQ(reach_of(again.error()), Reach::kSent);
}

TEST_F(McpQuestionsTest, AnswerAfterTheEndOfTheConnection_LeavesTheOutcomeUnknown) {
  auto server = client();
  const auto asked = server->call("echo", JsonObject{}, options());
  ASSERT_TRUE(asked && asked->input);
  server = client();
  const auto lost = server->call("echo", JsonObject{}, options(asked->input));
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("whether the call took effect is not known"));
  EXPECT_EQ(reach_of(lost.error()), Reach::kSent);
}

TEST_F(McpQuestionsTest, CallThatIsNotAnswered_IsCancelledAtTheServer) {
  auto server = client();
  ASSERT_TRUE(server->call("echo", JsonObject{}, options()));
  server.reset();
  await_note("cancelled");
}

TEST_F(McpQuestionsTest, AddressThatMustBeOpenedFirst_IsAQuestion_AndTheCallIsMadeAgain) {
  const auto server = client();
  const auto refused = server->call("sum", JsonObject{}, options());
  ASSERT_TRUE(refused && refused->input) << "the server refuses the call once";
  const Json& params = json_at(refused->input->requests.begin()->value(), "params");
  EXPECT_EQ(json_text(params, "url"), "https://x.example/connect?e1");
  EXPECT_FALSE(server->call("sum", JsonObject{}, options(refused->input, "decline")));
  const auto again = server->call("sum", JsonObject{}, options(refused->input));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->text, "unlocked");
}

TEST_F(McpQuestionsTest, ServerOverHttp_GetsTheAnswerToo) {
  ProcessSpec spec;
  spec.argv = {"python3", PRAXIS_SOURCE_DIR "/tests/mcp/http_server.py", "usual"};
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.channel_is_stdio = true;
  auto process = start_process(spec);
  ASSERT_TRUE(process) << process.error().message;
  std::array<char, 16> port{};
  const ssize_t got = read(process->channel(), port.data(), port.size());
  McpEndpoint endpoint;
  endpoint.url = "http://127.0.0.1:" + std::string(port.data(), static_cast<std::size_t>(got - 1)) + "/mcp";
  endpoint.http = make_http_client();
  endpoint.use_proxy = false;
  endpoint.allow_address = [](std::string_view address) { return address == "127.0.0.1"; };
  McpBounds bounds;
  bounds.answers_questions = true;
  McpClient server(endpoint, bounds);
  const auto asked = server.call("ask", JsonObject{}, options());
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_TRUE(asked->input);
  const auto answered = server.call("ask", JsonObject{}, options(asked->input, "accept", {{"size", "L"}}));
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_THAT(answered->text, HasSubstr(R"("size": "L")"));
}

}  // namespace
}  // namespace praxis
