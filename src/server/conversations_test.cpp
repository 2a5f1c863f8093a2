// OpenAI's Conversations over the server. scripts/check-clients tries the same with OpenAI's own client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/responses_id.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

class ConversationsApi : public ServerTest {
 protected:
  static constexpr const char* kPath = "/v1/conversations";
  static std::string path_of(const std::string& id, const std::string& rest = {}) {
    return std::string(kPath) + "/" + id + rest;
  }
  std::string make(const std::string& body = {}, std::string_view token = kOwner) const {
    const Answer made = call("POST", kPath, body, token);
    EXPECT_EQ(made.status, 200) << made.body;
    EXPECT_EQ(made.text("object"), "conversation");
    return made.text("id");
  }
  Answer respond(const std::string& conversation, const std::string& input, std::string_view token = kOwner,
                 const std::string& more = {}) const {
    return call(
        "POST", "/v1/responses",
        R"({"model":"chat","conversation":")" + conversation + R"(","input":")" + input + '"' + more + '}',
        token);
  }
  Answer items(const std::string& id, const std::string& query = "?order=asc&limit=100") const {
    return call("GET", path_of(id, "/items" + query));
  }
  static std::string text_in(const Json& item) {
    return json_text(item, "type") == "message" ? json_string(json_at(item, "content").at(0), "text")
                                                : json_string(item, "type");
  }
  static std::vector<std::string> texts(const Answer& answer) {
    std::vector<std::string> all;
    for (const Json& item : json_at(answer.json, "data").as_array()) all.push_back(text_in(item));
    return all;
  }
  static SessionId run_of(const Answer& response) { return ResponseId::parse(response.text("id"))->run; }
  /// What the model of a run has read, as text.
  std::string read_by(const Answer& response) const {
    return to_json_text(json_at(call("GET", "/agent/" + run_of(response).str()).json, "messages"));
  }
  void three_answers() { script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}"); }
};

constexpr const char* kTwoItems =
    R"({"items":[{"role":"user","content":"What is it?"},{"type":"message","role":"assistant",)"
    R"("content":[{"type":"output_text","text":"A cat."}]}],"metadata":{"topic":"cats"}})";

TEST_F(ConversationsApi, IsFoundAgainAfterARestartWithItsItems) {
  start();
  const Answer made = call("POST", kPath, kTwoItems);
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(made.text("id"), ::testing::StartsWith("conv_"));
  EXPECT_GT(json_int(made.json, "created_at"), 0);
  restart();
  EXPECT_EQ(call("GET", path_of(made.text("id"))).json, made.json);
  const Answer all = items(made.text("id"));
  EXPECT_THAT(texts(all), ElementsAre("What is it?", "A cat."));
  const Json& last = json_at(all.json, "data").at(1);
  EXPECT_EQ(json_text(last, "status"), "completed");
  EXPECT_EQ(call("GET", path_of(made.text("id"), "/items/" + json_string(last, "id"))).json, last);
  EXPECT_EQ(texts(call("GET", path_of(make(), "/items"))).size(), 0U) << "one without items";
}

TEST_F(ConversationsApi, ResponseThatIsBegunTwice_IsListedOnce) {
  three_answers();
  start();
  const std::string id = make();
  const Answer first = respond(id, "Hi"), second = respond(id, "And then?");
  ASSERT_EQ(second.status, 200) << second.body;
  // As a server writes it whose turn does not begin, since another one has the run.
  const std::string fact = to_json_text(JsonObject{{"response", second.text("id")}, {"holds", 1}});
  const Answer noted = call(
      "POST", "/api/v1/runs/" + ConversationId::parse(id)->run.str() + "/commands",
      to_json_text(JsonObject{{"commands", JsonArray{JsonObject{{"verb", "annotate"}, {"text", fact}}}}}));
  ASSERT_EQ(noted.status / 100, 2) << noted.body;
  EXPECT_THAT(texts(items(id)), ElementsAre("Hi", "One.", "And then?", "Two."));
  EXPECT_EQ(respond(id, "More").status, 200);
}

TEST_F(ConversationsApi, ResponsesOfItContinueOneRunWithItsItems) {
  three_answers();
  start();
  const std::string id = make(kTwoItems);
  const Answer one = respond(id, "a");
  ASSERT_EQ(one.status, 200) << one.body;
  EXPECT_EQ(json_string(json_at(one.json, "conversation"), "id"), id);
  restart();
  const Answer two = call("POST", "/v1/responses", R"({"conversation":{"id":")" + id + R"("},"input":"b"})");
  ASSERT_EQ(two.status, 200) << two.body << " the model is that of the response before";
  EXPECT_EQ(run_of(two), run_of(one)) << "the same run";
  EXPECT_THAT(texts(items(id)), ElementsAre("What is it?", "A cat.", "a", "One.", "b", "Two."));
  EXPECT_THAT(read_by(two), HasSubstr("A cat."));
  const Answer inputs = call("GET", "/v1/responses/" + one.text("id") + "/input_items");
  EXPECT_THAT(texts(inputs), ElementsAre("a")) << "not what the conversation had before";
}

TEST_F(ConversationsApi, PagesFollowTheOrder) {
  three_answers();
  start();
  const std::string id = make(kTwoItems);
  respond(id, "a");
  EXPECT_THAT(texts(items(id, "")), ElementsAre("One.", "a", "A cat.", "What is it?")) << "newest first";
  const Answer page = items(id, "?order=asc&limit=3&include[]=reasoning.encrypted_content");
  EXPECT_THAT(texts(page), ElementsAre("What is it?", "A cat.", "a"));
  EXPECT_EQ(json_at(page.json, "has_more"), Json(true));
  EXPECT_THAT(texts(items(id, "?order=asc&after=" + page.text("last_id"))), ElementsAre("One."));
  EXPECT_EQ(items(id, "?after=msg_x").status, 400);
  EXPECT_EQ(items(id, "?order=up").status, 400);
  EXPECT_EQ(items(id, "?include[]=message.output_text.logprobs").status, 400);
}

TEST_F(ConversationsApi, ItemsThatAreAddedOrRemovedCountFromTheNextResponseOn) {
  three_answers();
  start();
  const std::string id = make(kTwoItems);
  const Answer one = respond(id, "a");
  const Answer added =
      call("POST", path_of(id, "/items"), R"({"items":[{"role":"user","content":"It is black."}]})");
  ASSERT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(added.text("first_id"), json_string(json_at(added.json, "data").at(0), "id"));
  const std::string cat = json_string(json_at(items(id).json, "data").at(1), "id");
  const Answer removed = call("DELETE", path_of(id, "/items/" + cat));
  EXPECT_EQ(removed.text("id"), id) << removed.body;
  EXPECT_EQ(call("GET", path_of(id, "/items/" + cat)).status, 404);
  EXPECT_EQ(call("DELETE", path_of(id, "/items/" + cat)).status, 404);
  restart();
  const Answer two = respond(id, "b");
  EXPECT_THAT(texts(items(id)), ElementsAre("What is it?", "a", "One.", "It is black.", "b", "One."));
  EXPECT_NE(run_of(two), run_of(one)) << "a log is only added to";
  EXPECT_THAT(read_by(two), HasSubstr("It is black."));
  EXPECT_THAT(read_by(two), Not(HasSubstr("A cat.")));
  EXPECT_EQ(run_of(respond(id, "c")), run_of(two));
}

TEST_F(ConversationsApi, DeletedResponseLeavesTheConversationAndWhatTheModelReads) {
  three_answers();
  start();
  const std::string id = make();
  const Answer one = respond(id, "a");
  const Answer two = respond(id, "b", kOwner, R"(,"instructions":"Be short.")");
  EXPECT_NE(run_of(two), run_of(one)) << "other instructions";
  EXPECT_EQ(call("DELETE", "/v1/responses/" + one.text("id")).status, 200);
  EXPECT_THAT(texts(items(id)), ElementsAre("b", "One."));
  const Answer three = respond(id, "c", kOwner, R"(,"instructions":"Be short.")");
  EXPECT_THAT(read_by(three), Not(HasSubstr("\"a\"")));
  EXPECT_EQ(call("DELETE", "/v1/responses/" + three.text("id")).status, 200);
  EXPECT_THAT(texts(items(id)), ElementsAre("b", "One."));
}

TEST_F(ConversationsApi, MetadataIsReplacedAndTheConversationIsDeletedWithoutItsResponses) {
  start();
  const std::string id = make(kTwoItems);
  const Answer changed = call("POST", path_of(id), R"({"metadata":{"k":"v"}})");
  EXPECT_EQ(json_at(changed.json, "metadata"), Json(JsonObject{{"k", "v"}})) << changed.body;
  restart();
  EXPECT_EQ(call("GET", path_of(id)).json, changed.json);
  const Answer response = respond(id, "a");
  const Answer gone = call("DELETE", path_of(id));
  EXPECT_EQ(gone.text("object"), "conversation.deleted") << gone.body;
  EXPECT_EQ(call("GET", path_of(id)).status, 404);
  EXPECT_EQ(respond(id, "b").status, 404);
  EXPECT_EQ(call("GET", "/v1/responses/" + response.text("id")).status, 200);
}

TEST_F(ConversationsApi, AnotherPrincipalFindsNothing) {
  start();
  const std::string id = make(kTwoItems, kAnna);
  const std::string item = json_string(json_at(items(id).json, "data").at(0), "id");
  const std::vector<std::pair<const char*, std::string>> requests{{"GET", ""},
                                                                  {"POST", ""},
                                                                  {"DELETE", ""},
                                                                  {"GET", "/items"},
                                                                  {"POST", "/items"},
                                                                  {"GET", "/items/" + item},
                                                                  {"DELETE", "/items/" + item}};
  for (const auto& [method, rest] : requests) {
    const std::string body = std::string_view(method) != "POST" ? ""
                             : rest.empty()                     ? R"({"metadata":{}})"
                                            : R"({"items":[{"role":"user","content":"x"}]})";
    const Answer theirs = call(method, path_of(id, rest), body, kBert);
    EXPECT_EQ(theirs.status, 404) << method << rest;
    EXPECT_EQ(call(method, path_of("conv_none", rest), body, kBert).status, 404);
  }
  EXPECT_EQ(respond(id, "x", kBert).status, 404);
  EXPECT_EQ(respond(id, "x", kAnna).status, 200);
  EXPECT_EQ(call("GET", path_of("conv_" + create("chat"))).status, 404) << "a run that is no conversation";
}

TEST_F(ConversationsApi, SecondResponseAtOnceIsAConflict) {
  start();
  const std::string id = make();
  const Answer first =
      call("POST", "/v1/responses",
           R"({"model":"slow","conversation":")" + id + R"(","input":"a","background":true})");
  ASSERT_EQ(first.status, 200) << first.body;
  const Answer second = respond(id, "b");
  EXPECT_EQ(second.status, 409) << second.body;
  EXPECT_THAT(second.body, HasSubstr("has not ended"));
  EXPECT_EQ(call("POST", "/v1/responses/" + first.text("id") + "/cancel").text("status"), "cancelled");
  EXPECT_EQ(respond(id, "b").status, 200);
  EXPECT_THAT(texts(items(id)), ElementsAre("a", "b", "Hello there."));
}

TEST_F(ConversationsApi, ManyResponsesAtOnceLeaveThoseThatWereAnswered) {
  std::string lines;
  for (int i = 0; i < 6; ++i) lines += "{\"text\":\"Hello there.\"}\n";
  script("chat", lines);
  start();
  const std::string id = make();
  std::vector<int> statuses(6);
  {
    std::vector<std::jthread> clients;
    for (int& status : statuses) clients.emplace_back([&] { status = respond(id, "a").status; });
  }
  const auto answered = std::ranges::count(statuses, 200);
  EXPECT_GE(answered, 1);
  EXPECT_EQ(answered + std::ranges::count(statuses, 409), std::ssize(statuses));
  EXPECT_EQ(std::ssize(texts(items(id))), 2 * answered);
}

TEST_F(ConversationsApi, RequestWithTheSameKeyIsOneResponse) {
  start();
  const std::string id = make();
  const std::string body = R"({"model":"chat","conversation":")" + id + R"(","input":"a"})";
  const auto post = [&](const std::string& text) {
    return call("POST", "/v1/responses", text, kOwner, "Idempotency-Key: k1\r\n");
  };
  const Answer once = post(body);
  EXPECT_EQ(post(body).json, once.json);
  EXPECT_THAT(texts(items(id)), ElementsAre("a", "Hello there."));
  EXPECT_EQ(post(R"({"model":"chat","conversation":")" + id + R"(","input":"b"})").status, 409);
}

// ---- people and tools

TEST_F(ConversationsApi, DecidedStepsAreItems) {
  asking_agent();
  start();
  const std::string id = make();
  const Answer waits =
      call("POST", "/v1/responses", R"({"model":"ask","input":"a","conversation":")" + id + "\"}");
  EXPECT_THAT(respond(id, "b").body, HasSubstr("mcp_approval_response")) << "it waits";
  const std::string request = json_string(json_at(waits.json, "output").as_array().back(), "id");
  const std::string decision = R"("input":[{"type":"mcp_approval_response","approve":true,)"
                               R"("approval_request_id":")" +
                               request + "\"}]}";
  const Answer wrong = call("POST", "/v1/responses", R"({"conversation":")" + make() + "\"," + decision);
  EXPECT_EQ(wrong.status, 400) << wrong.body;
  const Answer done = call("POST", "/v1/responses", R"({"conversation":")" + id + "\"," + decision);
  EXPECT_EQ(json_string(json_at(done.json, "conversation"), "id"), id) << done.body;
  restart();
  EXPECT_THAT(texts(items(id)), ElementsAre("a", "May I?", "mcp_approval_request", "mcp_approval_response",
                                            "mcp_call", "Done."));
  const Answer next = respond(id, "b");
  EXPECT_EQ(next.status, 200) << next.body;
  EXPECT_THAT(read_by(next), HasSubstr("Done."));
}

TEST_F(ConversationsApi, CallsOfTheClientsToolsAndTheirOutputsAreItems) {
  script("weather",
         "{\"tool_calls\":[{\"name\":\"weather\",\"arguments\":{\"city\":\"Paris\"}},"
         "{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}]}\n{\"text\":\"Warm.\"}");
  agent("weather", "");
  start();
  const std::string id = make();
  const std::string same =
      R"({"model":"weather","conversation":")" + id +
      R"(","tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}],"input":)";
  const Answer called = call("POST", "/v1/responses", same + R"("Where is it warm?"})");
  std::string outputs;
  for (const Json& item : json_at(called.json, "output").as_array()) {
    outputs += (outputs.empty() ? "" : ",") + (R"({"type":"function_call_output","call_id":")" +
                                               json_string(item, "call_id") + R"(","output":"20 degrees"})");
  }
  const Answer done = call("POST", "/v1/responses", same + "[" + outputs + "]}");
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_THAT(texts(items(id)), ElementsAre("Where is it warm?", "function_call", "function_call",
                                            "function_call_output", "function_call_output", "Warm."));
  const Answer next = respond(id, "b");
  EXPECT_EQ(next.status, 200) << next.body;
  EXPECT_THAT(read_by(next), HasSubstr("20 degrees"));
}

// ---- what is wrong

TEST_F(ConversationsApi, WrongRequestsNameTheMemberAndLeaveNothing) {
  start();
  const std::string id = make();
  const std::size_t before = call("GET", "/api/v1/runs/" + id.substr(5) + "/records").body.size();
  const auto refused = [&](const std::string& path, const std::string& body, const std::string& param) {
    const Answer answer = call("POST", path, body);
    EXPECT_EQ(answer.status, 400) << body << '\n' << answer.body;
    EXPECT_EQ(json_string(json_at(answer.json, "error"), "param"), param) << body;
  };
  for (const std::string& path : {std::string(kPath), path_of(id, "/items")}) {
    refused(path, R"({"items":7})", "items");
    refused(path, R"({"items":["x"]})", "items[0]");
    refused(path, R"({"items":[{"role":"narrator","content":"x"}]})", "items[0].role");
    refused(path, R"({"items":[{"type":"computer_call"}]})", "items[0].type");
    refused(path, R"({"items":[],"more":1})", "more");
  }
  refused(path_of(id, "/items"), R"({"items":[]})", "items");
  refused(path_of(id), "{}", "metadata");
  refused(kPath, R"({"metadata":{"k":1}})", "metadata");
  const std::string response = "/v1/responses";
  refused(response, R"({"model":"chat","input":"x","conversation":7})", "conversation");
  refused(response, R"({"model":"chat","input":"x","conversation":{}})", "conversation");
  refused(response, R"({"input":"x","conversation":")" + id + "\"}", "model");
  refused(response, R"({"input":"x","previous_response_id":"resp_x~t1","conversation":")" + id + "\"}",
          "previous_response_id");
  EXPECT_EQ(respond("conv_none", "x").status, 404);
  EXPECT_EQ(call("POST", response, R"({"model":"none","input":"x","conversation":")" + id + "\"}").status,
            404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + id.substr(5) + "/records").body.size(), before);
}

TEST_F(ConversationsApi, RunThatHoldsItTakesNoTurn) {
  start();
  const std::string id = make(kTwoItems);
  const Answer sent = call("POST", "/api/v1/runs/" + id.substr(5) + "/messages", R"({"prompt":"x"})");
  EXPECT_EQ(sent.status, 409) << sent.body;
  EXPECT_EQ(texts(items(id)).size(), 2U);
}

}  // namespace
}  // namespace praxis::server
