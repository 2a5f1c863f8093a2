// The C interface as a program uses it: through praxis.h and the shared library alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capi/testing/capi_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(CApiTest, RunGivesItsEventsAndItsReport) {
  const praxis_run run = start(agent({R"({"text":"Hello there."})"}), "hi");
  const std::string all = events(run);
  EXPECT_THAT(all, HasSubstr(R"("event":"assistant.text")"));
  EXPECT_THAT(all, HasSubstr(R"("event":"turn.completed")"));
  Given event;
  EXPECT_EQ(praxis_run_next(run, -1, event.out()), PRAXIS_END) << "an event came twice";
  EXPECT_THAT(result(run), HasSubstr(R"("result":"Hello there.")"));
  EXPECT_THAT(result(run), HasSubstr(R"("success":true)"));
  EXPECT_EQ(praxis_abi_version(), static_cast<unsigned>(PRAXIS_ABI_VERSION));
}

TEST_F(CApiTest, SessionHoldsAConversation) {
  praxis_session session = 0;
  const praxis_agent own = agent({R"({"text":"one"})", R"({"text":"two"})"});
  ASSERT_EQ(praxis_session_create(own, R"({"metadata":{"a":1}})", &session), PRAXIS_OK) << last_error();
  praxis_run run = 0;
  ASSERT_EQ(praxis_session_send(session, "first", nullptr, &run), PRAXIS_OK);
  EXPECT_THAT(result(run), HasSubstr(R"("result":"one")"));
  ASSERT_EQ(praxis_session_send(run, "second", nullptr, &run), PRAXIS_OK) << "a run stands for its session";
  EXPECT_THAT(result(run), HasSubstr(R"("result":"two")"));
  Given text;
  ASSERT_EQ(praxis_session_messages(session, text.out()), PRAXIS_OK);
  EXPECT_THAT(text.str(), HasSubstr("first"));
  EXPECT_THAT(text.str(), HasSubstr("two"));
  ASSERT_EQ(praxis_session_describe(session, text.out()), PRAXIS_OK);
  EXPECT_THAT(text.str(), HasSubstr(R"("status":"completed")"));
}

TEST_F(CApiTest, ModelReadsWhatTheToolReturns) {
  std::string seen, facts;
  LambdaTool& tool = lambda([&](praxis_call call, const char* arguments) {
    seen = arguments;
    Given text;
    EXPECT_EQ(praxis_call_describe(call, text.out()), PRAXIS_OK);
    facts = text.str();
    EXPECT_EQ(praxis_call_progress(call, "half", 0.5), PRAXIS_OK);
    EXPECT_EQ(praxis_call_stopped(call), 0);
    EXPECT_EQ(praxis_call_return(call, R"({"sum":5})"), PRAXIS_OK);
    EXPECT_EQ(praxis_call_return(call, "6"), PRAXIS_INPUT) << "a call has one result";
    return 0;
  });
  const praxis_run run = start(agent_with(tool));
  const std::string all = events(run);
  EXPECT_EQ(seen, R"({"n":1})");
  EXPECT_THAT(facts, HasSubstr(R"("attempt":1)"));
  EXPECT_THAT(all, HasSubstr(R"("event":"tool.progress")"));
  EXPECT_THAT(all, HasSubstr(R"("value":{"sum":5})"));
  EXPECT_THAT(result(run), HasSubstr(R"("result":"done")"));
}

TEST_F(CApiTest, FailingFunctions_FailTheCallAndNotTheRun) {
  const std::vector<std::pair<std::function<int(praxis_call, const char*)>, std::string>> cases{
      {[](praxis_call, const char*) -> int { throw std::runtime_error("went wrong"); }, "went wrong"},
      {[](praxis_call, const char*) -> int { throw 7; }, "no std::exception"},
      {[](praxis_call, const char*) { return 3; }, "returned 3"},
      {[](praxis_call, const char*) { return 0; }, "without a result"},
      {[](praxis_call call, const char*) { return static_cast<int>(praxis_call_fail(call, "no luck", 0)); },
       "no luck"},
      {[](praxis_call call, const char*) {
         praxis_call_return(call, "1");
         return 9;
       },
       "returned 9"}};
  for (const auto& [run_tool, why] : cases) {
    LambdaTool& tool = lambda(run_tool);
    const praxis_run run = start(agent_with(tool));
    const std::string all = events(run);
    EXPECT_THAT(all, HasSubstr(R"("event":"tool.failed")")) << why;
    EXPECT_THAT(all, HasSubstr(why));
    EXPECT_THAT(result(run), HasSubstr(R"("result":"done")")) << why;
  }
}

TEST_F(CApiTest, CallHandle_EndsWithItsFunction) {
  praxis_call kept = 0;
  LambdaTool& tool = lambda([&](praxis_call call, const char*) {
    kept = call;
    return static_cast<int>(praxis_call_return(call, "1"));
  });
  result(start(agent_with(tool)));
  EXPECT_EQ(praxis_call_return(kept, "2"), PRAXIS_BAD_HANDLE);
  EXPECT_THAT(last_error(), HasSubstr("the handle of a call is closed already"));
  EXPECT_EQ(praxis_call_stopped(kept), 0);
}

TEST_F(CApiTest, ToolThatWouldWaitForItself_IsRefused) {
  praxis_run run = 0;
  std::promise<void> started;
  std::vector<int> statuses;
  LambdaTool& tool = lambda([&](praxis_call call, const char*) {
    started.get_future().wait();
    Given text;
    statuses = {praxis_run_result(run, -1, text.out()), praxis_run_next(run, -1, text.out()),
                praxis_runtime_stop(runtime_, 10), praxis_close(runtime_), praxis_close(call)};
    const praxis_agent other = agent({R"({"text":"of another run"})"});
    EXPECT_THAT(result(start(other)), HasSubstr("of another run")) << "other runs can be waited for";
    return static_cast<int>(praxis_call_return(call, "1"));
  });
  run = start(agent_with(tool));
  started.set_value();
  EXPECT_THAT(result(run), HasSubstr(R"("result":"done")"));
  EXPECT_EQ(statuses, std::vector<int>(5, PRAXIS_INPUT));
}

TEST_F(CApiTest, TimeIsUp_BeforeTheTurnEnds) {
  std::promise<void> go_on;
  LambdaTool& tool = lambda([&](praxis_call call, const char*) {
    go_on.get_future().wait();
    return static_cast<int>(praxis_call_return(call, "1"));
  });
  const praxis_run run = start(agent_with(tool));
  Given text;
  EXPECT_EQ(praxis_run_result(run, 0, text.out()), PRAXIS_TIMEOUT);
  EXPECT_EQ(text.str(), "(nothing)");
  EXPECT_EQ(last_error(), "(no error)");
  praxis_status status = PRAXIS_OK;
  while (status == PRAXIS_OK) status = praxis_run_next(run, 1, text.out());
  EXPECT_EQ(status, PRAXIS_TIMEOUT);
  go_on.set_value();
  EXPECT_THAT(events(run), HasSubstr(R"("event":"turn.completed")"));
}

TEST_F(CApiTest, InterruptedTurn_StopsItsTool) {
  std::promise<void> running;
  LambdaTool& tool = lambda([&](praxis_call call, const char*) {
    running.set_value();
    while (praxis_call_stopped(call) == 0) std::this_thread::yield();
    return static_cast<int>(praxis_call_fail(call, "stopped", 0));
  });
  const praxis_run run = start(agent_with(tool));
  running.get_future().wait();
  EXPECT_EQ(praxis_command(run, nullptr, "interrupt", nullptr), PRAXIS_OK) << last_error();
  EXPECT_THAT(result(run), HasSubstr(R"("status":"cancelled")"));
  EXPECT_EQ(praxis_command(run, nullptr, "explode", nullptr), PRAXIS_INPUT);
}

TEST_F(CApiTest, ParkedStep_IsDecided) {
  std::string seen;
  LambdaTool& tool = lambda([&](praxis_call call, const char* arguments) {
    seen = arguments;
    return static_cast<int>(praxis_call_return(call, "1"));
  });
  praxis_run run = start(agent_with(tool, R"(,"needs_approval":true)"));
  EXPECT_THAT(result(run), HasSubstr(R"("id":"p1")"));
  Given tree;
  ASSERT_EQ(praxis_tree(runtime_, nullptr, tree.out()), PRAXIS_OK) << last_error();
  EXPECT_THAT(tree.str(), HasSubstr(R"("status":"awaiting_user")"));
  for (const char* wrong : {"{}", R"({"decision":"perhaps"})", R"({"decision":"edit"})",
                            R"({"decision":"deny","arguments":{}})", R"({"decison":"allow"})", "allow"}) {
    EXPECT_EQ(praxis_decide(run, "p1", wrong), PRAXIS_INPUT) << wrong;
  }
  EXPECT_EQ(praxis_decide(run, "p9", R"({"decision":"allow"})"), PRAXIS_INPUT);
  praxis_run rest = 0;
  const char* const decisions = R"({"p1":{"decision":"edit","arguments":{"n":2}}})";
  ASSERT_EQ(praxis_session_resume(run, decisions, &rest), PRAXIS_OK) << last_error();
  EXPECT_THAT(result(rest), HasSubstr(R"("result":"done")"));
  EXPECT_EQ(seen, R"({"n":2})");
}

TEST_F(CApiTest, Journal_OutlivesTheRuntime) {
  const std::string options = R"({"journal":")" + (folder_ / "journal.db").string() + "\"}";
  praxis_runtime first = 0, second = 0;
  ASSERT_EQ(praxis_runtime_open(options.c_str(), &first), PRAXIS_OK) << last_error();
  const std::string description =
      R"({"model":")" + script({R"({"text":"one"})", R"({"text":"two"})"}) + "\"}";
  praxis_agent own = 0;
  praxis_run run = 0;
  ASSERT_EQ(praxis_agent_create(first, description.c_str(), &own), PRAXIS_OK) << last_error();
  ASSERT_EQ(praxis_agent_run(own, "hi", nullptr, &run), PRAXIS_OK);
  EXPECT_THAT(result(run), HasSubstr("one"));
  ASSERT_EQ(praxis_close(first), PRAXIS_OK) << last_error();
  Given text;
  for (const praxis_handle closed : {first, own, run})
    EXPECT_EQ(praxis_session_describe(closed, text.out()), PRAXIS_BAD_HANDLE);

  ASSERT_EQ(praxis_runtime_open(options.c_str(), &second), PRAXIS_OK) << last_error();
  ASSERT_EQ(praxis_agent_create(second, description.c_str(), &own), PRAXIS_OK) << last_error();
  praxis_session session = 0;
  ASSERT_EQ(praxis_session_open(own, "last", 0, &session), PRAXIS_OK) << last_error();
  ASSERT_EQ(praxis_session_send(session, "more", nullptr, &run), PRAXIS_OK);
  EXPECT_THAT(result(run), HasSubstr("two"));
  ASSERT_EQ(praxis_runs(second, R"({"status":"completed"})", 5, text.out()), PRAXIS_OK) << last_error();
  EXPECT_THAT(text.str(), HasSubstr(R"("title":"hi")"));
  ASSERT_EQ(praxis_state(second, "last", text.out()), PRAXIS_OK) << last_error();
  EXPECT_THAT(text.str(), HasSubstr(R"("messages":[)"));
  ASSERT_EQ(praxis_replay(second, "last", text.out()), PRAXIS_OK) << last_error();
  EXPECT_THAT(text.str(), HasSubstr(R"("identical":true)"));
  ASSERT_EQ(praxis_fork(second, "last", 0, text.out()), PRAXIS_OK) << last_error();
  ASSERT_EQ(praxis_runs(second, nullptr, 0, text.out()), PRAXIS_OK);
  EXPECT_NE(text.str().find("\"id\""), text.str().rfind("\"id\"")) << text.str();
  EXPECT_EQ(praxis_close(second), PRAXIS_OK);
}

TEST_F(CApiTest, AgentDescriptions_AreThoseOfAgentFiles) {
  const char* const odd =
      R"({"id":"odd","model":"openai:m","instructions":"a\"b\\c\n\t\u007f\u0001 \u00e4\ud83d\ude00",
    "options":{"temperature":0.5,"extra":{"a b":[1,[2.5,true],{"c":"d"}]}},"limits":{"timeout":"5s"},
    "policy":{"ask":["kv"]},"tools":{"kv":{}},"name":null})";
  praxis_agent made = 0;
  ASSERT_EQ(praxis_agent_create(runtime_, odd, &made), PRAXIS_OK) << last_error();
  Given text;
  ASSERT_EQ(praxis_agent_describe(made, text.out()), PRAXIS_OK);
  EXPECT_THAT(text.str(), HasSubstr("a\\\"b\\\\c\\n\\t\x7f\\u0001 \xC3\xA4\xF0\x9F\x98\x80"));
  EXPECT_THAT(text.str(), HasSubstr(R"({"a b":[1,[2.5,true],{"c":"d"}]})"));
  EXPECT_THAT(text.str(), HasSubstr(R"("timeout":5000)"));
  EXPECT_EQ(praxis_agent_create(runtime_, R"({"modell":"x"})", &made), PRAXIS_INPUT);
  EXPECT_THAT(last_error(), HasSubstr(R"("agent: unknown key \"modell\"; did you mean \"model\"?")"));
  EXPECT_EQ(praxis_agent_create(runtime_, "[]", &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_create(runtime_, "{", &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_create(runtime_, "{\"id\":\"\xFF\"}", &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_open(runtime_, "/nonexistent.toml", &made), PRAXIS_INPUT);
}

TEST_F(CApiTest, AgentIsAToolOfAnother) {
  const praxis_agent below = agent({R"({"text":"found it"})"}, R"(,"id":"below")");
  const praxis_agent lead =
      agent({R"({"tool_calls":[{"name":"research","arguments":{"prompt":"look"}}]})", R"({"text":"done"})"});
  ASSERT_EQ(praxis_agent_add_agent(lead, below, "research", "Looks something up"), PRAXIS_OK) << last_error();
  EXPECT_EQ(praxis_agent_add_agent(lead, below, "research", "again"), PRAXIS_INPUT) << "a name is taken once";
  const std::string all = events(start(lead));
  EXPECT_THAT(all, HasSubstr(R"("event":"child.spawned")"));
  EXPECT_THAT(all, HasSubstr("found it"));
}

TEST_F(CApiTest, ReleaseFunction_IsCalledOnce) {
  LambdaTool& good =
      lambda([](praxis_call call, const char*) { return static_cast<int>(praxis_call_return(call, "1")); });
  const praxis_agent own = agent_with(good);
  LambdaTool& bad = lambda(good.run);
  for (const char* wrong : {"{}", "x", R"({"name":"a b"})", R"({"name":"act"})", R"({"nam":"x"})"}) {
    EXPECT_EQ(praxis_agent_add_tool(own, wrong, LambdaTool::call, &bad, LambdaTool::release), PRAXIS_INPUT)
        << wrong;
  }
  EXPECT_EQ(praxis_agent_add_tool(own, R"({"name":"b"})", nullptr, &bad, LambdaTool::release), PRAXIS_INPUT);
  EXPECT_EQ(bad.released, 6);
  result(start(own));
  EXPECT_EQ(good.released, 0);
  EXPECT_EQ(praxis_close(runtime_), PRAXIS_OK);  // the session ends, and with it what may call the tool
  EXPECT_EQ(good.released, 1);
}

TEST_F(CApiTest, ClosedRuntime_CallsNothingAnyMore) {
  std::promise<void> running, go_on;
  std::atomic<bool> returned = false;
  LambdaTool& tool = lambda([&](praxis_call, const char*) {
    running.set_value();
    go_on.get_future().wait();  // longer than the runtime waits for a cancelled call
    returned = true;
    return 0;
  });
  const praxis_run run = start(agent_with(tool));
  running.get_future().wait();
  std::thread closer([&] { EXPECT_EQ(praxis_close(runtime_), PRAXIS_OK) << last_error(); });
  Given text;
  while (praxis_run_next(run, 0, text.out()) != PRAXIS_BAD_HANDLE) std::this_thread::yield();
  go_on.set_value();
  closer.join();
  EXPECT_TRUE(returned);
  EXPECT_EQ(tool.released, 1);
}

}  // namespace
}  // namespace praxis::testing
