// The budget of an agent tree: never exceeded by more than one answer, for any number of parallel calls and
// any way a call ends.
#include <algorithm>
#include <atomic>
#include <thread>

#include "praxis/core/state.hpp"
#include "praxis/models/router.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

constexpr int kChildren = 8;

/// Says some words, signals the test, and then breaks off, or waits until it is asked to stop.
class BrokenModel final : public Model, public ModelSession {
 public:
  explicit BrokenModel(std::string said, std::optional<Error> error)
      : said_(std::move(said)), error_(std::move(error)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  MicroUsd price(const Usage& usage) const override { return {usage.input + 10 * usage.output}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<BrokenModel>(*this); }
  void start(const ModelRequest&, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    if (!said_.empty()) sink->on_delta(TextChunk{said_, 0});
    if (error_) return sink->on_done(fail(*error_));
    entered_->open();
    end_ =
        std::make_unique<End>(std::move(stop), [sink] { sink->on_done(fail(ErrorCode::kCancelled, "off")); });
  }
  const Gate& entered() const { return *entered_; }

  BrokenModel(const BrokenModel& other)
      : said_(other.said_), error_(other.error_), entered_(other.entered_) {}

 private:
  using End = std::stop_callback<std::function<void()>>;
  std::string name_ = "test:broken";
  std::string said_;
  std::optional<Error> error_;
  std::shared_ptr<Gate> entered_ = std::make_shared<Gate>();
  std::unique_ptr<End> end_;
};

/// Waits until `kChildren` calls are in progress, so a call that waits for another one never ends. Then sends
/// all of them an answer of `tokens`, in turns of 100 tokens each.
class MeetingModel final : public Model {
 public:
  MeetingModel(std::int64_t tokens, Runtime& runtime) : tokens_(tokens), runtime_(runtime) {}
  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  MicroUsd price(const Usage&) const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<Member>(*this); }
  /// Waits until all answers were sent. A runtime may keep its models a moment longer than a test takes.
  void finish() { answering_ = {}; }

 private:
  struct Caller {
    SessionId session;
    std::shared_ptr<ModelSink> sink;
    std::stop_token stop;
  };
  class Member final : public ModelSession {
   public:
    explicit Member(MeetingModel& meeting) : meeting_(meeting) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      end_ = std::make_unique<End>(stop, [sink] { sink->on_done(fail(ErrorCode::kCancelled, "off")); });
      meeting_.join({request.session, std::move(sink), std::move(stop)});
    }

   private:
    using End = std::stop_callback<std::function<void()>>;
    MeetingModel& meeting_;
    std::unique_ptr<End> end_;
  };

  void join(Caller caller) {
    std::vector<Caller> all;
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(caller));
      if (waiting_.size() < kChildren) return;
      all.swap(waiting_);
    }
    answering_ = std::jthread([this, all = std::move(all)] { answer(all); });  // not on a session's strand
  }

  void answer(const std::vector<Caller>& all) const {
    for (const Caller& each : all) (void)runtime_.agent_state(each.session);  // waits for the end of `start`
    const std::string piece(300, 'a');
    for (std::int64_t sent = 0; sent < tokens_; sent += 100) {
      for (const Caller& each : all) {
        if (!each.stop.stop_requested()) each.sink->on_delta(TextChunk{piece, 0});
      }
    }
    for (const Caller& each : all) {
      ModelResponse response;
      response.parts.emplace_back(TextPart{"met"});
      response.usage.output = tokens_;
      if (!each.stop.stop_requested()) each.sink->on_done(std::move(response));
    }
  }

  const std::string name_ = "test:meeting";
  const std::int64_t tokens_;
  Runtime& runtime_;
  std::mutex mutex_;
  std::vector<Caller> waiting_;
  std::jthread answering_;
};

Error failure(std::string_view kind, std::string_view transport = {}) {
  return make_error(ErrorCode::kModel, error_kind_from(kind), "it broke off").set("transport", transport);
}

class BudgetTest : public Scripted {
 protected:
  /// What a whole tree used when eight sub-agents ask at once, each for an answer as in `answer`.
  AgentResult used_by_many(std::string_view answer, const Limits& limits) {
    return used_by_many(scripted(answer), limits);
  }
  AgentResult used_by_many(Agent child, const Limits& limits) {
    child.id("child");
    Tool work = host_tool("work", [child](ToolContext& context, const Json&) -> Result<ToolOutput> {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kChildren; ++i) {
        threads.emplace_back([&context, &child] {
          if (auto made = AgentCreator(context).create(child)) (void)made->ask("go");
        });
      }
      threads.clear();
      return says("all");
    });
    Agent lead = scripted(R"({"tool_calls":[{"name":"work","arguments":{}}],"usage":{"input":1,"output":1}}
{"text":"done"})");
    auto result = lead.use(work).limits(limits).stream("start").report();
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }

  /// What a turn used when its model said something and then failed.
  Usage used_when(std::string said, const Error& error) {
    Agent agent = scripted("").model(std::make_shared<BrokenModel>(std::move(said), error));
    auto result = agent.limits(limit(&Limits::max_model_attempts, 1U)).stream("go").report();
    return result ? result->usage : Usage{};
  }

  /// Starts a turn and destroys its runtime while the model answers; returns the session. The agent must have
  /// no runtime, which it would keep alive.
  SessionId cut_off(const Agent& agent) {
    auto session = runtime_->create_session(agent);
    if (!session) throw std::runtime_error(session.error().message);
    Gate asked;
    const auto watching = session->on("model.requested", [&](const Event&) { asked.open(); });
    auto run = session->send_user_message("go");
    EXPECT_TRUE(asked.wait_briefly());
    runtime_.reset();
    EXPECT_FALSE(run.report());
    use_runtime({});
    return session->session_id();
  }
};

TEST_F(BudgetTest, AnswersOfUnknownLength_OvershootByOneAtMost) {
  const auto result = used_by_many(R"({"text":"long","delay_ms":20,"usage":{"input":10,"output":50}})",
                                   limit(&Limits::max_tokens, std::int64_t{150}));
  EXPECT_EQ(result.reason, StopReason::kTokenLimit);
  EXPECT_GE((result.usage + result.usage_children).total(), 150);
  EXPECT_LT((result.usage + result.usage_children).total(), 150 + 60);
}

TEST_F(BudgetTest, CallThatWaitsForTheBudget_IsAnEvent) {
  std::atomic<int> waits = 0;
  Agent child = scripted(R"({"text":"long","delay_ms":20,"usage":{"input":10,"output":50}})");
  child.on("model.waiting", [&](const Event& event) {
    if (std::get<events::ModelWaiting>(event.body).reason == events::WaitReason::kBudget) ++waits;
  });
  used_by_many(child, limit(&Limits::max_tokens, std::int64_t{150}));
  EXPECT_GT(waits, 0);
}

TEST_F(BudgetTest, AnswersOfUsualLength_AreAskedForAtOnce) {
  const auto met = [this](Limits limits) {
    limits.timeout = std::chrono::seconds(60);
    const auto model = std::make_shared<MeetingModel>(10, *runtime_);
    const Usage used = used_by_many(scripted("").model(model), limits).usage_children;
    model->finish();
    return used;
  };
  EXPECT_EQ(met(limit(&Limits::max_tokens, std::int64_t{50'000})), (Usage{.output = kChildren * 10}));
  EXPECT_EQ(met(limit(&Limits::max_usd, MicroUsd{5'000'000})), (Usage{.output = kChildren * 10}));
}

TEST_F(BudgetTest, LongAnswersAtOnce_OvershootByOneAtMost) {
  constexpr std::int64_t kLimit = 20'000, kLong = 6'000;
  const auto model = std::make_shared<MeetingModel>(kLong, *runtime_);
  const auto result = used_by_many(scripted("").model(model), limit(&Limits::max_tokens, kLimit));
  model->finish();
  EXPECT_EQ(result.reason, StopReason::kTokenLimit);
  EXPECT_GE((result.usage + result.usage_children).total(), kLimit);
  EXPECT_LT((result.usage + result.usage_children).total(), kLimit + kLong);
}

TEST_F(BudgetTest, AnswersThatAHookMakesLonger_OvershootByOneAtMost) {
  ModelOptions short_answers;
  short_answers.max_output_tokens = 5;
  Hooks hooks;
  hooks.before_model.push_back([](const HookContext&, const History&) {
    ModelHookResult result;
    result.patch.options.emplace().max_output_tokens = 50;
    return result;
  });
  Agent child = scripted(R"({"text":"long","delay_ms":20,"usage":{"input":10,"output":50}})");
  child.options(short_answers).hooks(hooks);
  const auto result = used_by_many(child, limit(&Limits::max_tokens, std::int64_t{150}));
  EXPECT_EQ(result.reason, StopReason::kTokenLimit);
  EXPECT_LT((result.usage + result.usage_children).total(), 150 + 60);
}

TEST_F(BudgetTest, AnswersOfUnknownPrice_OvershootByOneAtMost) {
  const auto result =
      used_by_many(R"({"text":"dear","delay_ms":20,"usage":{"input":1,"output":1,"cost_usd":0.01}})",
                   limit(&Limits::max_usd, MicroUsd{25'000}));
  EXPECT_EQ(result.reason, StopReason::kCostLimit);
  EXPECT_EQ((result.usage + result.usage_children).cost.value, 30'000);
}

TEST_F(BudgetTest, WithoutALimit_NoCallWaits) {
  const auto result = used_by_many(R"({"text":"long","usage":{"input":10,"output":50}})", {});
  EXPECT_EQ(result.reason, StopReason::kFinished);
  EXPECT_EQ(result.usage_children.total(), kChildren * 60);
}

TEST_F(BudgetTest, ACallThatIsCancelled_CountsWithWhatArrived) {
  const auto model = std::make_shared<BrokenModel>(std::string(300, 'a'), std::nullopt);
  Session session = session_of(scripted("").model(model));
  auto run = session.send_user_message("go");
  ASSERT_TRUE(model->entered().wait_briefly());
  session.interrupt();
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->usage.estimated);
  EXPECT_GT(result->usage.input, 0);
  EXPECT_EQ(result->usage.output, 100);
  EXPECT_EQ(result->usage.cost.value, result->usage.input + 1'000);
  EXPECT_EQ(session.token_usage(), result->usage);
}

TEST_F(BudgetTest, ACallThatBreaksOff_CountsUnlessTheVendorNeverStartedIt) {
  EXPECT_GT(used_when("", failure("truncated_stream")).input, 0);
  EXPECT_GT(used_when("", failure("timeout", "timeout_first_byte")).input, 0);
  EXPECT_EQ(used_when("some of it", failure("overloaded")).output, 3);
  EXPECT_EQ(used_when("", failure("network", "connect")), Usage{});
  EXPECT_EQ(used_when("", failure("rate_limit")), Usage{});
}

TEST_F(BudgetTest, FailedCall_CountsWithTheUsageThatTheVendorStated) {
  Agent agent = scripted(
      R"({"error": {"status": 503, "retry_after_ms": 1}, "usage": {"input": 9, "output": 4, "cost_usd": 0.01}}
{"text": "done", "usage": {"input": 10, "output": 2}})");
  Session session = session_of(agent);
  const auto result = session.send_user_message("go").report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(result->usage, (Usage{.input = 19, .output = 6, .cost = {10'000}}));
  EXPECT_EQ(session.token_usage(), result->usage);
  const auto records = read_records(*journal_, session.session_id());
  ASSERT_TRUE(records);
  for (const StoredRecord& stored : *records) {
    const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
    if (settled == nullptr || !settled->error) continue;
    EXPECT_EQ(settled->spent, (Usage{.input = 9, .output = 4, .cost = {10'000}}));
    EXPECT_TRUE(json_at(settled->error->detail(), "usage").is_null()) << "recorded only once";
  }
  EXPECT_EQ(fold(*records)->usage, result->usage);
}

TEST_F(BudgetTest, AnswerThatBreaksOff_CountsWithTheLargerOutput) {
  Error error = failure("truncated_stream");
  report_usage(error, {.input = 9, .output = 1, .estimated = true});
  EXPECT_EQ(used_when(std::string(300, 'a'), error).output, 100) << "what arrived";
  EXPECT_EQ(used_when(std::string(300, 'a'), error).input, 9);
  EXPECT_EQ(used_when("", error).output, 1) << "what the vendor stated";
  Error ended = failure("overloaded");
  report_usage(ended, {.input = 9, .output = 1});
  EXPECT_EQ(used_when(std::string(300, 'a'), ended).output, 1) << "stated at the answer's end";
}

TEST_F(BudgetTest, UsageOfARoutesFailedModel_IsAddedToTheAnswers) {
  const auto response = [](std::int64_t input) { return Usage{.input = input, .output = 0}; };
  Error error = failure("overloaded");
  error.retriable = true;
  report_usage(error, response(9));
  const auto failing = std::make_shared<BrokenModel>("", error);
  const auto answering = script_model(R"({"text": "done", "usage": {"input": 10, "output": 2}})", "script",
                                      runtime_->model_services().executor);
  ASSERT_TRUE(answering);
  Session session = session_of(scripted("").model(make_router({failing, *answering})));
  const auto result = session.send_user_message("go").report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->usage.total(), 21);
  EXPECT_EQ(result->model_calls.at(0).usage.total(), 12) << "the answer's usage only";
  EXPECT_EQ(fold(*read_records(*journal_, session.session_id()))->usage, result->usage);
}

TEST_F(BudgetTest, CallsThatBreakOff_SpendTheBudget) {
  Agent agent = scripted("").model(std::make_shared<BrokenModel>(std::string(300, 'a'), [] {
    Error error = failure("truncated_stream");
    error.retriable = true;
    error.set("retry_after_ms", 1);
    return error;
  }()));
  Limits limits = limit(&Limits::max_tokens, std::int64_t{150});
  limits.max_model_attempts = 10;
  const auto result = agent.limits(limits).stream("go").report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kTokenLimit);
  EXPECT_EQ(result->usage.output, 200);
}

TEST_F(BudgetTest, ACallThatACrashCutOff_CountsAsMuchAsItMayHaveTaken) {
  Agent agent = scripted(R"({"text":"late","delay_ms":100,"usage":{"input":7,"output":3}})");
  ModelOptions options;
  options.max_output_tokens = 50;
  agent.options(options).runtime(nullptr);
  const SessionId id = cut_off(agent);
  const auto result = Agent(agent).runtime(runtime_).resume(id);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "late");
  EXPECT_TRUE(result->usage.estimated);
  EXPECT_GT(result->usage.input, 7);
  EXPECT_EQ(result->usage.output, 53);
}

TEST_F(BudgetTest, ACallThatACrashCutOff_CountsWhenTheTurnIsStoppedInItsLog) {
  const SessionId id = cut_off(scripted(R"({"text":"late","delay_ms":600000})").runtime(nullptr));
  ASSERT_TRUE(runtime_->command({{CommandVerb::kInterrupt, id}}));
  const auto state = fold(*read_records(*journal_, id));
  ASSERT_TRUE(state && state->last);
  EXPECT_EQ(state->last->reason, StopReason::kCancelled);
  EXPECT_GT(state->usage.input, 0);
}

TEST_F(BudgetTest, APausedSession_HoldsNothingBack) {
  Gate in_hook, release;
  Hooks hooks;
  hooks.before_model.push_back([&](const HookContext&, const History&) {
    in_hook.open();
    release.wait();
    return ModelHookResult{};
  });
  Agent first = scripted(R"({"text":"first","usage":{"input":1,"output":1}})");
  first.id("first").hooks(hooks);
  Agent second = scripted(R"({"text":"second","usage":{"input":1,"output":1}})");
  second.id("second");
  Gate answered;
  bool in_time = false;
  Tool work = host_tool("work", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
    auto paused = AgentCreator(context).create(first);
    auto other = AgentCreator(context).create(second);
    if (!paused || !other) return fail(ErrorCode::kInternal, "no sub-agents");
    auto run = paused->send_user_message("go");
    in_hook.wait();
    paused->pause();
    release.open();
    std::jthread asking([&] {
      if (other->ask("go")) answered.open();
    });
    in_time = answered.wait_briefly();
    paused->unpause();
    (void)run.report();
    return says("both");
  });
  work.definition.timeout = Millis{0};
  Agent lead = scripted(R"({"tool_calls":[{"name":"work","arguments":{}}],"usage":{"input":1,"output":1}}
{"text":"done","usage":{"input":1,"output":1}})");
  const auto result =
      lead.use(work).limits(limit(&Limits::max_tokens, std::int64_t{1'000})).stream("start").report();
  ASSERT_TRUE(result);
  EXPECT_TRUE(in_time);
  EXPECT_EQ(result->text, "done");
}

}  // namespace
}  // namespace praxis::testing
