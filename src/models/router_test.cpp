#include "praxis/models/router.hpp"

#include <gtest/gtest.h>

#include "models/vendor_error.hpp"
#include "praxis/base/environment.hpp"

namespace praxis {
namespace {

/// Answers with its own name, or fails with `failure`.
class NamedModel final : public Model {
 public:
  NamedModel(std::string name, ModelCapabilities can, std::int64_t price = 0)
      : name_(std::move(name)), can_(can), price_(price) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return can_; }
  MicroUsd price(const Usage& usage) const override { return {price_ * usage.total()}; }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<Session>(*this); }

  std::string failure;     ///< kind of the error; empty: it answers
  std::string says_first;  ///< text streamed before it fails
  Usage used_in_vain;      ///< comes with the error
  int calls = 0;
  std::function<void()> on_call = [] {};

 private:
  struct Session final : ModelSession {
    explicit Session(NamedModel& model) : of(model) {}
    void start(const ModelRequest&, std::shared_ptr<ModelSink> sink, std::stop_token) override {
      ++of.calls;
      of.on_call();
      sink->on_delta(KeepAlive{});
      if (!of.says_first.empty()) sink->on_delta(TextChunk{of.says_first});
      if (of.failure == "cancelled") return sink->on_done(fail(ErrorCode::kCancelled, "cancelled"));
      if (!of.failure.empty()) {
        Error error = model_error(error_kind_from(of.failure), of.name_ + ": " + of.failure);
        report_usage(error, of.used_in_vain);
        return sink->on_done(fail(std::move(error)));
      }
      sink->on_delta(TextChunk{of.name_});
      ModelResponse response;
      response.parts.emplace_back(TextPart{of.name_});
      response.usage.input = 10;
      sink->on_done(std::move(response));
    }
    NamedModel& of;
  };

  const std::string name_;
  const ModelCapabilities can_;
  const std::int64_t price_;
};

using Models = std::vector<std::shared_ptr<NamedModel>>;

struct Outcome {
  Result<ModelResponse> response;
  std::string seen;
};

std::string text(const Outcome& outcome) {
  if (!outcome.response) return "error " + json_string(outcome.response.error().detail(), "kind");
  return std::get<TextPart>(outcome.response->parts.at(0)).text;
}

Outcome ask(Model& model, const ModelRequest& request = {}) {
  std::string seen;
  auto response = complete(model, request, {}, [&](const ModelDelta& delta) {
    if (const auto* chunk = std::get_if<TextChunk>(&delta)) seen += chunk->text;
    if (std::holds_alternative<Restarted>(delta)) seen += "<restart>";
  });
  return {std::move(response), seen};
}

std::shared_ptr<Model> router_of(const Models& models, RouterOptions options = {}) {
  return make_router({models.begin(), models.end()}, std::move(options));
}

Models two() {
  return {std::make_shared<NamedModel>("a", ModelCapabilities{}),
          std::make_shared<NamedModel>("b", ModelCapabilities{})};
}

TEST(Router, FirstModel_Answers) {
  const Models models = two();
  EXPECT_EQ(text(ask(*router_of(models))), "a");
  EXPECT_EQ(models[1]->calls, 0);
}

TEST(Router, FailureThatAnotherModelMayNotHave_GoesToTheNext) {
  for (const auto* kind : {"network", "overloaded", "rate_limit", "server", "timeout", "truncated_stream",
                           "auth", "billing", "not_found", "context_overflow"}) {
    const Models models = two();
    models[0]->failure = kind;
    const Outcome outcome = ask(*router_of(models));
    EXPECT_EQ(text(outcome), "b") << kind;
    ASSERT_EQ(outcome.response->warnings.size(), 1u);
    EXPECT_EQ(outcome.response->warnings[0], std::string("a: ") + kind + "; asked the next model");
    EXPECT_EQ(outcome.seen, "b");
  }
}

TEST(Router, InvalidRequest_IsNotRetriedElsewhere) {
  for (const auto* kind : {"invalid_request", "content_policy", "protocol"}) {
    const Models models = two();
    models[0]->failure = kind;
    EXPECT_EQ(text(ask(*router_of(models))), std::string("error ") + kind);
  }
  const Models models = two();
  models[0]->failure = "cancelled";
  EXPECT_EQ(ask(*router_of(models)).response.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(models[1]->calls, 0);
}

TEST(Router, LastError_IsReturnedIfAllModelsFail) {
  const Models models = two();
  models[0]->failure = "overloaded";
  models[1]->failure = "rate_limit";
  EXPECT_EQ(text(ask(*router_of(models))), "error rate_limit");
}

TEST(Router, UsageOfModelsThatFailed_IsKeptWithTheirPrice) {
  const Models models{std::make_shared<NamedModel>("a", ModelCapabilities{}, 1000),
                      std::make_shared<NamedModel>("b", ModelCapabilities{}, 1)};
  models[0]->failure = "overloaded";
  models[0]->used_in_vain = {.input = 9, .output = 4};
  const Outcome answered = ask(*router_of(models));
  EXPECT_EQ(text(answered), "b");
  EXPECT_EQ(answered.response->failed_usage, (Usage{.input = 9, .output = 4, .cost = {13'000}}));
  EXPECT_EQ(answered.response->usage.total(), 10) << "of the answer alone";

  models[1]->failure = "overloaded";
  models[1]->used_in_vain = {.input = 1, .output = 0};
  Outcome failed = ask(*router_of(models));
  EXPECT_EQ(take_reported_usage(failed.response.error()),
            (Usage{.input = 10, .output = 4, .cost = {13'001}}));
}

TEST(Router, FallbackAfterOutput_RequiresTheRestartOption) {
  Models models = two();
  models[0]->failure = "truncated_stream";
  models[0]->says_first = "Hel";
  EXPECT_EQ(text(ask(*router_of(models))), "error truncated_stream");
  const Outcome restarted = ask(*router_of(models, {.restart = true}));
  EXPECT_EQ(text(restarted), "b");
  EXPECT_EQ(restarted.seen, "Hel<restart>b");
}

TEST(Router, Call_GoesToAModelThatSupportsIt) {
  const Models models{std::make_shared<NamedModel>(
                          "plain", ModelCapabilities{.tools = false, .images = false, .files = false}),
                      std::make_shared<NamedModel>("small", ModelCapabilities{.context_window = 20}),
                      std::make_shared<NamedModel>("able", ModelCapabilities{})};
  ModelRequest request;
  EXPECT_EQ(text(ask(*router_of(models), request)), "plain");
  request.tools = std::make_shared<std::vector<ToolDefinition>>(1);
  EXPECT_EQ(text(ask(*router_of(models), request)), "small");
  request.instructions = std::string(400, 'x') + " " + std::string(400, 'y');
  for (int i = 0; i < 50; ++i) request.instructions += " and more";
  EXPECT_EQ(text(ask(*router_of(models), request)), "able");

  ModelRequest picture;
  Message message = text_message(Role::kUser, "what is this?");
  message.parts.emplace_back(ImagePart{{"image/png", "x", ""}, nullptr});
  picture.history = normalise({message}).history;
  EXPECT_EQ(text(ask(*router_of({models[0]}), picture)), "error invalid_request");
  EXPECT_NE(
      ask(*router_of({models[0]}), picture).response.error().message.find("plain does not accept images"),
      std::string::npos);
}

TEST(Router, CostLimit_ExcludesExpensiveModels) {
  const Models models{std::make_shared<NamedModel>("costly", ModelCapabilities{}, 1000),
                      std::make_shared<NamedModel>("cheap", ModelCapabilities{}, 1)};
  ModelRequest request;
  request.options.max_output_tokens = 100;
  const Outcome outcome = ask(*router_of(models, {.max_usd = MicroUsd{50'000}}), request);
  EXPECT_EQ(text(outcome), "cheap");
  EXPECT_EQ(outcome.response->usage.cost.value, 10) << "priced by the one that answered";
  EXPECT_EQ(text(ask(*router_of(models, {.max_usd = MicroUsd{10}}), request)), "error invalid_request");
}

TEST(Router, PriceAndMaxOutput_AreUpperBoundsOverTheModels) {
  const auto costly = std::make_shared<NamedModel>("costly", ModelCapabilities{.max_output = 100}, 1000);
  const auto cheap = std::make_shared<NamedModel>("cheap", ModelCapabilities{.max_output = 200}, 1);
  const auto unknown = std::make_shared<NamedModel>("unknown", ModelCapabilities{});
  const Usage usage{.input = 1, .output = 1};
  const auto known = router_of({cheap, costly});
  EXPECT_EQ(known->price(usage).value, 2000);
  EXPECT_EQ(known->capabilities().max_output, 200);
  const auto partly = router_of({cheap, unknown});
  EXPECT_EQ(partly->price(usage).value, 0);
  EXPECT_EQ(partly->capabilities().max_output, 0);
}

TEST(Router, Strategy_OrdersTheCandidates) {
  const Models models{std::make_shared<NamedModel>("costly", ModelCapabilities{}, 1000),
                      std::make_shared<NamedModel>("unknown", ModelCapabilities{}),
                      std::make_shared<NamedModel>("cheap", ModelCapabilities{}, 1)};
  EXPECT_EQ(text(ask(*router_of(models, {.strategy = by_cost}))), "cheap");
  models[2]->failure = "overloaded";
  EXPECT_EQ(text(ask(*router_of(models, {.strategy = by_cost}))), "costly") << "unknown prices come last";

  // A strategy of the host: the model that failed goes last.
  RouterOptions own;
  own.strategy = [](const ModelRequest&, std::span<const Candidate> candidates) {
    std::vector<std::size_t> order = by_priority({}, candidates);
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(candidates[i].failures, i); });
    return order;
  };
  models[0]->failure = "server";
  const auto router = router_of(models, own);
  EXPECT_EQ(text(ask(*router)), "unknown");
  EXPECT_EQ(models[0]->calls, 2) << "one from before";
  EXPECT_EQ(text(ask(*router)), "unknown");
  EXPECT_EQ(models[0]->calls, 2) << "it is no longer the first choice";
}

TEST(Router, ModelWithShorterAnswersThanRequestedIsSkipped) {
  ModelCapabilities terse, verbose;
  terse.max_output = 100;
  verbose.max_output = 8000;
  const Models models{std::make_shared<NamedModel>("terse", terse),
                      std::make_shared<NamedModel>("verbose", verbose)};
  const auto router = make_router({models[0], models[1]});
  ModelRequest request;
  request.options.max_output_tokens = 5000;
  EXPECT_EQ(text(ask(*router, request)), "verbose");
  request.options.max_output_tokens = 100;
  EXPECT_EQ(text(ask(*router, request)), "terse");
  request.options.max_output_tokens = 9000;
  const Outcome none = ask(*router, request);
  ASSERT_FALSE(none.response);
  EXPECT_NE(none.response.error().message.find("terse gives at most 100 tokens, less than 9000"),
            std::string::npos)
      << none.response.error().message;
}

/// A clock that advances only when a model takes time.
class ModelClock final : public Environment {
 public:
  UnixMillis now() override { return {}; }
  std::chrono::nanoseconds monotonic() override { return time; }
  std::uint64_t random() override { return 1; }
  std::chrono::nanoseconds time{0};
};

TEST(Router, ByLatency_TriesEachModelOnceThenTheFastest) {
  const auto clock = std::make_shared<ModelClock>();
  const Models models{std::make_shared<NamedModel>("slow", ModelCapabilities{}),
                      std::make_shared<NamedModel>("quick", ModelCapabilities{})};
  models[0]->on_call = [&] { clock->time += std::chrono::seconds{3}; };
  models[1]->on_call = [&] { clock->time += std::chrono::seconds{1}; };
  const auto router =
      make_router({models[0], models[1]},
                  {.strategy = by_latency, .max_usd = {}, .restart = false, .environment = clock});
  std::string answers;
  for (int i = 0; i < 5; ++i) answers += text(ask(*router)) + ' ';
  EXPECT_EQ(answers, "slow quick quick quick quick ");
  models[1]->on_call = [&] { clock->time += std::chrono::seconds{30}; };
  EXPECT_EQ(text(ask(*router)), "quick");
  EXPECT_EQ(text(ask(*router)), "slow") << "its mean is lower now";
}

TEST(Router, ByLatency_TriesAModelThatOnlyFailedLast) {
  const auto clock = std::make_shared<ModelClock>();
  const Models models{std::make_shared<NamedModel>("broken", ModelCapabilities{}),
                      std::make_shared<NamedModel>("sound", ModelCapabilities{})};
  models[0]->failure = "server";
  models[1]->on_call = [&] { clock->time += std::chrono::seconds{1}; };
  const auto router =
      make_router({models[0], models[1]},
                  {.strategy = by_latency, .max_usd = {}, .restart = false, .environment = clock});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text(ask(*router)), "sound");
  EXPECT_EQ(models[0]->calls, 1);
}

TEST(Router, Capabilities_AreTheUnionOfItsModels) {
  const Models models{
      std::make_shared<NamedModel>("a", ModelCapabilities{.tools = false, .context_window = 100}),
      std::make_shared<NamedModel>("b", ModelCapabilities{.context_window = 200})};
  const auto router = router_of(models);
  EXPECT_EQ(router->name(), "a|b");
  EXPECT_TRUE(router->capabilities().tools);
  EXPECT_EQ(router->capabilities().context_window, 200);
}

}  // namespace
}  // namespace praxis
