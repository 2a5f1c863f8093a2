// The first record of a session is written with its first input, so that a crash leaves no session without
// it.
#include <gtest/gtest.h>

#include "driver/testing/rig.hpp"

namespace praxis::driver {
namespace {

using Kinds = std::vector<std::string>;

std::shared_ptr<const ParentAddress> parent() {
  return std::make_shared<const ParentAddress>(
      ParentAddress{SessionId{"s0"}, CallId{"w"}, {SessionId{"s0"}, 1}});
}

TEST(Birth, SharesTheAppendOfThePrompt) {
  Rig rig;
  EXPECT_EQ(rig.kinds, Kinds{}) << "nothing may be durable before the prompt";
  rig.ask();
  EXPECT_EQ(rig.count<AppendRecords>(), 1U);
  EXPECT_EQ(rig.kinds, (Kinds{"session_created", "turn_started", "message_appended", "effect_intended"}));
}

TEST(Birth, OfARootIsShownInTheAgentTreeBeforeItIsWritten) {
  Rig rig;
  const auto* shown = rig.find<ShowSession>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->status, SessionStatus::kIdle);
  EXPECT_TRUE(shown->updated);
  EXPECT_EQ(Rig(echoing(), false, parent()).find<ShowSession>(), nullptr)
      << "a sub-agent that is shown has a log";
}

TEST(Birth, KeepsTheStateInMemoryUntilItIsWritten) {
  Rig rig;
  rig.driver->suspend();
  EXPECT_TRUE(rig.driver->has_state());
}

TEST(Birth, IsWrittenForACallerThatWaits) {
  Rig awaited;
  awaited.feed(DurableAwaited{7});
  EXPECT_EQ(awaited.kinds, Kinds{"session_created"});
  ASSERT_NE(awaited.find<AnswerWaiter>(), nullptr);
  Rig rested;
  rested.feed(RestAwaited{8});
  EXPECT_EQ(rested.kinds, Kinds{"session_created"});
  EXPECT_NE(rested.find<AnswerWaiter>(), nullptr);
}

TEST(Birth, SharesTheAppendOfACommand) {
  Rig rig;
  RecordsGiven given;
  given.records.emplace_back(records::Intervened{CommandVerb::kAnnotate, "later", nullptr, by_library()});
  rig.feed(std::move(given));
  EXPECT_EQ(rig.count<AppendRecords>(), 1U);
  EXPECT_EQ(rig.kinds, (Kinds{"session_created", "intervened"}));
}

TEST(Birth, OfARootIsWrittenWhenItIsClosed) {
  Rig rig;
  rig.feed(Abandoned{});
  EXPECT_EQ(rig.kinds, Kinds{"session_created"});
  EXPECT_NE(rig.find<GiveUp>(), nullptr);
  EXPECT_FALSE(rig.driver->take_birth());
}

TEST(Birth, OfARootIsTakenOnce) {
  Rig rig;
  const auto birth = rig.driver->take_birth();
  ASSERT_TRUE(birth);
  EXPECT_EQ(birth->expected_seq, 0U);
  ASSERT_EQ(birth->entries.size(), 1U);
  EXPECT_EQ(birth->entries.front().kind, "session_created");
  EXPECT_FALSE(rig.driver->take_birth());
}

TEST(Birth, OfASubAgentWithoutAPromptIsNeverWritten) {
  Rig rig(echoing(), false, parent());
  EXPECT_FALSE(rig.driver->take_birth());
  rig.feed(Abandoned{});
  EXPECT_EQ(rig.kinds, Kinds{});
}

TEST(Birth, IsNotWrittenAfterAFault) {
  Rig rig;
  rig.feed(Faulted{make_error(ErrorCode::kJournal, ErrorKind::kIo, "disk I/O error")});
  EXPECT_FALSE(rig.driver->take_birth());
  EXPECT_EQ(rig.kinds, Kinds{});
}

}  // namespace
}  // namespace praxis::driver
