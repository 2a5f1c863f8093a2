// OpenAI's Chat Completions over the server. scripts/check-clients tries the same with OpenAI's own client.
#include "server/openai.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using namespace testing;

class ChatCompletions : public ServerTest {
 protected:
  static constexpr std::string_view kPath = "/v1/chat/completions";
  void weather_agent() {
    script(
        "weather",
        "{\"tool_calls\":[{\"name\":\"weather\",\"arguments\":{\"city\":\"Paris\"}}]}\n{\"text\":\"Warm.\"}");
    agent("weather", "");
  }
  static std::string weather_request(const std::string& further) {
    return R"({"model":"weather","messages":[{"role":"user","content":"hi"})" + further +
           R"(],"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object",)"
           R"("properties":{"city":{"type":"string"}}}}}]})";
  }
};

TEST_F(ChatCompletions, AnswerIsThatOfANewRun) {
  start();
  const Answer answer =
      call("POST", kPath, R"({"model":"chat","messages":[{"role":"user","content":"hi"}],"temperature":1})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json& choice = json_at(answer.json, "choices").at(0);
  EXPECT_EQ(json_string(json_at(choice, "message"), "content"), "Hello there.");
  EXPECT_EQ(json_string(choice, "finish_reason"), "stop");
  const std::string id = answer.text("id");
  ASSERT_THAT(id, ::testing::StartsWith("chatcmpl-"));
  EXPECT_EQ(call("GET", "/api/v1/runs/" + id.substr(9)).text("result"), "Hello there.");
}

TEST_F(ChatCompletions, StreamEndsWithUsageAndDone) {
  start();
  const Answer answer = call("POST", kPath,
                             R"({"model":"chat","stream":true,"stream_options":{"include_usage":true},)"
                             R"("messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
  EXPECT_THAT(answer.head, HasSubstr("text/event-stream"));
  EXPECT_THAT(answer.body, EndsWith("data: [DONE]\n\n"));
  std::string text;
  for (std::string_view rest = answer.body; rest.contains("\n\n");
       rest.remove_prefix(rest.find("\n\n") + 2)) {
    const auto chunk = parse_json(rest.substr(6, rest.find("\n\n") - 6));
    const Json choices = chunk ? json_at(*chunk, "choices") : Json(nullptr);
    if (choices.is_array() && !choices.as_array().empty())
      text += json_string(json_at(choices.at(0), "delta"), "content");
  }
  EXPECT_EQ(text, "Hello there.");
  EXPECT_THAT(answer.body, HasSubstr("\"finish_reason\":\"stop\""));
  EXPECT_THAT(answer.body, HasSubstr("\"total_tokens\":"));
}

TEST_F(ChatCompletions, ConversationOfTheRequestIsThatOfTheRun) {
  start();
  const Answer answer = call("POST", kPath,
                             R"({"model":"chat","messages":[{"role":"user","content":"one"},)"
                             R"({"role":"assistant","content":"two"},{"role":"user","content":"three"}]})");
  const Json messages = call("GET", "/agent/" + answer.text("id").substr(9)).json;
  ASSERT_EQ(json_at(messages, "messages").as_array().size(), 4U) << answer.body;
  EXPECT_THAT(to_json_text(json_at(messages, "messages").at(1)), HasSubstr("two"));
}

TEST_F(ChatCompletions, ToolOfTheClientIsCalledAndItsResultContinuesTheRun) {
  weather_agent();
  start();
  const Answer called = call("POST", kPath, weather_request(""));
  const Json& choice = json_at(called.json, "choices").at(0);
  EXPECT_EQ(json_string(choice, "finish_reason"), "tool_calls") << called.body;
  const Json wanted = json_at(json_at(choice, "message"), "tool_calls").at(0);
  EXPECT_EQ(json_string(json_at(wanted, "function"), "arguments"), R"({"city":"Paris"})");
  restart();
  const std::string result = R"(,{"role":"assistant","tool_calls":[)" + to_json_text(wanted) +
                             R"(]},{"role":"tool","content":"22 degrees","tool_call_id":")" +
                             json_string(wanted, "id") + "\"}";
  EXPECT_EQ(call("POST", kPath, weather_request(result), kAnna).status, 404) << "of another principal";
  const Answer done = call("POST", kPath, weather_request(result));
  EXPECT_EQ(json_string(json_at(json_at(done.json, "choices").at(0), "message"), "content"), "Warm.")
      << done.body;
  EXPECT_EQ(done.text("id"), called.text("id")) << "the same run";
  EXPECT_THAT(call("GET", "/agent/" + done.text("id").substr(9)).body, HasSubstr("22 degrees"));
  EXPECT_EQ(call("POST", kPath, weather_request(result)).status, 400) << "it waits no more";
  // Later the client sends the whole conversation, with the call in it.
  const Answer later =
      call("POST", kPath, weather_request(result + R"(,{"role":"user","content":"and now?"})"));
  EXPECT_THAT(call("GET", "/agent/" + later.text("id").substr(9)).body, HasSubstr("22 degrees"))
      << later.body;
}

TEST_F(ChatCompletions, CallsOfTheClientsToolsAreStreamed) {
  weather_agent();
  start();
  std::string body = weather_request("");
  body.insert(1, R"("stream":true,)");
  const Answer answer = call("POST", kPath, body);
  EXPECT_THAT(answer.body, HasSubstr(R"("tool_calls":[{"id":"call_)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_THAT(answer.body, EndsWith("data: [DONE]\n\n"));
}

TEST_F(ChatCompletions, WrongRequestsAreErrorsInItsForm) {
  asking_agent();
  start();
  const std::vector<std::pair<std::string, int>> cases{
      {"{", 400},
      {R"({"messages":[{"role":"user","content":"x"}]})", 400},
      {R"({"model":"chat"})", 400},
      {R"({"model":"chat","messages":[]})", 400},
      {R"({"model":"chat","messages":[{"role":"assistant","content":"x"}]})", 400},
      {R"({"model":"chat","messages":[{"role":"tool","content":"x"}]})", 400},
      {R"({"model":"chat","messages":[{"role":"user","content":[{"type":"image_url"}]}]})", 400},
      {R"({"model":"chat","messages":[{"role":"user","content":"x"}],"tools":[{}]})", 400},
      {R"({"model":"chat","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema"}})",
       400},
      {R"({"model":"chat","messages":[{"role":"tool","tool_call_id":"call_x","content":"x"}]})", 400},
      {R"({"model":"chat","messages":[{"role":"tool","tool_call_id":"call_x~p1","content":"x"}]})", 404},
      {R"({"model":"chat","messages":[{"role":"user","content":"x"}],"tool_choice":"required"})", 400},
      {R"({"model":"missing","messages":[{"role":"user","content":"x"}]})", 404},
      {R"({"model":"/etc/x.toml","messages":[{"role":"user","content":"x"}]})", 404},
      {R"({"model":"ask","messages":[{"role":"user","content":"x"}]})", 409},
  };
  for (const auto& [body, status] : cases) {
    const Answer answer = call("POST", kPath, body);
    EXPECT_EQ(answer.status, status) << body << '\n' << answer.body;
    EXPECT_FALSE(json_string(json_at(answer.json, "error"), "message").empty()) << answer.body;
  }
  EXPECT_EQ(json_string(json_at(call("GET", "/v1/models", "", "").json, "error"), "type"),
            "authentication_error");
}

}  // namespace
}  // namespace praxis::server
