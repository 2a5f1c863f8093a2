#include "models/rate_limit.hpp"

#include <gtest/gtest.h>

#include "base/testing/manual_executor.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

std::string allowances(const HttpHeaders& headers) {
  std::string out;
  for (const auto& [resource, allowance] : read_allowances(headers)) {
    out += (resource == Resource::kRequests ? "requests " : "tokens ") + std::to_string(allowance.remaining) +
           '/' + std::to_string(allowance.limit) + " in " + std::to_string(allowance.reset.count()) + ";";
  }
  return out;
}

TEST(Allowances, EverySpelling_IsRead) {
  EXPECT_EQ(allowances({{"X-RateLimit-Limit-Requests", "60"},
                        {"x-ratelimit-remaining-requests", "59"},
                        {"x-ratelimit-reset-requests", "1s"},
                        {"x-ratelimit-remaining-tokens", "149984"},
                        {"x-ratelimit-reset-tokens", "17ms"}}),
            "requests 59/60 in 1000;tokens 149984/0 in 17;");
  EXPECT_EQ(allowances({{"date", "Sat, 31 Jan 2026 12:00:00 GMT"},
                        {"anthropic-ratelimit-requests-limit", "50"},
                        {"anthropic-ratelimit-requests-remaining", "0"},
                        {"anthropic-ratelimit-requests-reset", "2026-01-31T12:00:03Z"}}),
            "requests 0/50 in 3000;");
  EXPECT_EQ(allowances({{"date", "Sat, 31 Jan 2026 12:00:00 GMT"},
                        {"X-RateLimit-Remaining", "1"},
                        {"X-RateLimit-Reset", "1769860801500"}}),
            "requests 1/0 in 1500;");
}

TEST(Allowances, TightestWindow_Counts) {
  EXPECT_EQ(allowances({{"anthropic-ratelimit-input-tokens-remaining", "10"},
                        {"anthropic-ratelimit-output-tokens-remaining", "5"},
                        {"anthropic-ratelimit-input-tokens-reset", "1"},
                        {"anthropic-ratelimit-output-tokens-reset", "2"}}),
            "tokens 5/0 in 2000;");
}

TEST(Allowances, DistantReset_IsIgnored) {
  EXPECT_EQ(allowances({{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "6m0s"}}),
            "");
  EXPECT_EQ(allowances({{"x-ratelimit-remaining-req-minute", "0"}}), "") << "no reset";
  EXPECT_EQ(allowances({{"x-ratelimit-remaining-requests", "soon"}, {"x-ratelimit-reset-requests", "1s"}}),
            "");
  EXPECT_EQ(allowances({{"anthropic-ratelimit-requests-remaining", "0"},
                        {"anthropic-ratelimit-requests-reset", "2026-01-31T12:00:03Z"}}),
            "")
      << "a point in time without the server's own clock";
}

class RateGateTest : public testing::Test {
 protected:
  void pass(char name, std::int64_t tokens = 1, std::stop_token stop = {}) {
    gate_->pass(tokens, std::move(stop), [this, name](bool may_go) { log_ += may_go ? name : '-'; });
  }
  void learn(std::string remaining, std::string reset, std::string_view what = "requests",
             std::string limit = "") {
    gate_->learn({{"x-ratelimit-remaining-" + std::string(what), std::move(remaining)},
                  {"x-ratelimit-reset-" + std::string(what), std::move(reset)},
                  {"x-ratelimit-limit-" + std::string(what), std::move(limit)}},
                 {});
  }

  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>();
  std::shared_ptr<RateGate> gate_ = std::make_shared<RateGate>(executor_);
  std::string log_;
};

TEST(Allowances, InvalidTime_IsIgnored) {
  for (const std::string reset : {"nan", "inf", "-inf", "1e300", "-1e300"}) {
    EXPECT_TRUE(read_allowances({{"date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                 {"x-ratelimit-remaining", "0"},
                                 {"x-ratelimit-reset", reset}})
                    .empty())
        << reset;
  }
}

TEST_F(RateGateTest, UnknownLimits_AdmitEveryRequest) {
  pass('a', 1'000'000);
  EXPECT_EQ(log_, "a");
}

TEST_F(RateGateTest, ExcessRequests_WaitForTheReset) {
  learn("2", "1s");
  for (const char name : {'a', 'b', 'c', 'd'}) pass(name);
  EXPECT_EQ(log_, "ab");
  executor_->advance(999ms);
  EXPECT_EQ(log_, "ab");
  executor_->advance(1ms);
  EXPECT_EQ(log_, "abcd") << "in their order";
}

TEST_F(RateGateTest, Wait_IsAnnouncedWithItsLength) {
  learn("0", "30s");
  std::chrono::milliseconds expected{0};
  gate_->pass(1, {}, [this](bool) { log_ += 'a'; }, [&](std::chrono::milliseconds time) { expected = time; });
  EXPECT_EQ(log_, "");
  EXPECT_GT(expected, 20s);
  EXPECT_LE(expected, 30s);
}

TEST_F(RateGateTest, Tokens_AreCounted) {
  learn("100", "1s", "tokens", "1000");
  pass('a', 60);
  pass('b', 60);
  pass('c', 1);
  EXPECT_EQ(log_, "a") << "a small request does not overtake";
  executor_->advance(1s);
  EXPECT_EQ(log_, "abc");
}

TEST_F(RateGateTest, RequestAboveTheLimit_IsNotHeldBack) {
  learn("100", "1s", "tokens", "1000");
  pass('a', 5000);
  EXPECT_EQ(log_, "a") << "waiting would not help it";
}

TEST_F(RateGateTest, Refusal_HoldsBackAllRequestsForTheStatedTime) {
  gate_->learn({}, 2s);
  pass('a');
  executor_->advance(1s);
  EXPECT_EQ(log_, "");
  executor_->advance(1s);
  EXPECT_EQ(log_, "a");
  gate_->learn({}, 120s);
  pass('b');
  EXPECT_EQ(log_, "ab") << "no request is held back for minutes";
}

TEST_F(RateGateTest, StopRequest_EndsTheWait) {
  learn("0", "30s");
  std::stop_source before, during;
  before.request_stop();
  pass('a', 1, before.get_token());
  pass('b', 1, during.get_token());
  pass('c');
  executor_->run_ready();
  EXPECT_EQ(log_, "-");
  during.request_stop();
  executor_->run_ready();
  EXPECT_EQ(log_, "--");
  executor_->advance(30s);
  EXPECT_EQ(log_, "--c");
}

TEST_F(RateGateTest, NewerHeaders_ReplaceOlderOnes) {
  learn("0", "30s");
  learn("1", "1s");
  pass('a');
  pass('b');
  EXPECT_EQ(log_, "a");
  executor_->advance(1s);
  EXPECT_EQ(log_, "ab");
}

}  // namespace
}  // namespace praxis
