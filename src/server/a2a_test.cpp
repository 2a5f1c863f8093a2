// A2A 1.0 over the server. scripts/check-clients tries the same with the client of that protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/a2a_client.hpp"
#include "server/testing/a2a_shapes.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing;

class A2a : public A2aClientTest {
 protected:
  static std::string message(const std::string& text, const std::string& more = {},
                             const std::string& configuration = "{}") {
    return R"({"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":")" + text + R"("}])" + more +
           R"(},"configuration":)" + configuration + "}";
  }
  static std::string to_task(const Json& task) { return R"(,"taskId":")" + json_string(task, "id") + "\""; }
  static std::string id_of(const Json& task) { return R"({"id":")" + json_string(task, "id") + R"("})"; }

  /// The task in an answer of either binding, after a look at its form.
  static Json task_of(const Answer& answer) {
    const Json& result = json_at(answer.json, "result");
    const Json& body = result.is_null() ? answer.json : result;
    const Json& inner = json_at(body, "task");
    Json task = inner.is_null() ? body : inner;
    EXPECT_EQ(a2a_mistakes("Task", task), "") << answer.body;
    return task;
  }
  static std::string state_of(const Json& task) { return json_string(json_at(task, "status"), "state"); }
  static std::string reason_of(const Answer& answer) {
    const Json& error = json_at(answer.json, "error");
    const Json& details = json_at(error, json_at(error, "data").is_null() ? "details" : "data");
    return details.is_array() && !details.get_array().empty() ? json_string(details.get_array()[0], "reason")
                                                              : "";
  }
  static std::string artifact_of(const Json& task) {
    const auto* all = json_at(task, "artifacts").if_array();
    return all == nullptr || all->empty() ? "" : json_string(json_at(all->front(), "parts").at(0), "text");
  }

  /// The events of a stream, each looked at.
  static std::vector<Json> updates_of(const Answer& answer) {
    std::vector<Json> updates;
    for (const Sent& sent : events_in("\r\n\r\n" + answer.body)) {
      const Json data = parse_json(sent.data).value_or(nullptr);
      const Json& result = json_at(data, "result");
      updates.push_back(result.is_null() ? data : result);
      EXPECT_EQ(a2a_mistakes("StreamResponse", updates.back()), "") << sent.data;
    }
    return updates;
  }
  static std::vector<std::string> states_of(const std::vector<Json>& updates) {
    std::vector<std::string> states;
    for (const Json& update : updates) {
      for (const char* kind : {"task", "statusUpdate"}) {
        if (const Json& at = json_at(update, kind); !at.is_null()) states.push_back(state_of(at).substr(11));
      }
    }
    return states;
  }
  /// What a client has of the answer that follows the updates.
  static std::string streamed_text(const std::vector<Json>& updates) {
    std::string text;
    for (const Json& update : updates) {
      const Json& change = json_at(update, "artifactUpdate");
      if (change.is_null()) continue;
      if (!json_bool(change, "append")) text.clear();
      text += json_string(json_at(json_at(change, "artifact"), "parts").at(0), "text");
    }
    return text;
  }
};

// ---- cards

TEST_F(A2a, CardOfTheServerNamesNoAgent) {
  start();
  const Answer open = call("GET", "/.well-known/agent-card.json", {}, "");
  EXPECT_EQ(open.status, 200);
  EXPECT_EQ(a2a_mistakes("AgentCard", open.json), "") << open.body;
  EXPECT_THAT(open.body, Not(HasSubstr("chat")));
  EXPECT_THAT(open.head, HasSubstr("ETag: \""));
  const Json& interfaces = json_at(open.json, "supportedInterfaces");
  ASSERT_THAT(interfaces.as_array(), SizeIs(2));
  EXPECT_EQ(json_string(interfaces.at(0), "protocolBinding"), "JSONRPC");
  EXPECT_EQ(json_string(interfaces.at(1), "protocolBinding"), "HTTP+JSON");
  EXPECT_EQ(json_string(interfaces.at(1), "url"), "http://localhost/a2a/default");
}

TEST_F(A2a, CardsOfAgentsNeedAToken) {
  agent("chat", "description = \"Talks\"\n");
  start();
  EXPECT_EQ(call("GET", "/a2a/chat/.well-known/agent-card.json", {}, "").status, 401);
  const Answer own = call("GET", "/a2a/chat/.well-known/agent-card.json");
  EXPECT_EQ(a2a_mistakes("AgentCard", own.json), "") << own.body;
  EXPECT_EQ(own.text("description"), "Talks");
  const Answer all = rest("GET", "default/extendedAgentCard");
  EXPECT_EQ(a2a_mistakes("AgentCard", all.json), "") << all.body;
  EXPECT_THAT(all.body, AllOf(HasSubstr("/a2a/chat"), HasSubstr("/a2a/slow")));
  EXPECT_EQ(a2a_mistakes("AgentCard", json_at(rpc("chat", "GetExtendedAgentCard", "{}").json, "result")), "");
  EXPECT_EQ(rest("GET", "missing/extendedAgentCard").status, 404);
}

// ---- messages

TEST_F(A2a, MessageIsATaskInBothBindings) {
  script("chat", "{\"text\":\"Hello there.\",\"chunk\":4}\n{\"text\":\"Hello there.\",\"chunk\":4}");
  start();
  for (const Answer& answer :
       {rest("POST", "chat/message:send", message("hi")), rpc("chat", "SendMessage", message("hi"))}) {
    const Json task = task_of(answer);
    EXPECT_EQ(state_of(task), "TASK_STATE_COMPLETED");
    EXPECT_EQ(artifact_of(task), "Hello there.");
    const Json& history = json_at(task, "history");
    ASSERT_THAT(history.as_array(), SizeIs(1));
    EXPECT_EQ(json_string(history.at(0), "messageId"), "m1") << "as the client called it";
    EXPECT_EQ(to_json_text(task_of(rpc("chat", "GetTask", id_of(task)))), to_json_text(task));
    EXPECT_EQ(to_json_text(task_of(rest("GET", "chat/tasks/" + json_string(task, "id")))),
              to_json_text(task));
    const Answer bare = rest("GET", "chat/tasks/" + json_string(task, "id") + "?historyLength=0");
    EXPECT_TRUE(json_at(bare.json, "history").is_null()) << bare.body;
  }
}

TEST_F(A2a, StreamBeginsWithTheTaskAndEndsWithItsState) {
  script("chat", "{\"text\":\"Hello there.\",\"chunk\":4}\n{\"text\":\"Hello there.\",\"chunk\":4}");
  start();
  for (const Answer& answer : {rest("POST", "chat/message:stream", message("hi")),
                               rpc("chat", "SendStreamingMessage", message("hi"))}) {
    EXPECT_THAT(answer.head, HasSubstr("text/event-stream"));
    const auto updates = updates_of(answer);
    EXPECT_THAT(states_of(updates), ElementsAre("WORKING", "COMPLETED"));
    EXPECT_FALSE(json_at(updates.front(), "task").is_null());
    EXPECT_EQ(streamed_text(updates), "Hello there.");
    EXPECT_TRUE(json_bool(json_at(updates[updates.size() - 2], "artifactUpdate"), "lastChunk"));
  }
}

TEST_F(A2a, TextBeforeACallIsNoAnswer) {
  asking_agent();
  agent("ask", "[tools.kv]\n");
  start();
  const auto updates = updates_of(rest("POST", "ask/message:stream", message("hi")));
  EXPECT_EQ(streamed_text(updates), "Done.");
  const Answer listed = rpc("ask", "ListTasks", R"({"includeArtifacts":true})");
  const Json task = json_at(json_at(listed.json, "result"), "tasks").at(0);
  EXPECT_EQ(artifact_of(task), "Done.");
  ASSERT_THAT(json_at(task, "history").as_array(), SizeIs(2));
  EXPECT_EQ(json_string(json_at(task, "history").at(1), "role"), "ROLE_AGENT");
}

TEST_F(A2a, StepThatWaitsAsksForInputAndSurvivesARestart) {
  asking_agent();
  start();
  const Json asked = task_of(rpc("ask", "SendMessage", message("hi")));
  EXPECT_EQ(state_of(asked), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_EQ(artifact_of(asked), "") << "text before a call is no answer";
  EXPECT_THAT(to_json_text(asked),
              AllOf(HasSubstr("before it calls kv"), HasSubstr(R"("decisions":["allow",)")));
  restart();
  const Json again = task_of(rpc("ask", "GetTask", id_of(asked)));
  EXPECT_EQ(state_of(again), "TASK_STATE_INPUT_REQUIRED");
  const Answer unclear = rpc("ask", "SendMessage", message("perhaps", to_task(asked)));
  EXPECT_EQ(json_int(json_at(unclear.json, "error"), "code"), -32602) << unclear.body;
  const auto updates = updates_of(rpc("ask", "SendStreamingMessage", message("allow", to_task(asked))));
  ASSERT_FALSE(states_of(updates).empty());
  EXPECT_EQ(states_of(updates).front(), "WORKING");
  EXPECT_EQ(states_of(updates).back(), "COMPLETED");
  EXPECT_EQ(streamed_text(updates), "Done.");
  EXPECT_EQ(artifact_of(task_of(rpc("ask", "GetTask", id_of(asked)))), "Done.");
}

TEST_F(A2a, DataDecidesAStep) {
  asking_agent();
  start();
  const Json asked = task_of(rpc("ask", "SendMessage", message("hi")));
  const Json& parts = json_at(json_at(json_at(asked, "status"), "message"), "parts");
  const std::string step = json_string(json_at(json_at(parts.at(1), "data"), "steps").at(0), "step");
  const std::string decision =
      R"({"message":{"messageId":"m2","role":"ROLE_USER","parts":[{"data":{"step":")" + step +
      R"(","decision":"edit","arguments":{"op":"put","key":"other","value":"v"}}}])" + to_task(asked) + "}}";
  EXPECT_EQ(state_of(task_of(rest("POST", "ask/message:send", decision))), "TASK_STATE_COMPLETED");
  const std::string run = json_string(asked, "contextId");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/messages").body, HasSubstr("other"));
}

TEST_F(A2a, ContextGoesOnWithTheNextTask) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}");
  start();
  const Json first = task_of(rpc("chat", "SendMessage", message("hi")));
  const std::string context = R"(,"contextId":")" + json_string(first, "contextId") + "\"";
  const Json second = task_of(rpc("chat", "SendMessage", message("and", context)));
  EXPECT_EQ(json_string(second, "contextId"), json_string(first, "contextId"));
  EXPECT_NE(json_string(second, "id"), json_string(first, "id"));
  EXPECT_EQ(artifact_of(second), "Two.");
  EXPECT_EQ(artifact_of(task_of(rpc("chat", "GetTask", id_of(first)))), "One.");
  EXPECT_EQ(reason_of(rpc("chat", "SendMessage", message("more", to_task(first)))), "UNSUPPORTED_OPERATION");
  const Json named = task_of(rpc("chat", "SendMessage", message("hi", R"(,"contextId":"of mine")")));
  EXPECT_EQ(json_string(named, "contextId"), "of mine");
  restart();
  const Json next = task_of(rpc("chat", "SendMessage", message("and", R"(,"contextId":"of mine")")));
  EXPECT_EQ(json_string(next, "contextId"), "of mine");
  EXPECT_EQ(json_string(next, "id"),
            json_string(named, "id").substr(0, json_string(named, "id").size() - 1) + "2");
}

TEST_F(A2a, MessageReachesATaskThatWorks) {
  start();
  const std::string at_once = R"({"returnImmediately":true})";
  const Json task = task_of(rpc("slow", "SendMessage", message("hi", "", at_once)));
  EXPECT_EQ(state_of(task), "TASK_STATE_WORKING");
  const Json same = task_of(rpc("slow", "SendMessage", message("Faster.", to_task(task), at_once)));
  EXPECT_EQ(json_string(same, "id"), json_string(task, "id"));
  const std::string run = json_string(task, "contextId");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/records").body, HasSubstr("Faster."));
}

// ---- tasks

TEST_F(A2a, CancelStopsATaskThatWorksOrWaits) {
  asking_agent();
  start();
  const Json works = task_of(rpc("slow", "SendMessage", message("hi", "", R"({"returnImmediately":true})")));
  EXPECT_EQ(state_of(task_of(rpc("slow", "CancelTask", id_of(works)))), "TASK_STATE_CANCELED");
  EXPECT_EQ(reason_of(rpc("slow", "CancelTask", id_of(works))), "TASK_NOT_CANCELABLE");
  const Json waits = task_of(rpc("ask", "SendMessage", message("hi")));
  restart();
  const Answer stopped = rest("POST", "ask/tasks/" + json_string(waits, "id") + ":cancel");
  EXPECT_EQ(state_of(task_of(stopped)), "TASK_STATE_CANCELED");
  EXPECT_EQ(state_of(task_of(rpc("ask", "GetTask", id_of(waits)))), "TASK_STATE_CANCELED");
}

TEST_F(A2a, SubscriptionShowsTheTaskThenWhatHappens) {
  asking_agent();
  start();
  const Json waits = task_of(rpc("ask", "SendMessage", message("hi")));
  const auto shown = updates_of(rpc("ask", "SubscribeToTask", id_of(waits)));
  EXPECT_THAT(states_of(shown), ElementsAre("INPUT_REQUIRED", "INPUT_REQUIRED"));
  const Json works = task_of(rpc("slow", "SendMessage", message("hi", "", R"({"returnImmediately":true})")));
  RawClient client(server_->port());
  client.send(request("GET", "/a2a/slow/tasks/" + json_string(works, "id") + ":subscribe", {}, kOwner,
                      kVersionHeader));
  EXPECT_THAT(client.read_until("TASK_STATE_WORKING"), HasSubstr(R"({"task":{"id":)"));
  EXPECT_EQ(state_of(task_of(rpc("slow", "CancelTask", id_of(works)))), "TASK_STATE_CANCELED");
  EXPECT_THAT(client.read_until("TASK_STATE_CANCELED"), HasSubstr(R"({"statusUpdate":{)"));
  EXPECT_EQ(reason_of(rpc("slow", "SubscribeToTask", id_of(works))), "UNSUPPORTED_OPERATION");
}

TEST_F(A2a, ListIsOfTheAgentAndThePrincipal) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}\n{\"text\":\"Three.\"}");
  asking_agent();
  start();
  rpc("chat", "SendMessage", message("a"), kAnna);
  rpc("chat", "SendMessage", message("b"), kAnna);
  rpc("chat", "SendMessage", message("c"), kBert);
  rpc("ask", "SendMessage", message("d"), kAnna);
  const Answer all = rpc("chat", "ListTasks", "{}", kAnna);
  const Json& list = json_at(all.json, "result");
  EXPECT_EQ(a2a_mistakes("ListTasksResponse", list), "") << all.body;
  ASSERT_THAT(json_at(list, "tasks").as_array(), SizeIs(2));
  EXPECT_EQ(json_string(list, "nextPageToken"), "");
  EXPECT_THAT(to_json_text(list), Not(HasSubstr("artifacts")));
  const Answer page = rest("GET", "chat/tasks?pageSize=1", {}, kAnna);
  EXPECT_EQ(json_int(page.json, "totalSize"), 2);
  EXPECT_EQ(to_json_text(json_at(page.json, "tasks").at(0)), to_json_text(json_at(list, "tasks").at(0)));
  const Answer next = rest("GET", "chat/tasks?pageSize=1&pageToken=" + page.text("nextPageToken"), {}, kAnna);
  EXPECT_EQ(to_json_text(json_at(next.json, "tasks").at(0)), to_json_text(json_at(list, "tasks").at(1)));
  EXPECT_EQ(next.text("nextPageToken"), "");
  const Answer waiting = rest("GET", "default/tasks?status=TASK_STATE_INPUT_REQUIRED", {}, kAnna);
  EXPECT_EQ(json_int(waiting.json, "totalSize"), 1) << waiting.body;
  const Json of_anna = json_at(list, "tasks").at(0);
  EXPECT_EQ(reason_of(rpc("chat", "GetTask", id_of(of_anna), kBert)), "TASK_NOT_FOUND");
  EXPECT_EQ(reason_of(rpc("ask", "GetTask", id_of(of_anna), kAnna)), "TASK_NOT_FOUND") << "of another agent";
}

// ---- errors

TEST_F(A2a, ErrorsHaveTheCodesOfBothBindings) {
  start();
  const std::string push = R"({"taskId":"x","url":"https://example.com/"})";
  struct Case {
    std::string method, params, path, reason;
    int rpc, http;
  };
  const std::vector<Case> cases{
      {"GetTask", R"({"id":"x~t1"})", "GET tasks/x~t1", "TASK_NOT_FOUND", -32001, 404},
      {"CancelTask", R"({"id":"x~t1"})", "POST tasks/x~t1:cancel", "TASK_NOT_FOUND", -32001, 404},
      {"SubscribeToTask", R"({"id":"x~t1"})", "POST tasks/x~t1:subscribe", "TASK_NOT_FOUND", -32001, 404},
      {"CreateTaskPushNotificationConfig", push, "POST tasks/x/pushNotificationConfigs",
       "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400},
      {"GetTaskPushNotificationConfig", R"({"taskId":"x","id":"y"})", "GET tasks/x/pushNotificationConfigs/y",
       "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400},
      {"ListTaskPushNotificationConfigs", R"({"taskId":"x"})", "GET tasks/x/pushNotificationConfigs",
       "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400},
      {"DeleteTaskPushNotificationConfig", R"({"taskId":"x","id":"y"})",
       "DELETE tasks/x/pushNotificationConfigs/y", "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400},
      {"SendMessage", message("hi", "", R"({"taskPushNotificationConfig":{"url":"https://example.com/"}})"),
       "POST message:send", "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400},
      {"SendMessage",
       R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"url":"https://example.com/"}]}})",
       "POST message:send", "CONTENT_TYPE_NOT_SUPPORTED", -32005, 400},
      {"SendMessage", R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[]}})", "POST message:send",
       "", -32602, 400},
      {"SendMessage", R"({"message":{"role":"ROLE_USER","parts":[{"text":"hi"}]}})", "POST message:send", "",
       -32602, 400},
      {"ListTasks", R"({"pageSize":101})", "GET tasks?pageSize=101", "", -32602, 400},
      {"ListTasks", R"({"status":"TASK_STATE_RUNNING"})", "GET tasks?status=TASK_STATE_RUNNING", "", -32602,
       400},
  };
  for (const Case& each : cases) {
    const Answer by_rpc = rpc("chat", each.method, each.params);
    EXPECT_EQ(by_rpc.status, 200);
    EXPECT_EQ(json_int(json_at(by_rpc.json, "error"), "code"), each.rpc) << by_rpc.body;
    EXPECT_EQ(json_int(by_rpc.json, "id"), 7);
    const std::size_t space = each.path.find(' ');
    const Answer by_rest =
        rest(each.path.substr(0, space), "chat/" + each.path.substr(space + 1), each.params);
    EXPECT_EQ(by_rest.status, each.http) << by_rest.body;
    EXPECT_EQ(json_int(json_at(by_rest.json, "error"), "code"), each.http) << by_rest.body;
    for (const Answer* answer : {&by_rpc, &by_rest})
      EXPECT_EQ(reason_of(*answer), each.reason) << answer->body;
  }
}

TEST_F(A2a, OtherVersionsAndMalformedRequestsAreRefused) {
  start();
  const std::string send =
      R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":)" + message("hi") + "}";
  const Answer silent = call("POST", "/a2a/chat", send);
  EXPECT_EQ(json_int(json_at(silent.json, "error"), "code"), -32009) << silent.body;
  EXPECT_EQ(reason_of(call("GET", "/a2a/chat/tasks", {}, kOwner, "A2A-Version: 0.3\r\n")),
            "VERSION_NOT_SUPPORTED");
  EXPECT_EQ(call("GET", "/a2a/chat/tasks?A2A-Version=1.0").status, 200);
  const std::vector<std::pair<std::string, int>> cases{
      {"{", -32700},
      {"[]", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"GetTask"})", -32600},
      {R"({"jsonrpc":"2.0","method":"GetTask"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"message/send"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]})", -32602}};
  for (const auto& [body, code] : cases) {
    const Answer answer = call("POST", "/a2a/chat", body, kOwner, kVersionHeader);
    EXPECT_EQ(json_int(json_at(answer.json, "error"), "code"), code) << body << answer.body;
  }
  const Answer stranger = rest("GET", "chat/tasks", {}, "");
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(json_string(json_at(stranger.json, "error"), "status"), "UNAUTHENTICATED");
  EXPECT_THAT(stranger.head, HasSubstr("WWW-Authenticate: Bearer"));
}

}  // namespace
}  // namespace praxis::server
