// Calls that Python code has made, three levels down, and that wait for a decision when their process is
// killed: decided in another process, voided or expired, each runs once or not at all.
#include <gtest/gtest.h>

#include "crash_agents.hpp"
#include "crash_checks.hpp"
#include "praxis/core/state.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis {
namespace {

using testing::Counts;
using testing::Rig;

/// The payments made, and how often.
Counts paid(const Rig& rig) {
  Counts counts;
  for (const auto& line : rig.ledger()) {
    if (line[0].starts_with("pay")) ++counts[line[0]];
  }
  return counts;
}

class CrashPython : public ::testing::Test {
 protected:
  /// Runs until all three calls are parked, then kills the process.
  void SetUp() override {
    ASSERT_TRUE(rig_.run({"person", "inside"}));
    const auto clerk = fold(log_of("top/manager/clerk"));
    ASSERT_TRUE(clerk) << clerk.error().message;
    clerk_ = clerk->id;
    ASSERT_EQ(clerk->parked.size(), 3U);
    for (const auto& [id, step] : clerk->parked) {
      EXPECT_EQ(step.kind, ParkKind::kApproval);
      park_[json_string(*parse_json(step.arguments), "what")] = id;
    }
    EXPECT_EQ(paid(rig_), Counts{});
  }

  std::vector<StoredRecord> log_of(const std::string& path) const {
    for (const auto& log : rig_.logs()) {
      const auto state = fold(log);
      if (state && state->path == path) return log;
    }
    throw std::runtime_error("no session is called " + path);
  }
  /// The output of the code: a line for each call.
  std::string printed() const {
    return testing::result_for(fold(log_of("top/manager/clerk"))->conversation.history(), "call_1_1").text;
  }
  /// Decides through the journal's inbox, from this process; no process owns the session.
  void decide(const std::string& what, const Approval& approval) const {
    const auto journal = testing::open_journal(rig_.journal());
    const auto environment = system_environment();
    const auto answer = deliver(*journal, *environment, StepApproval{clerk_, park_.at(what), approval});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(std::holds_alternative<Delivered>(*answer)) << what;
  }
  /// Another process resumes the session to its end.
  void resume() {
    EXPECT_FALSE(rig_.run({}));
    const auto logs = rig_.logs();
    testing::check_result("python", "tell", logs);
    testing::check_replay(logs);
  }

  Rig rig_{"python", "tell"};
  SessionId clerk_;
  std::map<std::string, ParkId> park_;
};

TEST_F(CrashPython, CallsDecidedByInbox_RunOnceInTheNextProcess) {
  decide("a", approve());
  decide("b", edit(R"({"what": "B"})"));
  decide("c", approve());
  EXPECT_EQ(paid(rig_), Counts{});
  resume();
  EXPECT_EQ(printed(), "a pay done\nB pay done\nc pay done\n");
  EXPECT_EQ(paid(rig_), (Counts{{"pay:a", 1}, {"pay:B", 1}, {"pay:c", 1}}));
}

TEST_F(CrashPython, CallsDecidedByInboxAndKilledAgain_RunOnce) {
  decide("a", approve());
  decide("b", edit(R"({"what": "B"})"));
  decide("c", approve());
  EXPECT_TRUE(rig_.run({"pay", "recorded", 2}));
  resume();
  const Counts counts = paid(rig_);
  for (const auto& [what, times] : counts) EXPECT_EQ(times, 1) << what;
  EXPECT_GE(counts.size(), 2U) << "at most one was in flight and is reported as unknown";
}

TEST_F(CrashPython, CallsDecidedInAProcessThatOpensTheSession_RunOnce) {
  {
    testing::Doom none("-");
    const testing::Ledger ledger(rig_.ledger_file().c_str());
    RuntimeOptions options;
    options.journal = testing::open_journal(rig_.journal());
    const auto runtime = Runtime::create(std::move(options));
    const Agent agent = testing::python_agent({runtime, none, ledger});
    const auto root = fold(log_of("top"));
    auto session = runtime->open_session(root->id, agent);
    ASSERT_TRUE(session) << session.error().message;
    Approvals decisions;
    for (const auto& [what, park] : park_)
      decisions.emplace_back(qualified_id(clerk_, park), what == "b" ? edit(R"({"what": "B"})") : approve());
    const auto result = session->resume(decisions).report();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->text, "All is done.");
  }
  resume();  // finds nothing to do
  EXPECT_EQ(printed(), "a pay done\nB pay done\nc pay done\n");
  EXPECT_EQ(paid(rig_), (Counts{{"pay:a", 1}, {"pay:B", 1}, {"pay:c", 1}}));
}

TEST_F(CrashPython, DeniedCall_IsReportedToTheCodeAndTheRestRuns) {
  decide("a", reject("not that"));
  decide("b", approve());
  decide("c", reject("nor that"));
  resume();
  EXPECT_NE(printed().find("not that"), std::string::npos) << printed();
  EXPECT_NE(printed().find("nor that"), std::string::npos) << printed();
  EXPECT_EQ(paid(rig_), (Counts{{"pay:b", 1}}));
}

TEST_F(CrashPython, ExpiredCall_CountsAsDenied) {
  rig_.become("python_late");
  resume();
  EXPECT_NE(printed().find("nobody decided in time"), std::string::npos) << printed();
  EXPECT_EQ(paid(rig_), Counts{});
}

TEST_F(CrashPython, ChangedRules_VoidTheApprovalsAndAskAgain) {
  rig_.become("python_ruled");
  ASSERT_TRUE(rig_.run({"person", "inside"}));
  const auto clerk = fold(log_of("top/manager/clerk"));
  EXPECT_EQ(clerk->parked.size(), 3U);
  for (const auto& [what, park] : park_) {
    const auto asked_again =
        std::ranges::none_of(clerk->parked, [&](const auto& parked) { return parked.first == park; });
    EXPECT_TRUE(asked_again) << what;
    const auto journal = testing::open_journal(rig_.journal());
    const auto environment = system_environment();
    const auto answer = deliver(*journal, *environment, StepApproval{clerk_, park, approve()});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(std::holds_alternative<Refused>(*answer))
        << what << " was decided by an approval that is void";
  }
  EXPECT_EQ(paid(rig_), Counts{});
  resume();
  EXPECT_EQ(paid(rig_), (Counts{{"pay:a", 1}, {"pay:b", 1}, {"pay:c", 1}}));
}

}  // namespace
}  // namespace praxis
