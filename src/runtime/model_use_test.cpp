// What a session requests from its model: only what the model supports.
#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

/// Answers at once and records the requests.
class LimitedModel final : public Model, public ModelSession {
 public:
  explicit LimitedModel(ModelCapabilities capabilities, bool refuses_strict = false)
      : capabilities_(capabilities), refuses_strict_(refuses_strict) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return capabilities_; }
  MicroUsd price(const Usage& usage) const override { return {usage.input * 3}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<LimitedModel>(*this); }
  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token) override {
    *asked_ = request;
    if (refuses_strict_ && !request.non_strict) {
      return sink->on_done(
          fail(make_error(ErrorCode::kModel, "too many strict tools").set("change", "non_strict")));
    }
    ModelResponse response;
    response.parts = {TextPart{"ok", nullptr}};
    response.usage.input = 100;
    sink->on_done(std::move(response));
  }

  ModelRequest asked() const { return *asked_; }

 private:
  std::string name_ = "test:limited";
  ModelCapabilities capabilities_;
  bool refuses_strict_;
  std::shared_ptr<ModelRequest> asked_ = std::make_shared<ModelRequest>();
};

class ModelUseTest : public Scripted {
 protected:
  ModelRequest asked_of(ModelCapabilities capabilities) {
    const auto model = std::make_shared<LimitedModel>(capabilities);
    Agent agent;
    last_ = session_of(agent.model(model).use(echo_tool()).runtime(runtime_)).ask("hi");
    EXPECT_TRUE(last_);
    return model->asked();
  }

  Result<AgentResult> last_;
};

TEST_F(ModelUseTest, Tools_AreOfferedOnlyToModelsThatUseThem) {
  const auto offered =
      asked_of({.streaming = true, .tools = true, .context_window = 0, .max_output = 0}).tools;
  ASSERT_TRUE(offered);
  EXPECT_EQ(offered->size(), 1U);
  EXPECT_FALSE(asked_of({.streaming = true, .tools = false, .context_window = 0, .max_output = 0}).tools);
}

TEST_F(ModelUseTest, DeniedToolsAreNotOffered) {
  const auto model = std::make_shared<LimitedModel>(ModelCapabilities{});
  Agent agent;
  agent.model(model).use(echo_tool()).use(host_tool("purge", [](ToolContext&, const Json&) {
    return says("purged");
  }));
  ASSERT_TRUE(session_of(Agent(agent).policy({{}, {"purge"}, {}}).runtime(runtime_)).ask("hi"));
  ASSERT_EQ(model->asked().tools->size(), 1U);
  EXPECT_EQ(model->asked().tools->front().name, "echo");
  ASSERT_TRUE(session_of(agent.runtime(runtime_)).ask("hi"));
  EXPECT_EQ(model->asked().tools->size(), 2U);
}

TEST_F(ModelUseTest, InstructionsOfTheRuntimePrecedeThoseOfTheAgent) {
  const auto model = std::make_shared<LimitedModel>(ModelCapabilities{});
  RuntimeOptions options;
  options.instructions = "You work for the library.";
  const auto runtime = Runtime::create(std::move(options));
  Agent agent;
  agent.model(model).runtime(runtime);
  ASSERT_TRUE(agent.run("hi"));
  EXPECT_EQ(model->asked().instructions, "You work for the library.");
  agent.instructions("Be brief.").on_before_turn([](const HookContext&, AgentSpec& spec) {
    spec.instructions += " In French.";
  });
  const auto reply = agent.run("hi");
  ASSERT_TRUE(reply);
  EXPECT_EQ(model->asked().instructions, "You work for the library.\n\nBe brief. In French.");
}

TEST_F(ModelUseTest, Streaming_IsAskedOnlyOfModelsThatStream) {
  EXPECT_TRUE(asked_of({.streaming = true, .tools = true, .context_window = 0, .max_output = 0}).stream);
  EXPECT_FALSE(asked_of({.streaming = false, .tools = true, .context_window = 0, .max_output = 0}).stream);
}

TEST_F(ModelUseTest, ToolsThatTheVendorRefusesAsStrict_AreOfferedAsNonStrict) {
  const auto model = std::make_shared<LimitedModel>(ModelCapabilities{}, true);
  Agent agent;
  Session session = session_of(agent.model(model).use(echo_tool()).runtime(runtime_));
  auto run = session.send_user_message("hi");
  EXPECT_THAT(names(run), ::testing::ElementsAre("turn.started", "message.added", "step.started",
                                                 "model.requested", "model.failed", "attempt.superseded",
                                                 "model.requested", "assistant.text", "model.responded",
                                                 "step.completed", "turn.completed"));
  ASSERT_TRUE(run.report());
  EXPECT_EQ(run.report()->retries.attempts, 1U);
  EXPECT_TRUE(model->asked().non_strict);
  ASSERT_TRUE(session.ask("again"));
  EXPECT_EQ(session.last_result().retries.attempts, 0U) << "it is not tried again";
}

TEST_F(ModelUseTest, PriceOfTheModel_IsTheCostOfTheTurn) {
  (void)asked_of({});
  EXPECT_EQ(last_->usage.cost, MicroUsd{300});
}

TEST_F(ModelUseTest, Agent_IsALightValueWhoseCopiesShareUntilOneChanges) {
  const Agent first = scripted(R"({"text": "x"})");
  Agent second = first;
  EXPECT_EQ(first.description(), second.description());
  second.id("other");
  EXPECT_EQ(first.spec().id, "agent");
  EXPECT_EQ(second.spec().id, "other");
}

}  // namespace
}  // namespace praxis::testing
