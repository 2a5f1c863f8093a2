// An interrupt ends everything below: every agent and process below the stopped node of the agent tree ends,
// down to the last grandchild process, and nothing above it or in other branches is affected. Timers are
// held, so what ends before the test lets time pass has needed none of the grace time, however slow the
// machine is.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "base/testing/held_timers.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/process/process.hpp"
#include "praxis/tools/http_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Returns the readable part of a file; reading fails midway for a process that ends meanwhile.
std::string read_process_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Counts the processes of this machine that have `mark` on their command line.
int processes_with(const std::string& mark) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_process_file(entry.path() / "cmdline").find(mark) != std::string::npos) ++found;
  }
  return found;
}

bool soon(const std::function<bool()>& holds, std::chrono::milliseconds patience = 10s) {
  for (const auto until = Clock::now() + patience; Clock::now() < until;) {
    if (holds()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return holds();
}

class StopTest : public Scripted {
 protected:
  StopTest()
      : server_([this](const TestRequest&, TestConnection& to) {
          asked_->open();
          to.wait_for_close();  // never answers
        }) {
    RuntimeOptions options;
    options.executor = timers_;
    options.http = make_http_client({}, threads_);
    use_runtime(std::move(options));
  }

  /// A tool that starts processes which leave their process group and session, and waits for them.
  Tool sleepers() {
    return unlimited(
        host_tool("sleepers", [mark = mark_](ToolContext& context, const Json&) -> Result<ToolOutput> {
          const std::string nap = "sleep " + mark;
          ProcessSpec spec;
          spec.argv = {
              "sh", "-c",
              "setsid " + nap + " & setsid sh -c 'setsid " + nap + " & setsid " + nap + "' & " + nap};
          spec.environment = {{"PATH", "/usr/bin:/bin"}};
          auto process = start_process(spec);
          if (!process) return fail(process.error());
          auto ended = process->wait(context.stop);
          if (!ended) return fail(ended.error());
          if (ended->end == ProcessEnd::kCancelled) return fail(ErrorCode::kCancelled, "stopped on request");
          return says("woke up");
        }));
  }
  static Tool unlimited(Tool tool) {
    tool.definition.timeout = Millis{0};
    return tool;
  }

  /// Starts three levels: `top` runs `middle` and `sibling`; `middle` runs `leaf`, which has processes and a
  /// connection that hangs.
  Session begin() {
    const std::string url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/";
    auto http = http_tool(runtime_->http(), {{"127.0.0.1:" + std::to_string(server_.port())}});
    Agent leaf = scripted(
        R"({"tool_calls":[{"name":"sleepers","arguments":{}},{"name":"http","arguments":{"url":")" + url +
        R"("}}]}
{"text":"leaf"})");
    PolicyRules allow_http;
    allow_http.allow = {"http"};
    leaf.id("leaf").use(sleepers()).use(*http).policy(allow_http);
    Agent middle = scripted(R"({"tool_calls":[{"name":"leaf","arguments":{"prompt":"x"}}]}
{"text":"middle"})");
    middle.id("middle").use(leaf.as_tool("leaf", "The leaf")).policy(allow_http);
    Agent top = scripted(
        R"({"tool_calls":[{"name":"middle","id":"m","arguments":{"prompt":"x"}},{"name":"sibling","id":"b","arguments":{}}]}
{"text":"went on"})");
    top.id("top").use(middle.as_tool("middle", "The middle")).use(sibling_.tool("sibling", true));
    return session_of(top.policy(allow_http));
  }
  void await_work() {
    ASSERT_TRUE(sibling_.entered->wait_briefly());
    ASSERT_TRUE(asked_->wait_briefly());
    ASSERT_TRUE(soon([&] { return processes_with("sleep" + std::string(1, '\0') + mark_) == 4; }));
  }
  int sleeping() const { return processes_with("sleep" + std::string(1, '\0') + mark_); }

  SessionId child_of(const SessionId& parent) {
    const auto children = journal_->children(parent);
    return children && !children->empty() ? children->front().id : SessionId{};
  }
  State state_of(const SessionId& id) { return *fold(*read_records(*journal_, id)); }
  /// Checks that everything that began has ended, with a recorded reason.
  void expect_reported(const SessionId& id) {
    const State state = state_of(id);
    ASSERT_TRUE(state.last) << id.str();
    EXPECT_EQ(state.last->reason, StopReason::kCancelled);
    EXPECT_FALSE(state.last->actions.empty());
    for (const ActionResult& action : state.last->actions) {
      EXPECT_TRUE(action.outcome == Outcome::kCancelled || action.outcome == Outcome::kError ||
                  action.outcome == Outcome::kUnknown)
          << action.tool;
    }
    EXPECT_EQ(unanswered(state.conversation.history()), 0U);
  }

  const std::shared_ptr<Executor> threads_ = make_executor();
  const std::shared_ptr<HeldTimers> timers_ = std::make_shared<HeldTimers>(threads_);
  const std::string mark_ = std::to_string(100'000 + ::getpid());  // seconds to sleep, unique to this run
  std::shared_ptr<Gate> asked_ = std::make_shared<Gate>();
  BlockedTool sibling_;
  TestServer server_;
};

TEST_F(StopTest, StopInTheMiddle_EndsOnlyTheNodesBelow) {
  Session top = begin();
  auto run = top.send_user_message("go");
  await_work();
  const SessionId middle = child_of(top.session_id()), leaf = child_of(middle);
  auto handle = runtime_->open_session(middle, Agent("script:none"));  // the active one
  ASSERT_TRUE(handle) << handle.error().message;
  handle->interrupt();
  EXPECT_TRUE(soon([&] { return sleeping() == 0; }));
  ASSERT_TRUE(soon([&] { return !state_of(middle).turn; })) << "needs a timer";
  EXPECT_FALSE(sibling_.left->is_open());
  sibling_.release->open();
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->success);
  EXPECT_EQ(result->text, "went on");
  EXPECT_EQ(result_for(top.history(), "b").status, ToolStatus::kOk);
  expect_reported(middle);
  expect_reported(leaf);
}

TEST_F(StopTest, StopAtTheTop_EndsEverything) {
  Session top = begin();
  auto run = top.send_user_message("go");
  await_work();
  top.interrupt();
  ASSERT_TRUE(soon([&] { return !state_of(top.session_id()).turn; })) << "needs a timer";
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  EXPECT_TRUE(soon([&] { return sleeping() == 0; }));
  const SessionId middle = child_of(top.session_id());
  expect_reported(top.session_id());
  expect_reported(middle);
  expect_reported(child_of(middle));
}

TEST_F(StopTest, ToolThatDoesNotStop_IsUnknownAfter100MsAlsoAtTheTop) {
  BlockedTool deaf;
  Agent leaf = scripted(R"({"tool_calls":[{"name":"deaf","id":"d","arguments":{}}]}
{"text":"leaf"})");
  Session top =
      session_of(above(above(leaf.id("leaf").use(unlimited(deaf.tool("deaf", false))), "middle"), "top"));
  auto run = top.send_user_message("go");
  ASSERT_TRUE(deaf.entered->wait_briefly());
  const SessionId middle = child_of(top.session_id()), bottom = child_of(middle);
  const auto timers = [&] {
    return std::array{timers_->set_for(100ms), timers_->set_for(120ms), timers_->set_for(140ms)};
  };
  ASSERT_TRUE(soon([&] { return timers() == std::array<std::size_t, 3>{1, 0, 0}; })) << "polls the inbox";
  top.interrupt();
  ASSERT_TRUE(soon([&] { return timers() == std::array<std::size_t, 3>{2, 1, 1}; }))
      << "20 ms more for each level below";
  timers_->advance(99ms);
  EXPECT_TRUE(state_of(bottom).turn);
  timers_->advance(1ms);
  ASSERT_TRUE(soon([&] { return !state_of(top.session_id()).turn; })) << "takes more than 100 ms";
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  EXPECT_EQ(state_of(bottom).last->actions.front().outcome, Outcome::kUnknown);
  EXPECT_FALSE(deaf.left->is_open());
}

}  // namespace
}  // namespace praxis::testing
