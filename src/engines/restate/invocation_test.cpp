#include "engines/restate/invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engines/restate/guard.hpp"
#include "engines/restate/testing/recorded.hpp"

namespace praxis::restate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace)

Invocation read(const std::string& body) {
  auto invocation = read_invocation(body);
  EXPECT_TRUE(invocation) << invocation.error().message;
  return invocation.value_or(Invocation{});
}

/// The answer as the recording has it, which the guard lets through.
void expect_answer(const Invocation& invocation, const std::string& answer, std::string_view hex) {
  EXPECT_EQ(answer, unhex(hex));
  const auto good = check_answer(invocation, answer);
  EXPECT_TRUE(good) << good.error().message;
}

TEST(RestateInvocation, FirstRequestHasNothing) {
  const Invocation invocation = read(request_of({kInput}));
  EXPECT_EQ(invocation.name, kInvocationName);
  EXPECT_EQ(invocation.key, kKey);
  EXPECT_TRUE(invocation.batches.empty());
  EXPECT_EQ(invocation.next_completion, 1U);
  EXPECT_EQ(awakeable_id(invocation, kFirstAwakeable), kAwakeable);
}

TEST(RestateInvocation, ProposesABatch) {
  const Invocation invocation = read(request_of({kInput}));
  expect_answer(invocation, propose(invocation, "abc"),
                "041100000000000b580162077265636f726473"  // run 1, "records"
                "0005000000000007080172036162"
                "63"
                "00010000000000030a0101");
}

TEST(RestateInvocation, ReadsItsBatchesAgain) {
  const Invocation invocation =
      read(request_of({kInput, kFirstRun, run_completed(1, "abc"), kSetAwakeable, kSleepTwo}, true));
  EXPECT_THAT(invocation.batches, ElementsAre("abc"));
  EXPECT_FALSE(invocation.open_run);
  EXPECT_EQ(invocation.next_completion, 3U);
  EXPECT_EQ(invocation.awakeable, kAwakeable);
  ASSERT_TRUE(invocation.open_sleep);
  EXPECT_EQ(invocation.open_sleep->completion, 2U);
  EXPECT_EQ(invocation.sleeps, 1U);
}

TEST(RestateInvocation, ProposesAgainForARunWithoutAValue) {
  const Invocation invocation = read(request_of({kInput, kFirstRun}));
  EXPECT_EQ(invocation.open_run, 1U);
  expect_answer(invocation, propose(invocation, "abc"),
                "000500000000000708017203616263"
                "00010000000000030a0101");
}

TEST(RestateInvocation, SuspendsUntilAnAwakeableOrAMoment) {
  const Invocation fresh = read(request_of({kInput, kFirstRun, run_completed(1, "abc")}));
  expect_answer(
      fresh, suspend(fresh, UnixMillis{1'795'811'265'984}),
      "040300000000003b0a096177616b6561626c651a2e0a2c7369676e5f31316957414271627352636d39787a55354f3945525568"
      "6e706166495064496364414141414551"
      "040c00000000000908c09bc5f5a1345802"
      "00010000000000070a010212021101");
  // The same again needs neither state nor sleep.
  const Invocation again =
      read(request_of({kInput, kFirstRun, run_completed(1, "abc"), kSetAwakeable, kSleepTwo}, true));
  expect_answer(again, suspend(again, UnixMillis{1}), "00010000000000070a010212021101");
}

TEST(RestateInvocation, WaitsForTheNextAwakeableAfterASignal) {
  const Invocation woken = read(
      request_of({kInput, kFirstRun, run_completed(1, "abc"), kSetAwakeable, kSleepTwo, kSignal17}, true));
  EXPECT_EQ(woken.next_signal, 18U);
  EXPECT_NE(awakeable_id(woken, woken.next_signal), kAwakeable);
  EXPECT_TRUE(check_answer(woken, suspend(woken, UnixMillis{1})));
}

TEST(RestateInvocation, NoticesACancellation) {
  const RecordedEntry cancel{FrameType::kSignal, unhex("10012200")};
  const Invocation invocation = read(request_of({kInput, cancel}));
  EXPECT_TRUE(invocation.cancelled);
  EXPECT_EQ(invocation.next_signal, kFirstAwakeable);
  EXPECT_TRUE(check_answer(invocation, suspend(invocation, UnixMillis{1})));
}

TEST(RestateInvocation, EndsWithOneOutput) {
  const Invocation slept = read(request_of({kInput, kSetAwakeable}, true));
  expect_answer(slept, finish(slept),
                "040400000000000b0a096177616b6561626c65"
                "04010000000000027200"
                "0003000000000000");
  const Invocation had = read(request_of({kInput, {FrameType::kOutput, unhex("7200")}}));
  expect_answer(had, finish(had), "0003000000000000");
}

TEST(RestateInvocation, WakesWhatTheStateNames) {
  const Invocation invocation = read(wake_request());
  EXPECT_EQ(invocation.awakeable, kAwakeable);
  expect_answer(
      invocation, wake(invocation),
      "04140000000000300a2c7369676e5f31316957414271627352636d39787a55354f39455255686e706166495064496364414141"
      "4145511200"
      "04010000000000027200"
      "0003000000000000");
}

TEST(RestateInvocation, RefusesWithADelay) {
  const Invocation invocation = read(request_of({kInput}));
  expect_answer(invocation, refuse("no", Millis{1'000}), "000200000000000a08f40312026e6f40e807");
}

TEST(RestateInvocation, RefusesARequestThatCannotBe) {
  const std::string good = request_of({kInput, kFirstRun, run_completed(1, "abc")});
  EXPECT_TRUE(read_invocation(good));
  const auto refused = [](const std::string& body, const char* why) {
    const auto invocation = read_invocation(body);
    ASSERT_FALSE(invocation);
    EXPECT_THAT(invocation.error().message, HasSubstr(why));
  };
  refused("", "no start");
  for (std::size_t cut = 1; cut < good.size(); ++cut)
    EXPECT_FALSE(read_invocation(good.substr(0, cut))) << cut;
  refused(request_of({kInput}) + request_of({kInput}), "lacks entries");
  refused(request_of({kInput, kFirstRun, kFirstRun}), "two runs");
  refused(request_of({kInput, run_completed(1, "abc")}), "not open");
  refused(request_of({kInput, kFirstRun, {FrameType::kRunCompletion, unhex("08013200")}}), "no value");
  refused(request_of({kInput, {static_cast<FrameType>(0x040D), ""}}), "never writes");
}

}  // namespace
}  // namespace praxis::restate
