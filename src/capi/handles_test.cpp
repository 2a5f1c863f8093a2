// Wrong handles and wrong threads: each function says what is wrong, and none touches memory that it should
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capi/testing/capi_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;

using Use = std::function<praxis_status(praxis_handle)>;

int never(void*, praxis_call, const char*) { return 1; }

/// Every function that takes a handle, with otherwise right arguments; what it gives is thrown away.
std::vector<std::pair<std::string, Use>> uses(char** text, praxis_handle* made, praxis_agent right) {
  return {
      {"close", [](praxis_handle h) { return praxis_close(h); }},
      {"runtime_stop", [](praxis_handle h) { return praxis_runtime_stop(h, 0); }},
      {"runtime_health", [=](praxis_handle h) { return praxis_runtime_health(h, text); }},
      {"agent_create", [=](praxis_handle h) { return praxis_agent_create(h, "{}", made); }},
      {"agent_open", [=](praxis_handle h) { return praxis_agent_open(h, "a.toml", made); }},
      {"agent_add_tool",
       [](praxis_handle h) { return praxis_agent_add_tool(h, R"({"name":"a"})", never, nullptr, nullptr); }},
      {"agent_add_agent", [=](praxis_handle h) { return praxis_agent_add_agent(h, right, "a", "b"); }},
      {"agent_add_agent (below)",
       [=](praxis_handle h) { return praxis_agent_add_agent(right, h, "a", "b"); }},
      {"agent_describe", [=](praxis_handle h) { return praxis_agent_describe(h, text); }},
      {"call_return", [](praxis_handle h) { return praxis_call_return(h, "1"); }},
      {"call_fail", [](praxis_handle h) { return praxis_call_fail(h, "why", 0); }},
      {"call_progress", [](praxis_handle h) { return praxis_call_progress(h, "text", 0); }},
      {"call_describe", [=](praxis_handle h) { return praxis_call_describe(h, text); }},
      {"agent_run", [=](praxis_handle h) { return praxis_agent_run(h, "hi", nullptr, made); }},
      {"session_create", [=](praxis_handle h) { return praxis_session_create(h, nullptr, made); }},
      {"session_open", [=](praxis_handle h) { return praxis_session_open(h, "last", 0, made); }},
      {"session_send", [=](praxis_handle h) { return praxis_session_send(h, "hi", nullptr, made); }},
      {"session_resume", [=](praxis_handle h) { return praxis_session_resume(h, nullptr, made); }},
      {"session_describe", [=](praxis_handle h) { return praxis_session_describe(h, text); }},
      {"session_messages", [=](praxis_handle h) { return praxis_session_messages(h, text); }},
      {"run_next", [=](praxis_handle h) { return praxis_run_next(h, 0, text); }},
      {"run_result", [=](praxis_handle h) { return praxis_run_result(h, 0, text); }},
      {"decide", [](praxis_handle h) { return praxis_decide(h, "p1", R"({"decision":"allow"})"); }},
      {"command", [](praxis_handle h) { return praxis_command(h, nullptr, "pause", nullptr); }},
      {"runs", [=](praxis_handle h) { return praxis_runs(h, nullptr, 1, text); }},
      {"tree", [=](praxis_handle h) { return praxis_tree(h, nullptr, text); }},
      {"state", [=](praxis_handle h) { return praxis_state(h, "last", text); }},
      {"fork", [=](praxis_handle h) { return praxis_fork(h, "last", 0, text); }},
      {"replay", [=](praxis_handle h) { return praxis_replay(h, "last", text); }},
  };
}

class CApiHandles : public CApiTest {
 protected:
  CApiHandles() : right_(agent({R"({"text":"hi"})", R"({"text":"again"})"})) {}
  ~CApiHandles() override { praxis_free(text_); }
  auto all() { return uses(&text_, &made_, right_); }

  char* text_ = nullptr;
  praxis_handle made_ = 0;
  const praxis_agent right_;
};

TEST_F(CApiHandles, HandlesThatWereNeverGiven_AreErrors) {
  for (const auto& [name, use] : all()) {
    for (const praxis_handle wrong : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7},
                                      std::uint64_t{0xDEADBEEF}, ~std::uint64_t{0}, right_ ^ 7U}) {
      EXPECT_EQ(use(wrong), PRAXIS_BAD_HANDLE) << name << ' ' << wrong;
      EXPECT_THAT(last_error(), HasSubstr(R"("code":"bad_handle")")) << name;
      EXPECT_EQ(text_, nullptr) << name;
      EXPECT_EQ(made_, 0U) << name;
    }
  }
}

TEST_F(CApiHandles, ClosedHandles_AreErrorsForEver) {
  praxis_session session = 0;
  ASSERT_EQ(praxis_session_create(right_, nullptr, &session), PRAXIS_OK);
  const praxis_agent other = agent({R"({"text":"hi"})"});
  const praxis_run run = start(other);
  result(run);
  for (const praxis_handle closed : {session, run, other}) ASSERT_EQ(praxis_close(closed), PRAXIS_OK);
  agent({});  // takes no number again
  for (const praxis_handle closed : {session, run, other}) {
    for (const auto& [name, use] : all()) {
      EXPECT_EQ(use(closed), PRAXIS_BAD_HANDLE) << name;
      EXPECT_THAT(last_error(), HasSubstr("is closed already")) << name;
    }
  }
}

TEST_F(CApiHandles, HandlesOfAnotherKind_AreErrors) {
  const praxis_run run = start(right_);
  result(run);
  Given text;
  EXPECT_EQ(praxis_agent_describe(run, text.out()), PRAXIS_BAD_HANDLE);
  EXPECT_THAT(last_error(), HasSubstr("is that of a run, not of an agent"));
  for (const auto& [name, use] : all()) {
    if (!name.starts_with("runtime") && name != "agent_create" && name != "agent_open") continue;
    EXPECT_EQ(use(run), PRAXIS_BAD_HANDLE) << name;
    EXPECT_EQ(use(right_), PRAXIS_BAD_HANDLE) << name;
  }
  EXPECT_EQ(praxis_call_return(run, "1"), PRAXIS_BAD_HANDLE);
  EXPECT_EQ(praxis_run_next(right_, 0, text.out()), PRAXIS_BAD_HANDLE);
  EXPECT_EQ(praxis_command(runtime_, nullptr, "pause", nullptr), PRAXIS_INPUT) << "a runtime needs a target";
}

TEST_F(CApiHandles, NullPointers_AreErrors) {
  praxis_handle made = 0;
  EXPECT_EQ(praxis_runtime_open(nullptr, nullptr), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_create(runtime_, nullptr, &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_open(runtime_, nullptr, &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_run(right_, nullptr, nullptr, &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_run(right_, "hi", nullptr, nullptr), PRAXIS_INPUT);
  EXPECT_EQ(praxis_session_open(right_, nullptr, 0, &made), PRAXIS_INPUT);
  EXPECT_EQ(praxis_agent_describe(right_, nullptr), PRAXIS_INPUT);
  EXPECT_EQ(praxis_state(runtime_, nullptr, &text_), PRAXIS_INPUT);
  EXPECT_EQ(praxis_command(right_, nullptr, nullptr, nullptr), PRAXIS_BAD_HANDLE);
  EXPECT_EQ(praxis_agent_add_tool(right_, nullptr, never, nullptr, nullptr), PRAXIS_INPUT);
  praxis_free(nullptr);
}

TEST_F(CApiHandles, ErrorsBelongToTheirThread) {
  EXPECT_EQ(praxis_close(0), PRAXIS_BAD_HANDLE);
  std::string other;
  std::thread([&] { other = last_error(); }).join();
  EXPECT_EQ(other, "(no error)");
  EXPECT_THAT(last_error(), HasSubstr("was never a handle"));
  EXPECT_EQ(praxis_runtime_health(runtime_, &text_), PRAXIS_OK);
  EXPECT_EQ(last_error(), "(no error)");
}

TEST_F(CApiHandles, ThreadsShareRuntimesAndRuns) {
  const praxis_agent own = agent({R"({"text":"hi"})"});
  std::atomic<int> finished = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        praxis_run run = 0;
        if (praxis_agent_run(own, "hi", nullptr, &run) != PRAXIS_OK) return;
        std::thread reader([&] { events(run); });
        finished += result(run).find(R"("success":true)") != std::string::npos ? 1 : 0;
        reader.join();
        EXPECT_EQ(praxis_close(run), PRAXIS_OK);
        EXPECT_EQ(praxis_close(run), PRAXIS_BAD_HANDLE);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finished, 80);
}

TEST_F(CApiHandles, RuntimeClosesWhileOthersUseIt) {
  std::atomic<bool> closed = false;
  std::atomic<int> used = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!closed) {
        praxis_run run = 0;
        Given text;
        if (praxis_agent_run(right_, "hi", nullptr, &run) == PRAXIS_OK) ++used;
        praxis_run_next(run, 1, text.out());
        praxis_tree(runtime_, nullptr, text.out());
      }
    });
  }
  while (used < 20) std::this_thread::yield();
  EXPECT_EQ(praxis_close(runtime_), PRAXIS_OK) << last_error();
  closed = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(praxis_runtime_health(runtime_, &text_), PRAXIS_BAD_HANDLE);
}

}  // namespace
}  // namespace praxis::testing
