// A turn as the command line follows it, with those of the messages that wait.
#include "cli/turn.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "praxis/models/stub_model.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis::cli {
namespace {

TEST(FollowedTurns, MessageWithdrawnBeforeItsTurnLeavesTheStatusOfTheTurnBefore) {
  Interrupts interrupts;
  const auto runtime = Runtime::create();
  const auto model = stub_model([](const ModelRequest&) -> Result<ModelResponse> { return stub_text("a"); });
  std::optional<Session> session;
  int turns = 0;
  const auto agent =
      Agent("stub:model").model(model).runtime(runtime).on_before_turn([&](const HookContext&, AgentSpec&) {
        if (++turns == 1) {
          session->enqueue("more");
        } else {
          EXPECT_TRUE(session->withdraw(session->waiting().at(0).id));
        }
      });
  session = *agent.session();
  app::Workspace workspace;
  workspace.journal = "memory";
  Console console;
  TurnOutput output;
  output.quiet = true;
  const ExitStatus status = follow(
      *session, [](Session& begun) { return begun.send_user_message("go"); }, *runtime, workspace, output,
      interrupts, console);
  EXPECT_EQ(turns, 2) << "the turn of the queued message was about to begin";
  EXPECT_EQ(session->queued(), 0U);
  EXPECT_EQ(status, ExitStatus::kFinished);
}

}  // namespace
}  // namespace praxis::cli
