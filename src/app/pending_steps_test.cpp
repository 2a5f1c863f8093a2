#include "app/pending_steps.hpp"

#include <gtest/gtest.h>

#include "app/pending_text.hpp"

namespace praxis::app {
namespace {

PendingStep pending(const std::string& run, const std::string& step) {
  PendingStep made;
  made.node.id = SessionId(run);
  made.node.path = "lead/research";
  made.root = SessionId("01LEAD" + run.substr(6));
  made.step.id = ParkId(run + '/' + step);
  made.step.kind = ParkKind::kApproval;
  made.step.tool = "kv";
  made.step.arguments = R"({"op":"get"})";
  return made;
}

const std::vector<PendingStep> kThree{pending("01AAAA0001", "p1"), pending("01AAAA0001", "p2"),
                                      pending("01BBBB0002", "p1")};

std::string found(const std::string& typed, const std::string& last = "") {
  const auto step = find_pending(kThree, typed, SessionId(last));
  return step ? step->step.id.str() : step.error().message;
}

TEST(PendingSteps, FindPending_TakesAnyNameThatFitsOneStep) {
  EXPECT_EQ(found("01AAAA0001/p2"), "01AAAA0001/p2");
  EXPECT_EQ(found("01BB/p1"), "01BBBB0002/p1") << "a beginning of the run's id";
  EXPECT_EQ(found("0002/p1"), "01BBBB0002/p1") << "an end of it";
  EXPECT_EQ(found("01aaaa0001/p2"), "01AAAA0001/p2") << "in any case";
  EXPECT_EQ(found("p2"), "01AAAA0001/p2");
}

TEST(PendingSteps, FindPending_TakesLastForTheNewestRun) {
  EXPECT_EQ(found("last/p1", "01BBBB0002"), "01BBBB0002/p1");
  EXPECT_EQ(found("LAST/p2", "01AAAA0001"), "01AAAA0001/p2");
  EXPECT_EQ(found("last/p1", "01LEAD0002"), "01BBBB0002/p1") << "a step of a sub-agent of the newest run";
  EXPECT_EQ(found("last/p2", "01BBBB0002"), "no pending step \"last/p2\"; it may be decided already");
}

TEST(PendingSteps, FindPending_RefusesNamesOfNoneOrSeveral) {
  EXPECT_EQ(found("p1"), "\"p1\" matches several steps: 01AAAA0001/p1 01BBBB0002/p1");
  EXPECT_EQ(found("p3"), "no pending step \"p3\"; it may be decided already");
  EXPECT_EQ(found("02/p1"), "no pending step \"02/p1\"; it may be decided already") << "too short";
}

TEST(PendingText, WaitingStep_ShowsWhatWouldRunAndEachDecision) {
  Workspace workspace;
  workspace.journal = "a journal.db";
  const PendingStep step = kThree.front();
  const std::string text =
      waiting_text(workspace, step.node, step.step, UnixMillis{0}, 80, Extent::kOverview);
  EXPECT_TRUE(text.starts_with("01AAAA0001/p1  lead/research  (approval)\n  | call kv\n  | op: \"get\"\n"))
      << text;
  EXPECT_TRUE(text.contains("  allow:   praxis approve 01AAAA0001/p1 --allow\n")) << text;
  workspace.journal_given = true;
  EXPECT_TRUE(approve_command(workspace, step.step.id).ends_with(" --journal 'a journal.db'"));
}

TEST(PendingText, LongCall_IsAllowedByTheDigestBelowAllOfIt) {
  PendingStep step = kThree.front();
  step.step.arguments = to_json_text(JsonObject{{"value", std::string(5000, 'x')}, {"op", "put"}});
  step.step.digest = digest_of("the call");
  const auto text = [&](Extent extent) {
    return waiting_text({}, step.node, step.step, UnixMillis{0}, 80, extent);
  };
  EXPECT_TRUE(is_long(step.step, 80));
  EXPECT_FALSE(text(Extent::kOverview).contains("--allow"));
  EXPECT_TRUE(text(Extent::kOverview).contains("  show:    praxis approve 01AAAA0001/p1 "));
  EXPECT_TRUE(text(Extent::kOverview).contains("  | ... 5000 bytes, digest "));
  EXPECT_TRUE(text(Extent::kWhole).contains("--allow --seen " + seen_mark(step.step) + "\n"));
  EXPECT_TRUE(is_seen(step.step, seen_mark(step.step)));
  EXPECT_FALSE(is_seen(step.step, seen_mark(step.step).substr(0, 8))) << "too short";
  EXPECT_FALSE(is_seen(step.step, digest_of("another").hex()));
  EXPECT_TRUE(check_seen({}, step.step, ApprovalVerb::kReject, 80));
  EXPECT_FALSE(check_seen({}, step.step, ApprovalVerb::kApprove, 80));
}

}  // namespace
}  // namespace praxis::app
