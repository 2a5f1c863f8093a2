// Tests the python tool alone: a real interpreter, and a fake call scope instead of a session.
#include "praxis/tools/python_tool.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/core/session_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "tools/python_bridge.hpp"
#include "tools/python_requests.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

/// A sub-agent that answers with its prompt.
class Parrot final : public ChildSession {
 public:
  const SessionId& id() const override { return id_; }
  Status start(std::string prompt) override {
    prompt_ = std::move(prompt);
    return {};
  }
  Result<AgentResult> wait() override {
    AgentResult result;
    result.success = true;
    result.text = "done: " + prompt_;
    return result;
  }
  void on_end(ReportDone done) override { done(wait()); }
  void steer(std::string) override {}
  void interrupt() override {}

 private:
  const SessionId id_{"parrot"};
  std::string prompt_;
};

/// A fake call scope: tools that answer at once.
class Desk final : public CallScope {
 public:
  explicit Desk(std::vector<Tool> tools) {
    for (Tool& tool : tools) EXPECT_TRUE(tools_.add(std::move(tool)));
  }
  Result<std::shared_ptr<ChildSession>> spawn(AgentSpec, std::vector<Tool>) override {
    return fail(ErrorCode::kInput, "this scope creates no agents");
  }
  Result<std::shared_ptr<ChildSession>> clone(const std::string&) override {
    return std::make_shared<Parrot>();
  }
  Result<SessionId> detach(AgentSpec, std::vector<Tool>, std::string) override {
    return fail(ErrorCode::kInput, "this scope creates no agents");
  }
  Result<ToolOutput> call(std::string tool, std::string arguments) override {
    ToolContext context;
    return tools_.execute(context, tool, arguments);
  }
  const std::vector<Tool>& tools() const override { return tools_.tools(); }
  void call_all(std::vector<InnerCall> calls, InnerCallDone done) override {
    batches.push_back(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) done(i, call(calls[i].tool, calls[i].arguments));
  }

  bool continue_after(const std::vector<SubAgent>&) override { return false; }
  void progress(std::string, std::optional<double>) override {}
  Status read_memory(std::string_view, const std::function<void(const MemoryStore&)>&) const override {
    return fail(ErrorCode::kInput, "this scope has no memory");
  }

  std::vector<std::size_t> batches;

 private:
  ToolSet tools_;
};

Tool tool_named(std::string name, ToolHandler handler) {
  Tool tool;
  tool.definition.name = std::move(name);
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.handler = std::move(handler);
  return tool;
}

class PythonToolTest : public ::testing::Test {
 protected:
  PythonToolTest() {
    options_.sandbox = std::nullopt;
    context_.scope = desk_;
    context_.stop = stop_.get_token();
  }
  Result<ToolOutput> run(const std::string& code) {
    return python_tool(options_).handler(context_, JsonObject{{"code", code}});
  }
  /// The output of the code, or its error.
  std::string printed(const std::string& code) {
    auto output = run(code);
    return output ? output->text : output.error().message;
  }

  std::promise<void> reached_;
  const std::shared_ptr<Desk> desk_ = std::make_shared<Desk>(std::vector{
      tool_named("echo",
                 [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
                   return ToolOutput{json_string(arguments, "text"), nullptr, {}, {}};
                 }),
      tool_named("count",
                 [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
                   return ToolOutput{"some", json_at(arguments, "of").as_array().size(), {}, {}};
                 }),
      tool_named("broken",
                 [](ToolContext&, const Json&) -> Result<ToolOutput> {
                   return fail(ErrorCode::kTool, "out of order");
                 }),
      tool_named("reached",
                 [this](ToolContext&, const Json&) -> Result<ToolOutput> {
                   reached_.set_value();
                   return ToolOutput{"yes", nullptr, {}, {}};
                 }),
      tool_named("print", [](ToolContext&, const Json&) -> Result<ToolOutput> { return ToolOutput{}; })});
  std::stop_source stop_;
  PythonToolOptions options_;
  ToolContext context_;
};

TEST_F(PythonToolTest, Result_IsTheOutputAndTheLastValue) {
  const std::pair<std::string, std::string> cases[] = {
      {"print('a'); print('b')", "a\nb\n"},
      {"print('a')\n6 * 7", "a\n42\n"},
      {"x = 5", ""},
      {"None", ""},
      {"'text'", "'text'\n"},
      {"def f(n):\n  return n and n * f(n - 1) or 1\nf(5)", "120\n"},
      {"import dataclasses\n@dataclasses.dataclass\nclass P:\n  x: int\nP(1)", "P(x=1)\n"},
      {"__name__", "'__main__'\n"},
      {"print('äöü €')", "äöü €\n"},
      {"", ""},
  };
  for (const auto& [code, text] : cases) EXPECT_EQ(printed(code), text) << code;
}

TEST_F(PythonToolTest, CodeThatFails_IsAnErrorWithItsOwnLinesAndOutput) {
  const auto output = run("print('before')\ndef f():\n  return 1 / 0\nf()");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kTool);
  const std::string& message = output.error().message;
  EXPECT_NE(message.find("exited with status 1"), std::string::npos) << message;
  EXPECT_NE(message.find("line 3, in f\n    return 1 / 0"), std::string::npos) << message;
  EXPECT_NE(message.find("ZeroDivisionError"), std::string::npos) << message;
  EXPECT_NE(message.find("It printed:\nbefore"), std::string::npos) << message;
  EXPECT_EQ(message.find("<stdin>"), std::string::npos) << message;
}

TEST_F(PythonToolTest, EveryKindOfFailure_IsReported) {
  const std::pair<std::string, std::string> cases[] = {
      {"import sys; sys.exit(3)", "status 3"},
      {"def f(:", "SyntaxError"},
      {"import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9"},
      {"x = bytearray(1 << 40)", "MemoryError"},
  };
  for (const auto& [code, why] : cases) {
    EXPECT_NE(printed(code).find(why), std::string::npos) << code << ": " << printed(code);
  }
}

TEST_F(PythonToolTest, Call_ReturnsTheValueOrElseTheText) {
  EXPECT_EQ(printed("call('echo', text='hi')"), "'hi'\n");
  EXPECT_EQ(printed("call('count', of=[1, 2, 3]) + 1"), "4\n");
  EXPECT_EQ(printed("echo(text='hi')"), "'hi'\n");
  EXPECT_EQ(printed("tools"), "['echo', 'count', 'broken', 'reached', 'print']\n");
  EXPECT_EQ(printed("print('still the built-in')"), "still the built-in\n");
}

TEST_F(PythonToolTest, CallThatFails_RaisesToolError) {
  const std::string attempt = "try:\n  CALL\nexcept ToolError as error:\n  print(error)";
  const auto caught = [&](const std::string& call) {
    return printed(std::string(attempt).replace(attempt.find("CALL"), 4, call));
  };
  EXPECT_EQ(caught("broken()"), "out of order\n");
  EXPECT_NE(caught("call('ecko')").find("did you mean \"echo\"?"), std::string::npos);
  EXPECT_NE(caught("call('python', code='1')").find("code cannot run other code"), std::string::npos);
  EXPECT_NE(caught("call('echo', text='x' * 2000000)").find("too long"), std::string::npos);
  EXPECT_NE(printed("broken()").find("ToolError: out of order"), std::string::npos);
}

TEST_F(PythonToolTest, CallsOfOneGather_AreSentAsOneBatch) {
  EXPECT_EQ(printed("gather([('echo', {'text': 'a'}), ('count', {'of': []}), ('echo', {'text': 'c'})])"),
            "['a', 0, 'c']\n");
  EXPECT_EQ(desk_->batches, (std::vector<std::size_t>{3}));
}

TEST_F(PythonToolTest, Gather_AcceptsFunctionsAndReturnsErrorsOnRequest) {
  EXPECT_EQ(printed("gather(lambda: echo(text='a'), ('echo', {'text': 'b'}), lambda: 3)"), "['a', 'b', 3]\n");
  EXPECT_EQ(printed("gather(('broken', {}), ('echo', {'text': 'b'}), return_exceptions=True)"),
            "[ToolError('out of order'), 'b']\n");
  EXPECT_NE(printed("gather(('broken', {}), ('echo', {'text': 'b'}))").find("ToolError: out of order"),
            std::string::npos);
  EXPECT_NE(printed("gather(7, 8)").find("TypeError: gather takes pairs"), std::string::npos);
  EXPECT_EQ(printed("gather([])"), "[]\n");
  EXPECT_EQ(printed("len(gather(*[lambda: echo(text='x')] * 200))"), "200\n");
}

TEST_F(PythonToolTest, Forks_CanBeWaitedForInAnyOrder) {
  EXPECT_EQ(printed("a, b = fork('one'), fork('two')\nprint(wait(b))\nwait([a, b])"),
            "done: two\n['done: one', 'done: two']\n");
}

TEST_F(PythonToolTest, LongOutput_IsCutInTheMiddle) {
  options_.output_bytes = 1000;
  const auto output = run("print('first')\nfor i in range(100000):\n  print('x' * 99)\nprint('last')");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_LT(output->text.size(), 1200U);
  EXPECT_TRUE(output->text.starts_with("first\n"));
  EXPECT_TRUE(output->text.ends_with("last\n"));
  EXPECT_NE(output->text.find("bytes left out"), std::string::npos);
}

TEST_F(PythonToolTest, EndlessLoop_IsStopped) {
  options_.time = 500ms;
  const auto output = run("print('begun')\nwhile True: pass");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind(), ErrorKind::kTimeout);
}

TEST_F(PythonToolTest, CodeThatClosesItsChannel_IsStillSubjectToTheTimeLimit) {
  options_.time = 500ms;
  const auto output = run("import os\nos.close(3)\nwhile True: pass");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind(), ErrorKind::kTimeout) << output.error().message;
}

TEST_F(PythonToolTest, CpuTime_IsLimited) {
  options_.cpu = 1s;
  const auto output = run("while True: pass");
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("1 s of processor time"), std::string::npos)
      << output.error().message;
}

TEST_F(PythonToolTest, Stop_EndsTheCode) {
  auto output = std::async(std::launch::async, [this] { return run("reached()\nwhile True: pass"); });
  reached_.get_future().wait();
  stop_.request_stop();
  const auto stopped = output.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reach_of(stopped.error()), Reach::kSent);
}

TEST_F(PythonToolTest, InvalidRequest_EndsTheCode) {
  const char* cases[] = {
      "b'nonsense\\n'",
      "b'{}\\n'",
      "b'[]\\n'",
      "b'[{\"id\": 1}]\\n'",
      "b'[{\"id\": 1, \"op\": \"fly\"}]\\n'",
      "b'[{\"id\": 0, \"op\": \"fork\", \"prompt\": \"x\"}]\\n'",
      "b'[{\"id\": 1, \"op\": \"call\", \"tool\": \"echo\", \"arguments\": []}]\\n'",
      "b'[{\"id\": 1, \"op\": \"wait\", \"fork\": -1}]\\n'",
      "b'[{\"id\": 1, \"op\": \"wait\", \"fork\": 1}, {\"id\": 1, \"op\": \"wait\", \"fork\": 1}]\\n'",
      "b'x' * 2000000",
      "b'[' * 1000 + b'\\n'",
  };
  for (const std::string line : cases) {
    const auto output = run("import os, time\nline = " + line +
                            "\nwhile line: line = line[os.write(3, line):]\ntime.sleep(30)");
    ASSERT_FALSE(output) << line;
    EXPECT_EQ(output.error().kind(), ErrorKind::kProtocol) << line << ": " << output.error().message;
    EXPECT_NE(output.error().message.find("The code was stopped: "), std::string::npos);
  }
}

TEST_F(PythonToolTest, TooManyRequests_EndTheCode) {
  const auto output = run("for i in range(2000): echo(text='x')");
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("more than 1000 requests"), std::string::npos)
      << output.error().message;
}

TEST_F(PythonToolTest, Environment_IsNotInherited) {
  setenv("PRAXIS_TEST_SECRET", "correct-horse", 1);
  const std::string text = printed(
      "import "
      "os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read())\nos.listdir('/proc/self/fd')");
  unsetenv("PRAXIS_TEST_SECRET");
  EXPECT_NE(text.find("PYTHONHASHSEED"), std::string::npos);
  EXPECT_EQ(text.find("correct-horse"), std::string::npos);
  EXPECT_EQ(text.find("PRAXIS_TEST_SECRET"), std::string::npos);
}

TEST_F(PythonToolTest, OutputIsShownWithoutControlCharacters) {
  EXPECT_EQ(printed("print('red', chr(27) + '[31m and', chr(0x202e), 'reversed')"),
            "red ␛[31m and \\u202e reversed\n");
  EXPECT_NE(printed("raise ValueError('\\x1b[2J')").find("␛[2J"), std::string::npos);
}

TEST_F(PythonToolTest, DescriptorsAreLimited) {
  EXPECT_EQ(
      printed("import os\nheld = []\ntry:\n  while len(held) < 1500: held.append(os.open('/dev/null', 0))\n"
              "except OSError as e: print(e.strerror)"),
      "Too many open files\n");
}

TEST_F(PythonToolTest, CodeThatRunsAgain_DrawsTheSameRandomNumbers) {
  context_.idempotency_key = "one";
  const std::string code = "import random\nprint(random.random(), {'a', 'b', 'c'})";
  const std::string first = printed(code);
  EXPECT_EQ(printed(code), first);
  context_.idempotency_key = "two";
  EXPECT_NE(printed(code), first);
}

TEST_F(PythonToolTest, ChildProcessesOfTheCode_CannotMakeRequests) {
  EXPECT_NE(
      printed("import os\npid = os.fork()\nif pid:\n  os.waitpid(pid, 0)\nelse:\n  try: echo(text='x')\n"
              "  except ToolError as e: print(e)\n  os._exit(0)")
          .find("only the first process"),
      std::string::npos);
}

TEST_F(PythonToolTest, MissingInterpreter_IsReported) {
  options_.interpreter = "/nowhere/python3";
  const auto output = run("1");
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("/nowhere/python3"), std::string::npos);
}

TEST_F(PythonToolTest, CodeInASandbox_RunsOrTheErrorSaysWhyNot) {
  options_.sandbox = Sandbox{};
  const auto output = run("import os\nprint(os.getcwd(), os.listdir('/tmp'))\necho(text='inside')");
  if (!probe_sandbox().full()) {
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, ErrorCode::kPolicy);
    PRAXIS_MISSING_PART("the sandbox cannot be built here: " << probe_sandbox().reason());
  }
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->text, "/tmp []\n'inside'\n");
  EXPECT_NE(printed("import os, signal; os.kill(os.getpid(), signal.SIGKILL)").find("signal 9"),
            std::string::npos);
}

TEST(PythonTool, Tool_NeedsAnAllowRule) {
  const Tool tool = python_tool();
  EXPECT_FALSE(tool.definition.safe_by_default);
  EXPECT_TRUE(tool.definition.idempotent);
  EXPECT_EQ(tool.definition.timeout.count(), 0);
}

TEST(HeldClock, PausedClock_NeverExpires) {
  HeldClock clock(1h);
  const auto before = clock.deadline();
  clock.hold();
  clock.hold();
  EXPECT_EQ(clock.deadline(), HeldClock::Clock::time_point::max());
  clock.go_on();
  EXPECT_GE(clock.deadline(), before);
  EXPECT_LT(clock.deadline(), before + 30min);
}

}  // namespace
}  // namespace praxis
