// AG-UI over the server. scripts/check-clients tries the same with the client of that protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

class AgUi : public ServerTest {
 protected:
  Answer run(const std::string& agent, const std::string& members, std::string_view token = kOwner) const {
    return call("POST", "/api/agui/" + agent,
                R"({"threadId":"t","runId":"r","tools":[],"context":[],"forwardedProps":{},)" + members + "}",
                token);
  }
  static std::string user(const std::string& text) {
    return R"({"id":"u-)" + text + R"(","role":"user","content":")" + text + "\"}";
  }
  static std::string messages(const std::string& list) { return R"("messages":[)" + list + "]"; }
  static std::string resume(const std::string& id, const std::string& payload) {
    return R"("messages":[],"resume":[{"interruptId":")" + id + R"(","status":"resolved","payload":)" +
           payload + "}]";
  }
  static std::vector<Json> events_of(const Answer& answer) {
    std::vector<Json> events;
    for (const Sent& sent : events_in("\r\n\r\n" + answer.body))
      events.push_back(parse_json(sent.data).value_or(nullptr));
    return events;
  }
  static std::vector<std::string> types_of(const std::vector<Json>& events) {
    std::vector<std::string> types;
    for (const Json& event : events) {
      if (types.empty() || types.back() != json_text(event, "type"))
        types.push_back(json_string(event, "type"));
    }
    return types;
  }
  static std::string text_of(const std::vector<Json>& events) {
    std::string text;
    for (const Json& event : events) {
      if (json_text(event, "type") == "TEXT_MESSAGE_CONTENT" && json_at(event, "subagentRunId").is_null())
        text += json_string(event, "delta");
    }
    return text;
  }
  static const Json& interrupt_of(const std::vector<Json>& events) {
    static const Json kNone;
    const Json& outcome = json_at(events.back(), "outcome");
    EXPECT_EQ(json_string(outcome, "type"), "interrupt") << to_json_text(events.back());
    const auto* all = json_at(outcome, "interrupts").if_array();
    return all == nullptr || all->empty() ? kNone : all->front();
  }
};

TEST_F(AgUi, TurnIsARunOfTheProtocol) {
  script("chat", R"({"reasoning":"Why not?","text":"Hello there.","chunk":4})");
  start();
  const auto events = events_of(run("chat", messages(user("hi"))));
  EXPECT_THAT(types_of(events),
              ElementsAre("RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED", "REASONING_START",
                          "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
                          "REASONING_END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
                          "STATE_DELTA", "STEP_FINISHED", "STATE_SNAPSHOT", "RUN_FINISHED"));
  EXPECT_EQ(text_of(events), "Hello there.");
  EXPECT_EQ(json_string(json_at(events.back(), "result"), "text"), "Hello there.");
}

// What the deltas say of a run is what its last snapshot says.
TEST_F(AgUi, StateCountsWhatTheRunDoes) {
  script("kv",
         "{\"tool_calls\":[{\"name\":\"kv\",\"arguments\":{\"op\":\"put\",\"key\":\"k\",\"value\":\"v\"}}]}\n"
         "{\"text\":\"Done.\"}");
  agent("kv", "[tools.kv]\n");
  start();
  std::map<std::string, Json> counted;
  Json snapshot;
  for (const Json& event : events_of(run("kv", messages(user("hi"))))) {
    if (json_text(event, "type") == "STATE_SNAPSHOT") snapshot = json_at(event, "snapshot");
    const auto* const delta = json_at(event, "delta").if_array();
    for (const Json& change : delta == nullptr ? JsonArray{} : *delta) {
      EXPECT_EQ(json_text(change, "op"), "replace");
      counted[json_string(change, "path").substr(1)] = json_at(change, "value");
    }
  }
  EXPECT_EQ(json_text(snapshot, "status"), "completed");
  for (const auto& [name, value] : counted) EXPECT_EQ(json_at(snapshot, name), value) << name;
  EXPECT_EQ(counted["model_calls"], Json(2));
  EXPECT_EQ(counted["tool_calls"], Json(1));
  EXPECT_TRUE(counted.contains("tokens"));
}

TEST_F(AgUi, ThreadIsShownToAClientThatHasNothingOfIt) {
  start();
  run("chat", messages(user("hi")));
  restart();
  const auto events = events_of(run("chat", messages("")));
  EXPECT_THAT(types_of(events),
              ElementsAre("RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"));
  const Json& shown = json_at(events[1], "messages");
  ASSERT_EQ(shown.as_array().size(), 2U);
  EXPECT_EQ(json_string(shown.at(0), "id"), "u-hi") << "as the client called it";
  EXPECT_EQ(json_string(shown.at(1), "content"), "Hello there.");
  EXPECT_EQ(run("chat", messages(""), kAnna).status, 400) << "another principal has no such thread";
}

TEST_F(AgUi, InterruptIsAnsweredByTheNextRun) {
  asking_agent();
  start();
  const Json interrupt = interrupt_of(events_of(run("ask", messages(user("hi")))));
  const std::string id = json_string(interrupt, "id");
  restart();
  EXPECT_EQ(run("ask", resume(id, "{}")).status, 400) << "no answer to what was asked";
  EXPECT_EQ(run("ask", messages(user("hi") + "," + user("and"))).status, 409);
  const auto done = events_of(run("ask", resume(id, R"({"approved":true})")));
  EXPECT_EQ(text_of(done), "Done.");
  EXPECT_THAT(types_of(done), Contains("TOOL_CALL_RESULT"));
  EXPECT_EQ(run("ask", resume(id, "true")).status, 400) << "answered already";
}

TEST_F(AgUi, EditedArgumentsAreThoseThatRun) {
  asking_agent();
  start();
  const std::string id = json_string(interrupt_of(events_of(run("ask", messages(user("hi"))))), "id");
  const Answer done =
      run("ask", resume(id, R"({"approved":true,"arguments":{"op":"put","key":"other","value":"v"}})"));
  EXPECT_EQ(text_of(events_of(done)), "Done.");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + id.substr(0, id.find('/')) + "/messages").body,
              HasSubstr("other"));
}

TEST_F(AgUi, SubAgentSpeaksForItself) {
  asking_agent();
  script("lead",
         "{\"tool_calls\":[{\"name\":\"helper\",\"arguments\":{\"prompt\":\"help\"}}]}\n{\"text\":\"Led.\"}");
  agent("lead", "[agents.helper]\nfile = \"ask.toml\"\ndescription = \"Helps\"\n");
  start();
  const Answer first = run("lead", messages(user("hi")));
  SCOPED_TRACE(first.body);
  const auto asked = events_of(first);
  EXPECT_THAT(types_of(asked), Contains("SUBAGENT_STARTED"));
  const Json& interrupt = interrupt_of(asked);
  EXPECT_FALSE(json_string(interrupt, "subagentRunId").empty());
  const Answer second = run("lead", resume(json_string(interrupt, "id"), R"({"approved":true})"));
  SCOPED_TRACE(second.body);
  const auto done = events_of(second);
  EXPECT_EQ(text_of(done), "Led.");
  EXPECT_THAT(types_of(done), Contains("SUBAGENT_FINISHED"));
}

TEST_F(AgUi, WrongInputNamesTheMember) {
  start();
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"runId":"r","messages":[]})", "threadId"},
      {R"({"threadId":"t","messages":[]})", "runId"},
      {R"({"threadId":"t","runId":"r"})", "messages"},
      {R"({"threadId":"t","runId":"r","messages":[{"id":"a","role":"assistant","content":"x"}]})",
       "messages"},
      {R"({"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":[{"type":"image"}]}]})",
       "messages[0].content"},
      {R"({"threadId":"t","runId":"r","messages":[],"tools":[{"name":"x"}]})", "tools"},
      {R"({"threadId":"t","runId":"r","messages":[],"context":[{"description":"d","value":"v"}]})",
       "context"},
      {R"({"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"x","status":"odd"}]})",
       "resume"},
  };
  for (const auto& [body, field] : cases) {
    const Answer answer = call("POST", "/api/agui/chat", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.text("field"), field) << answer.body;
  }
  EXPECT_EQ(run("missing", messages(user("hi"))).status, 404);
}

}  // namespace
}  // namespace praxis::server
