// Tool calls in a turn: the model gets every failure as the result of its call, in call order and as valid
// UTF-8 of bounded length.
#include <gmock/gmock.h>

#include <latch>

#include "base/testing/manual_clock.hpp"
#include "praxis/core/state.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

struct City {
  std::string name;
};
PRAXIS_FIELDS(City, name)

std::string weather_in(City city) { return "sunny in " + city.name; }

/// One call to `tool` with id c1, then an answer.
std::string one_call(std::string_view tool, std::string_view arguments = "{}") {
  return R"({"tool_calls": [{"id": "c1", "name": ")" + std::string(tool) + R"(", "arguments": )" +
         std::string(arguments) + "}]}\n{\"text\": \"done\"}";
}

class ToolCallsTest : public Scripted {
 protected:
  /// The result of a tool without a timeout of its own, whose handler takes `time`.
  ToolResultPart outcome_after(Millis time) {
    const auto executor = std::make_shared<ManualExecutor>();
    RuntimeOptions options;
    options.executor = executor;
    options.environment = std::make_shared<ManualClock>(executor);
    use_runtime(std::move(options));
    ToolResultPart result;
    {
      Agent agent = scripted(one_call("slow"));
      agent.use(host_tool("slow", [clock = executor.get(), time](ToolContext&, const Json&) {
        clock->advance(time);
        return Result<ToolOutput>(says("in time"));
      }));
      Session session = session_of(agent);
      const auto run = session.send_user_message("go");
      executor->advance(1s);
      result = result_for(session.history(), "c1");
    }
    use_runtime({});
    executor->advance(1h);  // timers that are left hold the runtime, which holds the executor
    return result;
  }
  /// Runs a turn to its end; returns the result that the model got for call c1.
  ToolResultPart told(const Agent& agent) {
    session_.emplace(session_of(agent));
    auto result = session_->send_user_message("go").report();
    if (!result) throw std::runtime_error(result.error().message);
    result_ = *result;
    return result_for(session_->history(), "c1");
  }

  std::optional<Session> session_;
  AgentResult result_;
};

TEST_F(ToolCallsTest, FunctionOfTheHost_RunsWithoutARule) {
  const auto told_of =
      told(scripted(one_call("weather_in", R"({"name": "Rome"})")).use(tool<weather_in>("Weather")));
  EXPECT_EQ(told_of.text, "sunny in Rome");
  PolicyRules rules;
  rules.deny = {"weather_*"};
  told(
      scripted(one_call("weather_in", R"({"name": "Rome"})")).use(tool<weather_in>("Weather")).policy(rules));
  EXPECT_EQ(result_.denials.size(), 1U) << "but a rule can still forbid it";
}

TEST_F(ToolCallsTest, UnknownName_SuggestsTheNearestToTheModel) {
  const auto result = told(scripted(one_call("ecko", R"({"text": "x"})")).use(echo_tool()));
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_THAT(result.text, HasSubstr("did you mean \"echo\"?"));
  EXPECT_EQ(result_.text, "done");
}

TEST_F(ToolCallsTest, InvalidArguments_AreNamedByPath) {
  const auto result = told(scripted(one_call("echo", R"({"text": 7})")).use(echo_tool()));
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_THAT(result.text, AllOf(HasSubstr("/text"), HasSubstr("string")));
  EXPECT_EQ(result_.text, "done");
}

TEST_F(ToolCallsTest, HandlerThatThrows_BecomesAnErrorResult) {
  const auto result = told(
      scripted(one_call("bad")).use(host_tool("bad", [](ToolContext&, const Json&) -> Result<ToolOutput> {
        throw std::runtime_error("kaboom");
      })));
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_THAT(result.text, HasSubstr("kaboom"));
  EXPECT_EQ(result_.text, "done");
  EXPECT_EQ(result_.actions[0].outcome, Outcome::kError);
}

TEST_F(ToolCallsTest, SlowTool_TimesOutAndItsLateResultIsDropped) {
  BlockedTool blocked;
  Tool slow = blocked.tool("slow", false);
  slow.definition.timeout = 20ms;
  Agent agent = scripted(one_call("slow"));
  agent.use(std::move(slow));
  std::mutex mutex;
  std::vector<std::string> seen;
  agent.on("tool.*", [&](const Event& event) {
    const std::lock_guard lock(mutex);
    seen.emplace_back(event_name(event.body));
  });
  const auto result = told(agent);
  EXPECT_EQ(result.status, ToolStatus::kError);
  EXPECT_THAT(result.text, HasSubstr("20 ms"));
  blocked.release->open();
  blocked.left->wait();
  EXPECT_EQ(result_for(session_->history(), "c1").text, result.text);
  const std::lock_guard lock(mutex);
  EXPECT_THAT(seen, ::testing::ElementsAre("tool.called", "tool.started", "tool.timed_out"));
}

TEST_F(ToolCallsTest, ToolWithoutATimeoutOfItsOwn_MayTakeAlmost30Seconds) {
  EXPECT_EQ(outcome_after(29'999ms).text, "in time");
}

TEST_F(ToolCallsTest, ToolWithoutATimeoutOfItsOwn_TimesOutAfter30Seconds) {
  const ToolResultPart late = outcome_after(30'000ms);
  EXPECT_EQ(late.status, ToolStatus::kError);
  EXPECT_THAT(late.text, HasSubstr("within 30000 ms"));
}

TEST_F(ToolCallsTest, RetriableFailure_IsTriedAgainUnderTheSameKey) {
  std::mutex mutex;
  std::vector<std::string> keys;
  Tool flaky = host_tool("flaky", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
    const std::lock_guard lock(mutex);
    keys.push_back(context.idempotency_key);
    EXPECT_EQ(context.attempt, keys.size());
    if (keys.size() < 3) return fail(ErrorCode::kTool, "try again", true);
    return says("third time lucky");
  });
  flaky.retries = 2;
  flaky.retry_delay = Millis{1};
  EXPECT_EQ(told(scripted(one_call("flaky")).use(flaky)).text, "third time lucky");
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], keys[2]);
  EXPECT_EQ(result_.retries.attempts, 2U);
  EXPECT_EQ(result_.actions[0].attempts, 3U);

  keys.clear();
  flaky.retries = 1;
  EXPECT_EQ(told(scripted(one_call("flaky")).use(flaky)).text, "try again") << "no more than allowed";
}

TEST_F(ToolCallsTest, FatalFailure_EndsTheTurn) {
  const auto failing = [](ToolContext&, const Json&) -> Result<ToolOutput> {
    return fail(ErrorCode::kTool, "broken");
  };
  Tool fatal = host_tool("bad", failing);
  fatal.fatal_errors = true;
  told(scripted(one_call("bad")).use(fatal));
  EXPECT_EQ(result_.reason, StopReason::kToolFailed);
  EXPECT_EQ(result_.error->message, "broken");
  EXPECT_EQ(unanswered(session_->history()), 0U);

  told(scripted(one_call("bad")).use(host_tool("bad", failing)).tool_failure(ToolFailureMode::kFail));
  EXPECT_EQ(result_.reason, StopReason::kToolFailed);
}

TEST_F(ToolCallsTest, Batch_RunsInParallelUpToTheLimitAndAnswersInCallOrder) {
  std::atomic<int> running = 0, most = 0;
  std::latch three(3);  // the first three calls wait until all three are running
  Tool tool = host_tool("job", [&](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    if (json_int(arguments, "n") < 3) three.arrive_and_wait();
    --running;
    return says(std::to_string(json_int(arguments, "n")));
  });
  std::string script = R"({"tool_calls": [)";
  for (int n = 0; n < 9; ++n) {
    script += (n == 0 ? "" : ", ") + (R"({"id": "c)" + std::to_string(n)) +
              R"(", "name": "job", "arguments": {"n": )" + std::to_string(n) + "}}";
  }
  script += "]}\n{\"text\": \"done\"}";
  Session session =
      session_of(scripted(script).use(tool).limits(limit(&Limits::max_parallel_tools, std::uint32_t{3})));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(most, 3);
  const auto& results = session.history().messages()[2]->parts;
  ASSERT_EQ(results.size(), 9U);
  for (std::size_t n = 0; n < results.size(); ++n) {
    EXPECT_EQ(std::get<ToolResultPart>(results[n]).text, std::to_string(n));
  }
}

TEST_F(ToolCallsTest, HugeAndBrokenOutput_IsRepairedAndBounded) {
  const auto result = told(
      scripted(one_call("big")).use(host_tool("big", [](ToolContext&, const Json&) -> Result<ToolOutput> {
        return says("head\xFF" + std::string(std::size_t{3} << 20, 'x') + "tail");
      })));
  EXPECT_LT(result.text.size(), (std::size_t{1} << 20) + 100);
  EXPECT_TRUE(is_valid_utf8(result.text));
  EXPECT_TRUE(result.text.starts_with("head\xEF\xBF\xBD"));
  EXPECT_TRUE(result.text.ends_with("tail"));
  EXPECT_THAT(result.text, HasSubstr("bytes left out"));
}

TEST_F(ToolCallsTest, ImagesOfATool_ReachTheModelAndTheJournal) {
  const auto result = told(
      scripted(one_call("photo")).use(host_tool("photo", [](ToolContext&, const Json&) -> Result<ToolOutput> {
        return ToolOutput{
            "a photo", nullptr, {ImagePart{{"image/png", std::string(40'000, '\x89'), {}}, nullptr}}, {}};
      })));
  ASSERT_EQ(result.images.size(), 1U);
  const auto stored = fold(*read_records(*journal_, session_->session_id()));
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(result_for(stored->conversation.history(), "c1").images.at(0).source.data,
            result.images[0].source.data);
}

TEST_F(ToolCallsTest, Tool_SeesWhoCallsAndWhy) {
  told(scripted(one_call("look"))
           .metadata(JsonObject{{"tenant", "acme"}})
           .use(host_tool("look", [](ToolContext& context, const Json&) -> Result<ToolOutput> {
             EXPECT_FALSE(context.session.empty());
             EXPECT_EQ(context.agent, "agent");
             EXPECT_EQ(context.call, CallId{"c1"});
             EXPECT_EQ(context.idempotency_key, context.session.str() + "/e2");
             EXPECT_EQ(context.conversation.messages().front()->text(), "go");
             EXPECT_EQ(json_string(context.metadata, "tenant"), "acme");
             EXPECT_GT(context.deadline, std::chrono::steady_clock::now());
             return says("");
           })));
  EXPECT_EQ(result_.text, "done");
}

TEST_F(ToolCallsTest, CallThatCannotBeRead_IsNotRunAndTheModelGetsAnError) {
  Session session =
      session_of(scripted(R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": "{\"text\": "}]}
{"text": "done"})")
                     .use(echo_tool()));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_TRUE(result->actions.empty());
  EXPECT_EQ(unanswered(session.history()), 0U);
}

}  // namespace
}  // namespace praxis::testing
