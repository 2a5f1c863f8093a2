// Outages of a model's server: which failures are waited out, for how long, and what observers see of it.
#include <gtest/gtest.h>

#include "core/project.hpp"
#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

constexpr Millis kPatience{60'000};

struct Patient : Fold {
  explicit Patient(Millis patience = kPatience, std::uint32_t attempts = 4)
      : Fold(agent(patience, attempts), kAskModel) {
    begin("hi");
  }

  static AgentSpec agent(Millis patience, std::uint32_t attempts) {
    AgentSpec spec;
    spec.model = "test:model";
    spec.limits.patience = patience;
    spec.limits.max_model_attempts = attempts;
    spec.limits.max_model_retries = 2;
    return spec;
  }

  /// Fails the attempt in progress. Its duration includes the delay before it.
  void fail(ErrorKind kind, Millis took = Millis{10}, Json retry_after = nullptr, int status = 0) {
    const EffectState& effect = *turn().effect;
    records::EffectSettled settled;
    settled.effect = effect.effect;
    settled.outcome = Outcome::kError;
    settled.error = make_error(ErrorCode::kModel, kind, "down", true);
    if (!retry_after.is_null()) settled.error->set_value("retry_after_ms", retry_after);
    if (status != 0) settled.error->set("status", status);
    settled.duration = effect.delay + took;
    apply(std::move(settled));
    run();
  }
  Millis delay() const { return turn().effect->delay; }
  /// Fails every attempt; returns their number.
  std::uint32_t fail_all(ErrorKind kind, Millis took = Millis{10}, int status = 0) {
    std::uint32_t attempts = 0;
    while (state().turn && attempts < 100) {
      attempts = turn().effect->attempt;
      fail(kind, took, nullptr, status);
    }
    return attempts;
  }
};

TEST(Patience, Outage_IsRetriedUntilThePatienceIsUsedUp) {
  for (const ErrorKind kind : {ErrorKind::kNetwork, ErrorKind::kOverloaded, ErrorKind::kRateLimit}) {
    Patient fold;
    Millis waited{0};
    while (fold.state().turn) {
      fold.fail(kind, Millis{0});
      if (fold.state().turn) waited += fold.delay();
      ASSERT_LE(waited, kPatience);
    }
    EXPECT_EQ(waited, kPatience) << "the last attempt is at the end of it";
    const AgentResult result = fold.result();
    EXPECT_EQ(result.reason, StopReason::kModelFailed);
    EXPECT_GT(result.retries.attempts, 5U) << "more than max_model_attempts";
    EXPECT_LT(result.retries.attempts, 20U) << "each wait is longer";
    EXPECT_NE(result.error->message.find("down; gave up after "), std::string::npos) << result.error->message;
    EXPECT_NE(result.error->message.find("patience of 60 s"), std::string::npos) << result.error->message;
  }
}

TEST(Patience, OtherFailures_KeepTheNumberOfAttempts) {
  EXPECT_EQ(Patient().fail_all(ErrorKind::kServer, Millis{10}, 500), 3U) << "max_model_retries is 2";
  EXPECT_EQ(Patient().fail_all(ErrorKind::kTruncatedStream), 3U);
  EXPECT_EQ(Patient(Millis{0}).fail_all(ErrorKind::kNetwork), 3U) << "no patience is given";
  EXPECT_EQ(Patient(kPatience, 1).fail_all(ErrorKind::kNetwork), 1U) << "one attempt is allowed";
  EXPECT_GT(Patient().fail_all(ErrorKind::kServer, Millis{10}, 502), 5U) << "a gateway without its server";
}

TEST(Patience, Outages_DoNotUseUpTheRetriesOfOtherFailures) {
  Patient fold;
  for (int i = 0; i < 4; ++i) fold.fail(ErrorKind::kNetwork);
  EXPECT_EQ(fold.turn().model_retries, 0U);
  fold.fail(ErrorKind::kServer);
  fold.answer(calls({tool_call("c", "read")}));
  fold.give("c", "x");
  for (int i = 0; i < 2; ++i) fold.fail(ErrorKind::kServer);
  EXPECT_FALSE(fold.state().turn) << "max_model_retries is 2";
}

TEST(Patience, ServerThatStalls_IsAskedTwice) {
  EXPECT_EQ(Patient().fail_all(ErrorKind::kTimeout, Millis{300'000}), 2U);
}

TEST(Patience, RetryAfter_IsObeyedWithinThePatience) {
  Patient fold;
  fold.fail(ErrorKind::kRateLimit, Millis{10}, 50'000);
  EXPECT_EQ(fold.delay(), Millis{50'000});
  fold.fail(ErrorKind::kRateLimit, Millis{10}, 50'000);
  ASSERT_FALSE(fold.state().turn) << "10 s are left";
  const std::string message = fold.result().error->message;
  EXPECT_NE(message.find("the server asks to wait 50 s"), std::string::npos) << message;
}

TEST(Patience, Wait_IsAnEventWithItsReasonAndEnd) {
  Patient fold;
  fold.fail(ErrorKind::kOverloaded);
  EventKinds all;
  all.set();
  const auto events = project(fold.log().back(), fold.state(), all);
  const auto* wait = std::get_if<events::ModelWaiting>(&events.front().body);
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->reason, events::WaitReason::kRetry);
  EXPECT_EQ(wait->error->kind(), ErrorKind::kOverloaded);
  EXPECT_EQ(events.front().attempt, 2U);
  EXPECT_EQ(wait->delay, fold.delay());
  EXPECT_EQ(wait->until, events.front().time + fold.delay());
  EXPECT_EQ(wait->gives_up, events.front().time + (kPatience - Millis{10}));
  EXPECT_EQ(wait->attempts, 0U);
  const Json json = to_json(events.front());
  EXPECT_EQ(json_string(json, "event"), "model.waiting");
  EXPECT_EQ(json_string(json, "reason"), "retry");
  EXPECT_EQ(json_string(json, "until"), to_iso8601(wait->until));

  fold.fail(ErrorKind::kServer);
  const auto bounded = project(fold.log().back(), fold.state(), all);
  EXPECT_EQ(std::get<events::ModelWaiting>(bounded.front().body).attempts, 5U) << "one was an outage";
  EXPECT_EQ(std::get<events::ModelWaiting>(bounded.front().body).gives_up, UnixMillis{});
}

}  // namespace
}  // namespace praxis
