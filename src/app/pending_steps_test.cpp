#include "app/pending_steps.hpp"

#include <gtest/gtest.h>

#include "app/pending_text.hpp"

namespace praxis::app {
namespace {

PendingStep pending(const std::string& run, const std::string& step) {
  PendingStep made;
  made.node.id = SessionId(run);
  made.node.path = "lead/research";
  made.step.id = ParkId(run + '/' + step);
  made.step.kind = ParkKind::kApproval;
  made.step.tool = "kv";
  made.step.arguments = R"({"op":"get"})";
  return made;
}

const std::vector<PendingStep> kThree{pending("01AAAA0001", "p1"), pending("01AAAA0001", "p2"),
                                      pending("01BBBB0002", "p1")};

std::string found(const std::string& typed) {
  const auto step = find_pending(kThree, typed);
  return step ? step->step.id.str() : step.error().message;
}

TEST(PendingSteps, FindPending_TakesAnyNameThatFitsOneStep) {
  EXPECT_EQ(found("01AAAA0001/p2"), "01AAAA0001/p2");
  EXPECT_EQ(found("01BB/p1"), "01BBBB0002/p1") << "a beginning of the run's id";
  EXPECT_EQ(found("0002/p1"), "01BBBB0002/p1") << "an end of it";
  EXPECT_EQ(found("p2"), "01AAAA0001/p2");
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
  const std::string text = waiting_text(workspace, step.node, step.step, UnixMillis{0}, 4);
  EXPECT_TRUE(text.starts_with("01AAAA0001/p1  lead/research  (approval)\n  kv {... (11 more bytes)\n"))
      << text;
  EXPECT_TRUE(text.contains("  allow:   praxis approve 01AAAA0001/p1 --allow\n")) << text;
  workspace.journal_given = true;
  EXPECT_TRUE(approve_command(workspace, step.step.id).ends_with(" --journal 'a journal.db'"));
}

}  // namespace
}  // namespace praxis::app
