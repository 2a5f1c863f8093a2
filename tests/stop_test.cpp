// An interrupt ends everything below: every agent and process below the stopped node of the agent tree ends
// soon, down to the last grandchild process, and nothing above it or in other branches is affected.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "net/testing/test_server.hpp"
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
        }) {}

  /// A tool that starts processes which leave their process group and session, and waits for them.
  Tool sleepers() {
    return unlimited("sleepers", [mark = mark_](ToolContext& context) -> Result<ToolOutput> {
      const std::string nap = "sleep " + mark;
      ProcessSpec spec;
      spec.argv = {"sh", "-c",
                   "setsid " + nap + " & setsid sh -c 'setsid " + nap + " & setsid " + nap + "' & " + nap};
      spec.environment = {{"PATH", "/usr/bin:/bin"}};
      auto process = start_process(spec);
      if (!process) return fail(process.error());
      auto ended = process->wait(context.stop);
      if (!ended) return fail(ended.error());
      if (ended->end == ProcessEnd::kCancelled) return fail(ErrorCode::kCancelled, "stopped on request");
      return says("woke up");
    });
  }
  static Tool unlimited(std::string name, std::function<Result<ToolOutput>(ToolContext&)> handler) {
    Tool tool = host_tool(std::move(name), [handler = std::move(handler)](ToolContext& context, const Json&) {
      return handler(context);
    });
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
  const auto told = Clock::now();
  handle->interrupt();
  EXPECT_TRUE(soon([&] { return sleeping() == 0; }));
  EXPECT_TRUE(soon([&] { return !state_of(middle).turn; }));
  // The grace time is 100 ms, and everything must end within another 100 ms; a loaded machine gets more.
  EXPECT_LT(Clock::now() - told, 2s);
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
  const auto told = Clock::now();
  top.interrupt();
  const auto result = run.report();
  EXPECT_LT(Clock::now() - told, 2s);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  EXPECT_TRUE(soon([&] { return sleeping() == 0; }));
  const SessionId middle = child_of(top.session_id());
  expect_reported(top.session_id());
  expect_reported(middle);
  expect_reported(child_of(middle));
}

}  // namespace
}  // namespace praxis::testing
