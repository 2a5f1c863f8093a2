// OpenAI's Responses over the server. scripts/check-clients tries the same with OpenAI's own clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "server/answer_parts.hpp"
#include "server/responses_codec.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

class Responses : public ServerTest {
 protected:
  Answer post(const std::string& body, std::string_view token = kOwner) const {
    return call("POST", "/v1/responses", body, token);
  }
  Answer get(const std::string& id, std::string_view token = kOwner) const {
    return call("GET", "/v1/responses/" + id, {}, token);
  }
  /// The events of a stream, as JSON.
  static std::vector<Json> stream_of(const Answer& answer) {
    std::vector<Json> all;
    for (const Sent& sent : events_in(answer.head + "\r\n\r\n" + answer.body)) {
      all.push_back(parse_json(sent.data).value_or(nullptr));
      EXPECT_EQ(sent.event, json_text(all.back(), "type"));
    }
    return all;
  }
  static std::vector<std::string> types_of(const std::vector<Json>& events) {
    std::vector<std::string> types;
    for (const Json& event : events) types.push_back(json_string(event, "type"));
    return types;
  }
  static std::string text_of_output(const Json& response) {
    std::string text;
    for (const Json& item : json_at(response, "output").as_array()) {
      if (json_text(item, "type") == "message") text += json_string(json_at(item, "content").at(0), "text");
    }
    return text;
  }
  static const Json& last_item(const Json& response) { return json_at(response, "output").as_array().back(); }
  static std::string approval(const Json& request, bool approves) {
    return R"({"input":[{"type":"mcp_approval_response","approval_request_id":")" +
           json_string(request, "id") + R"(","approve":)" + (approves ? "true" : "false") + "}]}";
  }
};

TEST_F(Responses, ResponseIsATurnThatIsFoundAgainAfterARestart) {
  start();
  const Answer made =
      post(R"({"model":"chat","input":"hi","metadata":{"k":"v"},"instructions":"Be short."})");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.text("status"), "completed");
  EXPECT_EQ(text_of_output(made.json), "Hello there.");
  EXPECT_GT(json_int(json_at(made.json, "usage"), "total_tokens"), 0);
  EXPECT_EQ(json_string(json_at(made.json, "metadata"), "k"), "v");
  restart();
  EXPECT_EQ(get(made.text("id")).json, made.json);
  const std::string run = ResponseId::parse(made.text("id"))->run.str();
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).text("result"), "Hello there.") << "it is a run like others";
}

TEST_F(Responses, StreamHasTheDocumentedOrder) {
  start();
  const auto events = stream_of(post(R"({"model":"chat","input":"hi","stream":true})"));
  std::vector<std::string> types = types_of(events);
  std::vector<std::string> without_repeats;
  std::ranges::unique_copy(types, std::back_inserter(without_repeats));
  EXPECT_THAT(
      without_repeats,
      ElementsAre("response.created", "response.in_progress", "response.output_item.added",
                  "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                  "response.content_part.done", "response.output_item.done", "response.completed"));
  std::int64_t last = -1;
  std::string text;
  for (const Json& event : events) {
    EXPECT_GT(json_int(event, "sequence_number"), last);
    last = json_int(event, "sequence_number");
    text += json_string(event, "delta");
  }
  EXPECT_EQ(text, "Hello there.");
  EXPECT_EQ(text_of_output(json_at(events.back(), "response")), text);
}

TEST_F(Responses, ClientThatComesBackGetsTheRestWhereverItStopped) {
  start();
  const auto events = stream_of(post(R"({"model":"chat","input":"hi","stream":true})"));
  const std::string id = json_string(json_at(events.front(), "response"), "id");
  restart();
  const Json last = events.back();
  const std::int64_t end = json_int(last, "sequence_number");
  const std::string whole = "Hello there.";
  const std::int64_t first = 4;  // before the pieces: created, in_progress, item, part
  for (std::int64_t after = 0; after < end; ++after) {
    const auto rest = stream_of(
        call("GET", "/v1/responses/" + id + "?stream=true&starting_after=" + std::to_string(after)));
    ASSERT_FALSE(rest.empty());
    EXPECT_EQ(rest.back(), last);
    std::string text;
    for (const Json& event : rest) {
      EXPECT_GT(json_int(event, "sequence_number"), after);
      text += json_string(event, "delta");
    }
    const std::int64_t had = std::clamp<std::int64_t>(after - first + 1, 0, std::ssize(whole));
    EXPECT_EQ(text, whole.substr(static_cast<std::size_t>(had))) << "after " << after;
  }
}

TEST_F(Responses, NextOneContinuesTheConversation) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}");
  start();
  const std::string first = post(R"({"model":"chat","input":"a"})").text("id");
  const Answer second = post(R"({"input":"b","previous_response_id":")" + first + "\"}");
  EXPECT_EQ(text_of_output(second.json), "Two.") << second.body;
  EXPECT_EQ(ResponseId::parse(second.text("id"))->run, ResponseId::parse(first)->run) << "the same run";
  EXPECT_EQ(second.text("previous_response_id"), first);
  // Another answer to the first one: the conversation branches, and the run stays as it is.
  const Answer branch = post(R"({"input":"c","previous_response_id":")" + first + "\"}");
  EXPECT_NE(ResponseId::parse(branch.text("id"))->run, ResponseId::parse(first)->run);
  const Json messages = call("GET", "/agent/" + ResponseId::parse(branch.text("id"))->run.str())
                            .json.as_object()
                            .at("messages");
  EXPECT_THAT(to_json_text(messages), HasSubstr("One."));
  EXPECT_THAT(to_json_text(messages), ::testing::Not(HasSubstr("Two.")));
  // Other instructions replace those before.
  const Answer other =
      post(R"({"input":"d","instructions":"Be loud.","previous_response_id":")" + second.text("id") + "\"}");
  EXPECT_EQ(other.text("instructions"), "Be loud.") << other.body;
}

TEST_F(Responses, InputItemsAreThoseOfTheRequest) {
  start();
  const std::string id =
      post(R"({"model":"chat","input":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},)"
           R"({"type":"message","role":"user","content":[{"type":"input_text","text":"three"}]}]})")
          .text("id");
  const std::string path = "/v1/responses/" + id + "/input_items";
  const auto texts = [](const Answer& answer) {
    std::vector<std::string> all;
    for (const Json& item : json_at(answer.json, "data").as_array())
      all.push_back(json_string(json_at(item, "content").at(0), "text"));
    return all;
  };
  EXPECT_THAT(texts(call("GET", path)), ElementsAre("three", "two", "one"));
  const Answer page = call("GET", path + "?order=asc&limit=2");
  EXPECT_THAT(texts(page), ElementsAre("one", "two"));
  EXPECT_EQ(json_at(page.json, "has_more"), Json(true));
  EXPECT_THAT(texts(call("GET", path + "?order=asc&after=" + page.text("last_id"))), ElementsAre("three"));
}

TEST_F(Responses, OneInTheBackgroundIsCancelled) {
  start();
  const Answer begun = post(R"({"model":"slow","input":"hi","background":true})");
  EXPECT_EQ(begun.text("status"), "in_progress") << begun.body;
  EXPECT_EQ(call("DELETE", "/v1/responses/" + begun.text("id")).status, 409);
  const Answer stopped = call("POST", "/v1/responses/" + begun.text("id") + "/cancel");
  EXPECT_EQ(stopped.text("status"), "cancelled") << stopped.body;
  EXPECT_EQ(get(begun.text("id")).text("status"), "cancelled");
  EXPECT_EQ(call("POST", "/v1/responses/" + begun.text("id") + "/cancel").json, stopped.json) << "once more";
}

TEST_F(Responses, DeletedAndUnstoredOnesAreNotFound) {
  start();
  const std::string id = post(R"({"model":"chat","input":"hi"})").text("id");
  EXPECT_EQ(json_at(call("DELETE", "/v1/responses/" + id).json, "deleted"), Json(true));
  EXPECT_EQ(get(id).status, 404);
  const Answer unstored = post(R"({"model":"chat","input":"hi","store":false})");
  EXPECT_EQ(text_of_output(unstored.json), "Hello there.");
  EXPECT_EQ(get(unstored.text("id")).status, 404);
  EXPECT_EQ(post(R"({"input":"x","previous_response_id":")" + unstored.text("id") + "\"}").status, 404);
}

TEST_F(Responses, AnotherPrincipalFindsNothing) {
  asking_agent();
  start();
  const Answer made = post(R"({"model":"ask","input":"hi"})", kAnna);
  const std::string id = made.text("id");
  for (const char* rest : {"", "?stream=true", "/input_items"})
    EXPECT_EQ(call("GET", "/v1/responses/" + id + rest, {}, kBert).status, 404) << rest;
  EXPECT_EQ(call("POST", "/v1/responses/" + id + "/cancel", {}, kBert).status, 404);
  EXPECT_EQ(call("DELETE", "/v1/responses/" + id, {}, kBert).status, 404);
  EXPECT_EQ(post(R"({"model":"ask","input":"x","previous_response_id":")" + id + "\"}", kBert).status, 404);
  EXPECT_EQ(post(approval(last_item(made.json), true), kBert).status, 404);
  EXPECT_EQ(get(id, kAnna).status, 200);
}

// ---- people

TEST_F(Responses, ParkedCallIsAnApprovalRequestThatTheNextRequestDecides) {
  asking_agent();
  start();
  const Answer waits = post(R"({"model":"ask","input":"hi"})");
  EXPECT_EQ(waits.text("status"), "completed") << waits.body;
  const Json request = last_item(waits.json);
  EXPECT_EQ(json_string(request, "type"), "mcp_approval_request");
  EXPECT_EQ(json_string(request, "name"), "kv");
  restart();
  const Answer done = post(approval(request, true));
  EXPECT_EQ(text_of_output(done.json), "Done.") << done.body;
  const Json& ran = json_at(done.json, "output").at(0);
  EXPECT_EQ(json_string(ran, "type"), "mcp_call");
  EXPECT_EQ(json_string(ran, "status"), "completed");
  EXPECT_EQ(post(approval(request, true)).status, 400) << "decided already";
  restart();
  EXPECT_EQ(get(done.text("id")).json, done.json);
  EXPECT_EQ(json_at(get(waits.text("id")).json, "output"), json_at(waits.json, "output"))
      << "the first one ends where it ended";
  EXPECT_EQ(json_string(
                json_at(call("GET", "/v1/responses/" + done.text("id") + "/input_items").json, "data").at(0),
                "type"),
            "mcp_approval_response");
}

TEST_F(Responses, DenialIsStreamedToo) {
  asking_agent();
  start();
  const auto waits = stream_of(post(R"({"model":"ask","input":"hi","stream":true})"));
  EXPECT_EQ(types_of(waits).back(), "response.completed");
  const Json request = last_item(json_at(waits.back(), "response"));
  std::string body = approval(request, false);
  body.insert(1, R"("stream":true,)");
  const auto events = stream_of(post(body));
  EXPECT_EQ(text_of_output(json_at(events.back(), "response")), "Done.");
  for (const Json& item : json_at(json_at(events.back(), "response"), "output").as_array())
    EXPECT_NE(json_string(item, "type"), "mcp_call") << "it did not run";
}

TEST_F(Responses, StepOfASubAgentIsAskedAndDecided) {
  asking_agent();
  script("lead",
         "{\"tool_calls\":[{\"name\":\"helper\",\"arguments\":{\"prompt\":\"help\"}}]}\n{\"text\":\"Led.\"}");
  agent("lead", "[agents.helper]\nfile = \"ask.toml\"\ndescription = \"Helps\"\n");
  start();
  const Answer waits = post(R"({"model":"lead","input":"hi"})");
  const Json request = last_item(waits.json);
  ASSERT_EQ(json_string(request, "type"), "mcp_approval_request") << waits.body;
  const Answer done = post(approval(request, true));
  EXPECT_EQ(text_of_output(done.json), "Led.") << done.body;
  EXPECT_EQ(text_of_output(get(done.text("id")).json), "Led.");
}

TEST_F(Responses, ToolOfTheClientIsAFunctionCallWhoseOutputContinuesTheTurn) {
  script(
      "weather",
      "{\"tool_calls\":[{\"name\":\"weather\",\"arguments\":{\"city\":\"Paris\"}}]}\n{\"text\":\"Warm.\"}");
  agent("weather", "");
  start();
  const std::string tools =
      R"("tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}])";
  const Answer called = post(R"({"model":"weather","input":"hi",)" + tools + "}");
  const Json wanted = last_item(called.json);
  ASSERT_EQ(json_string(wanted, "type"), "function_call") << called.body;
  EXPECT_EQ(json_string(wanted, "arguments"), R"({"city":"Paris"})");
  restart();
  EXPECT_EQ(get(called.text("id")).json, called.json);
  const Answer done = post(R"({"model":"weather","previous_response_id":")" + called.text("id") + "\"," +
                           tools + R"(,"input":[{"type":"function_call_output","call_id":")" +
                           json_string(wanted, "call_id") + R"(","output":"22 degrees"}]})");
  EXPECT_EQ(text_of_output(done.json), "Warm.") << done.body;
  const Answer items = call("GET", "/v1/responses/" + done.text("id") + "/input_items");
  EXPECT_EQ(json_string(json_at(items.json, "data").at(0), "output"), "22 degrees") << items.body;
}

// ---- what is wrong

TEST_F(Responses, WrongRequestsNameTheMember) {
  start();
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"model":"chat"})", "input"},
      {R"({"model":"chat","input":[]})", "input"},
      {R"({"model":"chat","input":7})", "input"},
      {R"({"input":"x"})", "model"},
      {R"({"model":"chat","input":[{"role":"assistant","content":"x"}]})", "input"},
      {R"({"model":"chat","input":[{"role":"user","content":[{"type":"input_image"}]}]})",
       "input[0].content"},
      {R"({"model":"chat","input":[{"type":"computer_call"}]})", "input[0].type"},
      {R"({"model":"chat","input":[{"type":"mcp_approval_response","approval_request_id":"x","approve":true}]})",
       "input[0].approval_request_id"},
      {R"({"model":"chat","input":"x","temperature":1})", "temperature"},
      {R"({"model":"chat","input":"x","max_output_tokens":9})", "max_output_tokens"},
      {R"({"model":"chat","input":"x","tools":[{"type":"web_search"}]})", "tools"},
      {R"({"model":"chat","input":"x","tool_choice":"required"})", "tool_choice"},
      {R"({"model":"chat","input":"x","stream":"yes"})", "stream"},
      {R"({"model":"chat","input":"x","background":true,"store":false})", "background"},
      {R"({"model":"chat","input":"x","metadata":{"k":1}})", "metadata"},
      {R"({"model":"chat","input":"x","text":{"format":{"type":"json_object"}}})", "text.format"},
      {R"({"model":"chat","input":"x","previous_response_id":"r1"})", "previous_response_id"},
  };
  for (const auto& [body, param] : cases) {
    const Answer answer = post(body);
    EXPECT_EQ(answer.status, 400) << body << '\n' << answer.body;
    EXPECT_EQ(json_string(json_at(answer.json, "error"), "param"), param) << body;
  }
  EXPECT_EQ(post(R"({"model":"missing","input":"x"})").status, 404);
  EXPECT_EQ(post(R"({"model":"chat","input":"x","previous_response_id":"resp_x~t1"})").status, 404);
  for (const char* id : {"x", "resp_x", "resp_x~t1", "resp_~", "resp_x~t1~p1", "resp_x~t1~y~p1~z"})
    EXPECT_EQ(get(id).status, 404) << id;
  EXPECT_EQ(post(R"({"model":"chat","input":"x","temperature":null,"tools":[],"tool_choice":"auto"})").status,
            200)
      << "what clients always send";
}

// ---- parts of an answer

class Parts : public ::testing::Test {
 protected:
  template <class Body>
  void take(Body body) {
    Event event;
    event.body = std::move(body);
    parts_.take(event);
  }
  std::string seen_;
  AnswerParts parts_{[this](PartStep step, PartKind kind, const std::string& text) {
    seen_ += step == PartStep::kBegin ? "<" : step == PartStep::kEnd ? "|" : "";
    if (step == PartStep::kBegin) seen_ += kind == PartKind::kText ? "t:" : "r:";
    seen_ += text + (step == PartStep::kEnd ? ">" : step == PartStep::kPiece ? "," : "");
  }};
};

TEST_F(Parts, PiecesAreNotRepeatedByTheWhole) {
  take(events::StepStarted{});
  take(events::ReasoningDelta{"why", false, 0});
  take(events::TextDelta{"He", 1});
  take(events::TextDelta{"llo", 1});
  take(events::AssistantReasoning{"why"});
  take(events::AssistantText{"Hello!"});
  EXPECT_EQ(seen_, "<r:why,|why><t:He,llo,!,|Hello!>");
}

TEST_F(Parts, WhatWasMissedComesAsOnePiece) {
  take(events::StepStarted{});
  take(events::AssistantReasoning{"why"});
  take(events::AssistantText{"Hello"});
  EXPECT_EQ(seen_, "<r:why,|why><t:Hello,|Hello>");
}

TEST_F(Parts, PiecesOfAFailedAttemptAreContinuedByTheNext) {
  take(events::StepStarted{});
  take(events::TextDelta{"Hel", 0});
  take(events::AttemptSuperseded{});
  take(events::TextDelta{"Hello", 0});
  take(events::AssistantText{"Hello"});
  take(events::StepStarted{});
  take(events::TextDelta{"Next", 0});
  parts_.close();
  EXPECT_EQ(seen_, "<t:Hel,lo,|Hello><t:Next,|Next>");
}

}  // namespace
}  // namespace praxis::server
