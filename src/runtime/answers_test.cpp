// Inputs and outputs of a turn in addition to text: structured answers, images and files, and summaries of
// what no longer fits.
#include <gmock/gmock.h>

#include "praxis/core/state.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {

struct Trip {
  std::string city;
  int days = 0;
};
PRAXIS_FIELDS(Trip, city, days)

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json trip_schema() { return schema_of<Trip>(); }

class AnswersTest : public Scripted {
 protected:
  std::vector<Entry> entries(const SessionId& session) const { return journal_->read(session, 1, 0).value(); }
};

// ---- structured answers

TEST_F(AnswersTest, Run_GivesAValueOfTheTypeAskedFor) {
  const auto trip = scripted(R"({"text": "{\"city\": \"Rome\", \"days\": 3}"})").run<Trip>("Plan a trip");
  ASSERT_TRUE(trip) << trip.error().message;
  ASSERT_TRUE(trip->value);
  EXPECT_EQ(trip->value->city, "Rome");
  EXPECT_EQ(trip->value->days, 3);
}

TEST_F(AnswersTest, AnswerThatNeverFits_IsAnErrorThatSaysWhere) {
  const auto trip = scripted(R"({"text": "{\"city\": \"Rome\"}"}
{"text": "{\"city\": \"Rome\", \"days\": \"three\"}"}
{"text": "{\"city\": \"Rome\", \"days\": \"three\"}"})")
                        .run<Trip>("Plan a trip");
  ASSERT_FALSE(trip);
  EXPECT_EQ(trip.error().code, ErrorCode::kModel);
  EXPECT_THAT(trip.error().message, HasSubstr("/days"));
}

TEST_F(AnswersTest, Correction_IsSeenAsAMessageOfTheRuntime) {
  Session session = session_of(scripted(R"({"text": "Rome"}
{"text": "{\"city\": \"Rome\", \"days\": 3}"})"));
  std::atomic<int> corrections = 0;
  const auto watching = session.on("message.added", [&](const Event& event) {
    if (std::get<events::MessageAdded>(event.body).source == MessageSource::kRuntime) ++corrections;
  });
  const auto trip = session.ask<Trip>("Plan a trip");
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_EQ(corrections, 1);
  EXPECT_EQ(json_string(session.last_result().structured, "city"), "Rome");
}

TEST_F(AnswersTest, TurnThatWaitsForAnApproval_HasNoAnswerYet) {
  const auto trip = scripted(R"({"tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]})")
                        .use(echo_tool())
                        .policy(asking({"echo"}))
                        .run<Trip>("Plan a trip");
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_FALSE(trip->value);
  ASSERT_EQ(trip->pending.size(), 1U);
  EXPECT_EQ(trip->pending.front().tool, "echo");
}

TEST_F(AnswersTest, InvalidSchema_IsRefusedBeforeAnythingIsRecorded) {
  Session session = session_of(scripted(R"({"text": "x"})"));
  const auto refused = session.ask("hi", {}, JsonObject{{"type", "objekt"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_THAT(refused.error().message, HasSubstr("type"));
  EXPECT_TRUE(session.history().empty());
  EXPECT_FALSE(scripted(R"({"text": "x"})").output_schema(JsonObject{{"type", 5}}).session());
}

TEST_F(AnswersTest, SchemaOfATurn_SurvivesTheProcess) {
  const Agent agent = scripted(R"({"tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]}
{"text": "{\"city\": \"Rome\", \"days\": 3}"})")
                          .use(echo_tool())
                          .policy(asking({"echo"}));
  SessionId id;
  {
    Session session = session_of(agent);
    id = session.session_id();
    ASSERT_TRUE(session.ask("Plan a trip", {}, trip_schema()));
  }
  const auto result = agent.resume(id, {{ParkId{"p1"}, approve()}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(json_string(result->structured, "city"), "Rome");
}

// ---- turns that go on

constexpr const char* kCall = R"({"tool_calls": [{"name": "echo", "arguments": {"text": "x"}}]})";
constexpr const char* kRome = R"({"text": "{\"city\": \"Rome\", \"days\": 3}"})";

class OpenAnswers : public AnswersTest {
 protected:
  /// A session whose turns end after one step.
  Session hasty(const std::string& script) {
    return session_of(scripted(script).use(echo_tool()).limits(limit(&Limits::max_steps, 1U)));
  }
  static void fail_with_schema(Session& session) {
    const auto trip = session.send(text_message(Role::kUser, "Plan a trip"), trip_schema()).report();
    ASSERT_TRUE(trip) << trip.error().message;
    ASSERT_FALSE(trip->success);
  }
  static AgentResult continued(Session& session) { return checked(session.run().report()); }
};

TEST_F(OpenAnswers, TurnThatALimitEnded_KeepsItsSchema) {
  Session session = hasty(std::string(kCall) + "\n" + kCall + "\n" + kRome);
  fail_with_schema(session);
  ASSERT_FALSE(continued(session).success);
  EXPECT_EQ(json_string(continued(session).structured, "city"), "Rome");
}

TEST_F(OpenAnswers, MessageAfterTheTurn_IsAnsweredFreely) {
  for (const bool is_late_steer : {true, false}) {
    Session session = hasty(std::string(kCall) + "\n" + R"({"text": "Rome."})");
    fail_with_schema(session);
    if (is_late_steer) {
      session.steer("Explain in prose");
    } else {
      ASSERT_TRUE(session.add_user_turn("Explain in prose"));
    }
    EXPECT_TRUE(continued(session).success) << is_late_steer;
  }
}

TEST_F(OpenAnswers, TurnThatARewindRemoved_LeavesNoSchema) {
  Session session = hasty("{\"text\": \"Hello.\"}\n" + std::string(kCall) + "\n{\"text\": \"Rome.\"}");
  ASSERT_TRUE(session.ask("Hi"));
  fail_with_schema(session);
  ASSERT_TRUE(session.rewind(TurnId{"t2"}));
  EXPECT_TRUE(continued(session).success);
}

TEST_F(OpenAnswers, TurnBeforeOneThatARewindRemoved_KeepsItsSchema) {
  Session session = hasty(std::string(kCall) + "\n{\"text\": \"Hello.\"}\n" + kRome);
  fail_with_schema(session);
  ASSERT_TRUE(session.ask("Hi"));
  ASSERT_TRUE(session.rewind(TurnId{"t2"}));
  EXPECT_EQ(json_string(continued(session).structured, "city"), "Rome");
}

// ---- images and files

/// Answers at once and records the requests.
class PickyModel final : public Model, public ModelSession {
 public:
  explicit PickyModel(ModelCapabilities capabilities) : capabilities_(capabilities) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return capabilities_; }
  MicroUsd price(const Usage& usage) const override { return {(usage.input - usage.cache_read) * 2}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<PickyModel>(*this); }
  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token) override {
    *asked_ = request;
    ModelResponse response;
    response.parts = {TextPart{"ok", nullptr}};
    response.usage.input = 250;
    sink->on_done(std::move(response));
  }
  const ModelRequest& asked() const { return *asked_; }

 private:
  std::string name_ = "test:picky";
  ModelCapabilities capabilities_;
  std::shared_ptr<ModelRequest> asked_ = std::make_shared<ModelRequest>();
};

Message with_picture(std::string bytes) {
  Message message = text_message(Role::kUser, "Whose face is this?");
  message.parts.emplace_back(ImagePart{{"image/png", std::move(bytes), {}}, nullptr});
  return message;
}

TEST_F(AnswersTest, ModelWithoutImageInput_GetsNoRequest) {
  const auto model = std::make_shared<PickyModel>(ModelCapabilities{.images = false, .files = false});
  Session session = session_of(Agent().model(model).runtime(runtime_));
  const auto refused = session.send(with_picture("pixels")).report();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_THAT(refused.error().message, HasSubstr("test:picky"));
  Message paper = text_message(Role::kUser, "Read this");
  paper.parts.emplace_back(FilePart{{"application/pdf", "%PDF-", {}}, "paper.pdf", nullptr});
  EXPECT_FALSE(session.send(paper).report());
  EXPECT_TRUE(session.history().empty());
}

TEST_F(AnswersTest, LargeImage_IsStoredOutsideTheRecordAndReachesTheModel) {
  const auto model = std::make_shared<PickyModel>(ModelCapabilities{});
  Session session = session_of(Agent().model(model).runtime(runtime_));
  const std::string pixels(100'000, '\x7f');
  ASSERT_TRUE(session.send(with_picture(pixels)).report());
  const auto& sent = model->asked().history.messages().back()->parts;
  EXPECT_EQ(std::get<ImagePart>(sent.at(1)).source.data, pixels);
  for (const Entry& entry : entries(session.session_id())) EXPECT_LT(entry.body.size(), kBlobThreshold);
}

TEST_F(AnswersTest, Tool_MayGiveImagesAndFiles) {
  const Agent agent = scripted(R"({"tool_calls": [{"id": "c1", "name": "look"}]}
{"text": "seen"})")
                          .use(host_tool("look", [](ToolContext&, const Json&) -> Result<ToolOutput> {
                            ToolOutput output = says("two things");
                            output.images.push_back({{"image/png", "pixels", {}}, nullptr});
                            output.files.push_back({{"application/pdf", "%PDF-", {}}, "paper.pdf", nullptr});
                            return output;
                          }));
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("look"));
  const auto result = result_for(session.history(), "c1");
  ASSERT_EQ(result.images.size(), 1U);
  ASSERT_EQ(result.files.size(), 1U);
  EXPECT_EQ(result.files[0].name, "paper.pdf");
}

// ---- windows and summaries

TEST_F(AnswersTest, WindowAndPrices_AreRecordedWithTheDescription) {
  const auto model = std::make_shared<PickyModel>(ModelCapabilities{.context_window = 1'000});
  Session session = session_of(Agent().model(model).runtime(runtime_));
  ASSERT_TRUE(session.ask("hi"));
  EXPECT_EQ(session.context_usage_percent(), 25);
  EXPECT_EQ(session.context_usage(), (std::pair<std::int64_t, std::int64_t>{250, 1000}));
  const auto state = fold(*read_records(*journal_, session.session_id()));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->agent->profile, (ModelProfile{1'000, false, MicroUsd{2'000'000}, MicroUsd{0}}));
}

TEST_F(AnswersTest, ContextUsage_RefersToTheWindowThatTheLoopUses) {
  const auto model = std::make_shared<PickyModel>(ModelCapabilities{.context_window = 200'000});
  Session session = session_of(
      Agent().model(model).limits(limit(&Limits::max_context, std::int64_t{1'000})).runtime(runtime_));
  ASSERT_TRUE(session.ask("hi"));
  EXPECT_EQ(session.context_usage_percent(), 25);
  EXPECT_EQ(session.context_usage(), (std::pair<std::int64_t, std::int64_t>{250, 1000}));
}

/// Three long tool rounds, the third of which needs a summary first.
std::string long_rounds() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "word ";
  std::string script;
  for (int i = 0; i < 3; ++i) {
    script +=
        R"({"tool_calls": [{"name": "echo", "arguments": {"text": ")" + std::to_string(i) + text + "\"}}]}\n";
  }
  return script + R"({"text": "What was said, in short."}
{"text": "done"})";
}

class CompactionTest : public AnswersTest {
 protected:
  Agent agent() {
    return scripted(long_rounds()).use(echo_tool()).limits(limit(&Limits::max_context, std::int64_t{3'000}));
  }
};

TEST_F(CompactionTest, IsAnEffectThatObserversSee) {
  std::vector<Json> seen;
  std::string deltas;
  Session session = session_of(agent());
  auto run = session.send_user_message("the goal");
  for (const Event& event : run) {
    seen.push_back(to_json(event));
    if (const auto* delta = std::get_if<events::TextDelta>(&event.body)) deltas += delta->text;
  }
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(deltas, "done") << "a summary is not an answer";
  EXPECT_THAT(result->full_text, Not(HasSubstr("in short")));
  const auto find = [&](std::string_view name, std::string_view key) {
    for (const Json& event : seen) {
      if (json_text(event, "event") == name && !json_at(event, key).is_null()) return event;
    }
    return Json();
  };
  EXPECT_EQ(json_string(find("model.requested", "purpose"), "purpose"), "summary");
  EXPECT_EQ(json_string(find("model.responded", "purpose"), "purpose"), "summary");
  EXPECT_EQ(json_string(find("history.cut", "summary"), "summary"), "What was said, in short.");
  EXPECT_EQ(json_string(find("prefix.broken", "cause"), "cause"), "compaction");
  EXPECT_EQ(result->model_calls.size(), 5U) << "its usage counts";
}

TEST_F(CompactionTest, Fork_BeforeIt_HasTheWholeConversation) {
  const Agent shortened = agent();
  Session session = session_of(shortened);
  ASSERT_TRUE(session.ask("the goal"));
  const auto records = read_records(*journal_, session.session_id());
  ASSERT_TRUE(records);
  const auto step = seq_of_step(*records, 3);
  ASSERT_TRUE(step) << step.error().message;
  const auto fork = fork_session(*journal_, runtime_->environment(), session.session_id(), *step);
  ASSERT_TRUE(fork) << fork.error().message;
  const auto state = praxis::fold(*read_records(*journal_, *fork));
  ASSERT_TRUE(state);
  const auto& messages = state->conversation.history().messages();
  ASSERT_EQ(messages.size(), 7U) << "the goal and three rounds";
  EXPECT_EQ(messages[1]->role, Role::kAssistant);
  EXPECT_LT(session.history().messages().size(), 7U);
}

}  // namespace
}  // namespace praxis::testing
