// Agents as tasks over MCP: a task is a run, which survives the server and waits for people as a run does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/testing/served.hpp"
#include "server/testing/stateless_mcp.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

class ServedMcpTasks : public ServerTest {
 protected:
  static JsonObject capabilities(bool forms = true) {
    JsonObject all{{"extensions", JsonObject{{"io.modelcontextprotocol/tasks", JsonObject{}}}}};
    if (forms) all["elicitation"] = JsonObject{{"form", JsonObject{}}};
    return all;
  }
  Answer ask(const std::string& method, const JsonObject& params, const std::string& name,
             std::string_view token = kOwner, const JsonObject& with = capabilities()) const {
    return call("POST", "/mcp", stateless_body(method, params, "2026-07-28", with), token,
                stateless_headers(method, name));
  }
  /// The id of the task of a new call.
  std::string begin(const std::string& agent) const {
    const Answer answer =
        ask("tools/call", {{"name", agent}, {"arguments", JsonObject{{"prompt", "hi"}}}}, agent);
    EXPECT_EQ(text_in(answer, "resultType"), "task") << answer.body;
    // A quick run has got further when the answer is written.
    EXPECT_THAT(text_in(answer, "status"), AnyOf("working", "input_required", "completed")) << answer.body;
    return text_in(answer, "taskId");
  }
  Answer about(const std::string& method, const std::string& task, JsonObject more = {},
               std::string_view token = kOwner) const {
    more["taskId"] = task;
    return ask(method, more, task, token);
  }
  static std::string text_in(const Answer& answer, const char* member) {
    return json_string(json_at(answer.json, "result"), member);
  }
  static std::int64_t error_in(const Answer& answer) {
    return json_int(json_at(answer.json, "error"), "code", 0);
  }
  /// Asks for the task until it has this status.
  Answer task_when(const std::string& task, const std::string& status) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    Answer answer = about("tasks/get", task);
    while (text_in(answer, "status") != status && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      answer = about("tasks/get", task);
    }
    EXPECT_EQ(text_in(answer, "status"), status) << answer.body;
    return answer;
  }
  void asking_agent() {
    script("asker",
           "{\"tool_calls\":[{\"name\":\"kv\",\"arguments\":{\"op\":\"get\",\"key\":\"k\"}}]}\n"
           "{\"text\":\"Done.\"}\n");
    agent("asker", "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  }
};

TEST_F(ServedMcpTasks, ClientThatTakesTasksGetsOneForACall) {
  start();
  const Answer found = ask("server/discover", {}, {});
  EXPECT_THAT(found.body, HasSubstr(R"("extensions":{"io.modelcontextprotocol/tasks":{}})"));
  const std::string task = begin("chat");
  const Answer done = task_when(task, "completed");
  EXPECT_EQ(text_in(done, "resultType"), "complete");
  EXPECT_THAT(done.body, AllOf(HasSubstr("Hello there."), HasSubstr(R"("isError":false)"), HasSubstr(task)));
  EXPECT_EQ(call("GET", "/api/v1/runs/" + task).status, 200) << "a task is a run";
}

TEST_F(ServedMcpTasks, OthersGetTheAnswerAndMayNotAskForTasks) {
  start();
  const JsonObject params{{"name", "chat"}, {"arguments", JsonObject{{"prompt", "hi"}}}};
  const Answer answer = ask("tools/call", params, "chat", kOwner, {});
  EXPECT_EQ(text_in(answer, "resultType"), "complete") << answer.body;
  const std::string task = begin("chat");
  const Answer refused = ask("tasks/get", {{"taskId", task}}, task, kOwner, {});
  EXPECT_EQ(error_in(refused), -32021);
  EXPECT_THAT(refused.body,
              HasSubstr(R"("requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks")"));
}

TEST_F(ServedMcpTasks, TaskSurvivesARestart) {
  script("later", R"({"text":"At last.","delay_ms":300})");
  agent("later", "");
  start();
  const std::string task = begin("later");
  restart();
  EXPECT_THAT(task_when(task, "completed").body, HasSubstr("At last."));
}

TEST_F(ServedMcpTasks, WaitingTaskAsksAndTheAnswerDecides) {
  asking_agent();
  start();
  for (const char* word : {"allow", "deny"}) {
    const std::string task = begin("asker");
    const Answer waits = task_when(task, "input_required");
    const auto* asks = json_at(json_at(waits.json, "result"), "inputRequests").if_object();
    ASSERT_TRUE(asks != nullptr && asks->size() == 1) << waits.body;
    EXPECT_THAT(waits.body, AllOf(HasSubstr("elicitation/create"), HasSubstr(R"(kv {\"op\":\"get\")")));
    const std::string step(asks->begin()->key());
    const auto answers = [&](const std::string& name, const Json& content) {
      return JsonObject{
          {"inputResponses", JsonObject{{name, JsonObject{{"action", "accept"}, {"content", content}}}}}};
    };
    EXPECT_EQ(about("tasks/update", task, answers("other/p1", JsonObject{{"decision", "allow"}})).status,
              200);
    EXPECT_EQ(about("tasks/update", task, answers(step, JsonObject{{"decision", "perhaps"}})).status, 200);
    EXPECT_EQ(text_in(about("tasks/get", task), "status"), "input_required") << "that was no decision";
    EXPECT_EQ(
        about("tasks/update", task, answers(step, JsonObject{{"decision", word}, {"reason", "no"}})).status,
        200);
    EXPECT_THAT(task_when(task, "completed").body, HasSubstr("Done."));
    const std::string records = call("GET", "/api/v1/runs/" + task + "/records").body;
    EXPECT_THAT(records, HasSubstr(R"("verb":")" + std::string(word) + '"'));
  }
}

TEST_F(ServedMcpTasks, ClientWithoutFormsSeesTheTaskWork) {
  asking_agent();
  start();
  const std::string task = begin("asker");
  task_when(task, "input_required");
  const Answer seen = ask("tasks/get", {{"taskId", task}}, task, kOwner, capabilities(false));
  EXPECT_EQ(text_in(seen, "status"), "working");
  EXPECT_THAT(seen.body, AllOf(HasSubstr("waits for a human"), Not(HasSubstr("inputRequests"))));
}

TEST_F(ServedMcpTasks, CancelStopsTheRun) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  const std::string task = begin("live");
  EXPECT_EQ(text_in(about("tasks/cancel", task), "resultType"), "complete");
  task_when(task, "cancelled");
  EXPECT_EQ(about("tasks/cancel", task).status, 200) << "an end is an end";
  model.end();
}

TEST_F(ServedMcpTasks, TasksOfOthersAreNotThere) {
  start();
  const std::string task = begin("chat");
  const Answer foreign = about("tasks/get", task, {}, kAnna);
  EXPECT_EQ(error_in(foreign), kRpcInvalidParams) << foreign.body;
  EXPECT_THAT(foreign.body, HasSubstr("there is no task"));
  for (const char* method : {"tasks/cancel", "tasks/update"}) {
    EXPECT_EQ(error_in(about(method, task, {{"inputResponses", JsonObject{}}}, kAnna)), kRpcInvalidParams);
    EXPECT_EQ(error_in(about(method, "x", {{"inputResponses", JsonObject{}}})), kRpcInvalidParams);
  }
  EXPECT_EQ(error_in(about("tasks/list", task)), kRpcUnknownMethod);
  const JsonObject params{{"taskId", task}};
  EXPECT_EQ(error_in(ask("tasks/get", params, "another")), kRpcHeaderMismatch);
}

}  // namespace
}  // namespace praxis::server
