// The chat of the AI SDK over the server. scripts/check-clients tries the same with the SDK itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using namespace testing;

class UiStream : public ServerTest {
 protected:
  Answer chat(const std::string& body, std::string_view token = kOwner) const {
    return call("POST", "/api/ai/chat", body, token);
  }
  static std::string user(const std::string& text) {
    return R"({"id":"u","role":"user","parts":[{"type":"text","text":")" + text + "\"}]}";
  }
  static std::string said(const std::string& text) {
    return R"({"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":")" + text +
           "\"}]}";
  }
  static std::string request(const std::string& agent, const std::string& messages) {
    return R"({"id":"c1","trigger":"submit-message","agent":")" + agent + R"(","messages":[)" + messages +
           "]}";
  }
  /// The chunks of an answer, without `[DONE]`.
  static std::vector<Json> chunks_of(const Answer& answer) {
    EXPECT_THAT(answer.body, EndsWith("data: [DONE]\n\n"));
    std::vector<Json> chunks;
    for (const Sent& sent : events_in("\r\n\r\n" + answer.body)) {
      if (sent.data != "[DONE]") chunks.push_back(parse_json(sent.data).value_or(nullptr));
    }
    return chunks;
  }
  static std::vector<std::string> types_of(const std::vector<Json>& chunks) {
    std::vector<std::string> types;
    for (const Json& chunk : chunks) {
      if (types.empty() || types.back() != json_text(chunk, "type"))
        types.push_back(json_string(chunk, "type"));
    }
    return types;
  }
  static std::string text_of(const std::vector<Json>& chunks) {
    std::string text;
    for (const Json& chunk : chunks) {
      if (json_text(chunk, "type") == "text-delta") text += json_string(chunk, "delta");
    }
    return text;
  }
  static const Json& chunk(const std::vector<Json>& chunks, std::string_view type) {
    static const Json kNone;
    for (const Json& each : chunks) {
      if (json_text(each, "type") == type) return each;
    }
    ADD_FAILURE() << "no " << type;
    return kNone;
  }
  static std::string decision(const std::string& id, bool approves) {
    return R"({"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"kv","toolCallId":"x",)"
           R"("state":"approval-responded","approval":{"id":")" +
           id + R"(","approved":)" + (approves ? "true" : "false") + "}}]}";
  }
};

TEST_F(UiStream, TurnIsAMessageOfChunks) {
  script("chat", R"({"reasoning":"Why not?","text":"Hello there.","chunk":4})");
  start();
  const Answer answer = chat(request("chat", user("hi")));
  EXPECT_THAT(answer.head, HasSubstr("x-vercel-ai-ui-message-stream: v1"));
  const auto chunks = chunks_of(answer);
  EXPECT_THAT(types_of(chunks),
              ElementsAre("start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end",
                          "text-start", "text-delta", "text-end", "finish-step", "finish"));
  EXPECT_EQ(text_of(chunks), "Hello there.");
  EXPECT_EQ(json_string(chunks.back(), "finishReason"), "stop");
}

TEST_F(UiStream, ChatIsOneRunWhoseLastTurnsAreTakenBackWhenTheClientGoesBack) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}");
  start();
  const auto first = chunks_of(chat(request("chat", user("a"))));
  const std::string run = json_string(json_at(first.front(), "messageMetadata"), "run");
  EXPECT_EQ(text_of(chunks_of(chat(request("chat", user("a") + "," + said("One.") + "," + user("b"))))),
            "Two.");
  restart();
  // Regenerated: the same messages without the last answer.
  const auto again = chunks_of(chat(request("chat", user("a") + "," + said("One.") + "," + user("b"))));
  EXPECT_EQ(text_of(again), "Three.");
  EXPECT_EQ(json_string(json_at(again.front(), "messageMetadata"), "run"), run);
  const Json messages = json_at(call("GET", "/agent/" + run).json, "messages");
  EXPECT_EQ(messages.as_array().size(), 4U) << to_json_text(messages);
}

TEST_F(UiStream, OtherPrincipalsHaveOtherChats) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}");
  start();
  EXPECT_EQ(text_of(chunks_of(chat(request("chat", user("a")), kAnna))), "One.");
  EXPECT_EQ(text_of(chunks_of(chat(request("chat", user("a")), kBert))), "One.") << "a new run";
  script("slow2", R"({"text":"At last.","delay_ms":60000})");
  const std::string run = create("slow", kAnna);
  EXPECT_EQ(call("GET", "/api/ai/chat/" + run + "/stream", {}, kBert).status, 204);
}

TEST_F(UiStream, RequestIsApprovedInTheNextRequest) {
  asking_agent();
  start();
  const auto waits = chunks_of(chat(request("ask", user("hi"))));
  const Json& asked = chunk(waits, "tool-approval-request");
  EXPECT_EQ(json_string(asked, "toolCallId"),
            json_string(chunk(waits, "tool-input-available"), "toolCallId"));
  EXPECT_EQ(json_string(waits.back(), "finishReason"), "tool-calls");
  restart();
  const std::string answer =
      request("ask", user("hi") + "," + decision(json_string(asked, "approvalId"), true));
  const auto done = chunks_of(chat(answer));
  EXPECT_EQ(json_string(done.front(), "messageId"), json_string(waits.front(), "messageId"))
      << "the same message";
  EXPECT_EQ(json_string(chunk(done, "tool-output-available"), "toolCallId"),
            json_string(asked, "toolCallId"));
  EXPECT_EQ(text_of(done), "Done.");
  EXPECT_EQ(chat(answer).status, 400) << "decided already";
}

TEST_F(UiStream, DeniedCallOfASubAgentIsShown) {
  asking_agent();
  script("lead",
         "{\"tool_calls\":[{\"name\":\"helper\",\"arguments\":{\"prompt\":\"help\"}}]}\n{\"text\":\"Led.\"}");
  agent("lead", "[agents.helper]\nfile = \"ask.toml\"\ndescription = \"Helps\"\n");
  start();
  const auto waits = chunks_of(chat(request("lead", user("hi"))));
  const std::string id = json_string(chunk(waits, "tool-approval-request"), "approvalId");
  EXPECT_EQ(json_string(json_at(chunk(waits, "data-agent"), "data"), "status"), "running");
  const auto done = chunks_of(chat(request("lead", user("hi") + "," + decision(id, false))));
  EXPECT_EQ(json_string(chunk(done, "tool-output-denied"), "toolCallId"), id);
  EXPECT_EQ(text_of(done), "Led.");
}

TEST_F(UiStream, TurnAtWorkIsResumedAndAnIdleOneIsNot) {
  start();
  EXPECT_EQ(call("GET", "/api/ai/chat/c1/stream").status, 204) << "unknown";
  const std::string run = create("slow");
  stream("/api/v1/runs/" + run + "/events", "model.requested");
  RawClient client(server_->port());
  client.send(ServerTest::request("GET", "/api/ai/chat/" + run + "/stream", {}, kOwner));
  EXPECT_THAT(client.read_until("start-step"), HasSubstr(run + "/t1"));
  EXPECT_EQ(chat(R"({"id":")" + run + R"(","messages":[)" + user("x") + "]}").status, 409);
  call("POST", "/api/v1/runs/" + run + "/commands", R"({"commands":[{"verb":"interrupt"}]})");
  EXPECT_THAT(client.read_all(), HasSubstr(R"("type":"abort")"));
  EXPECT_EQ(call("GET", "/api/ai/chat/" + run + "/stream").status, 204) << "idle";
}

TEST_F(UiStream, WrongRequestsNameTheMember) {
  start();
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"messages":[]})", "id"},
      {R"({"id":"c"})", "messages"},
      {R"({"id":"c","messages":[]})", "messages"},
      {R"({"id":"c","messages":[{"role":"assistant","parts":[{"type":"text","text":"x"}]}]})", "messages"},
      {R"({"id":"c","messages":[{"role":"user","parts":[{"type":"file","url":"x"}]}]})", "messages[0].parts"},
      {R"({"id":"c","messages":[{"role":"tool","parts":[]}]})", "messages[0].role"},
      {R"({"id":"c","trigger":"x","messages":[{}]})", "trigger"},
      {R"({"id":"c","webSearch":true,"messages":[{}]})", "webSearch"},
  };
  for (const auto& [body, field] : cases) {
    const Answer answer = chat(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.text("field"), field) << answer.body;
  }
  EXPECT_EQ(chat(request("missing", user("x"))).status, 404);
  EXPECT_EQ(chat(request("chat", user("x") + "," + decision("a/p1", true))).status, 404) << "no such chat";
}

}  // namespace
}  // namespace praxis::server
