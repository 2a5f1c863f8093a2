// The wire form of the fifth design: the commands that it stands for, and how they are carried out.
#include "praxis/app/agent_update.hpp"

#include <gmock/gmock.h>

#include "praxis/runtime/commands.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SessionId kTarget("s");

std::string commands_text(const AgentUpdate& update) {
  auto commands = commands_of(kTarget, update);
  if (!commands) return "error: " + commands.error().message;
  for (Command& command : *commands) {
    EXPECT_EQ(command.author, by_library());
    command.author = {};
  }
  return commands->empty() ? "" : to_json_text(to_json(InboxRequest(*commands)));
}

TEST(AgentUpdate, EachForm_BecomesItsCommands) {
  const std::pair<AgentUpdate, const char*> cases[] = {
      {{}, ""},
      {{"delete"}, R"({"commands":[{"verb":"delete"}]})"},
      {{"modify", "Rome"}, R"({"commands":[{"verb":"modify","text":"Rome"}]})"},
      {{"careful", "use metres", "pause"},
       R"({"commands":[{"verb":"annotate","text":"careful"},{"verb":"steer","text":"use metres"},{"verb":"pause"}]})"},
      {{"unchanged", {}, "unpause"}, R"({"commands":[{"verb":"unpause"}]})"},
      {{"unchanged", {}, "resume"}, R"({"commands":[{"verb":"unpause"}]})"},
      {{"unchanged", {}, "interrupt"}, R"({"commands":[{"verb":"interrupt"}]})"},
      {{"modify"}, "error: \"modify\" needs content: the new task of the agent"},
      {{"unchanged", "Rome", "modified"}, R"({"commands":[{"verb":"modify","text":"Rome"}]})"},
      {{"unchanged", {}, "running"}, R"({"commands":[{"verb":"unpause"}]})"},
      {{"delete", "no longer needed", "running"},
       R"({"commands":[{"verb":"annotate","text":"no longer needed"},{"verb":"delete"}]})"},
      {{"delete", {}, "modified"}, R"({"commands":[{"verb":"delete"}]})"},
      {{"delete", {}, "pause"}, "error: a deleted agent cannot \"pause\": leave out \"status\""},
      {{"unchanged", {}, "modified"}, "error: \"modify\" needs content: the new task of the agent"},
      {{"unchanged", {}, "rewind"},
       "error: \"status\" must be \"running\", \"modified\", \"pause\", \"unpause\" or \"interrupt\" (got "
       "\"rewind\")"},
  };
  for (const auto& [update, expected] : cases) EXPECT_EQ(commands_text(update), expected);
}

TEST(AgentUpdate, Running_UnpausesOnlyWhatIsPaused) {
  for (const bool paused : {false, true}) {
    const auto read = [paused](const SessionId& id) {
      EXPECT_EQ(id, kTarget);
      AgentState state;
      state.node.paused = paused;
      return Result<AgentState>(std::move(state));
    };
    EXPECT_EQ(commands_of(kTarget, {"unchanged", {}, "running"}, read)->size(), paused ? 1U : 0U);
    EXPECT_EQ(commands_of(kTarget, {"unchanged", {}, "pause"}, read)->size(), 1U);
  }
}

TEST(AgentUpdate, AgentIsReadOnlyIfRunningDependsOnIt) {
  int reads = 0;
  const auto broken = [&reads](const SessionId&) -> Result<AgentState> {
    ++reads;
    return fail(ErrorCode::kJournal, "the log cannot be read");
  };
  const AgentUpdate independent[] = {{},
                                     {"careful"},
                                     {"delete", "no longer needed", "running"},
                                     {"modify", "Rome"},
                                     {"unchanged", "Rome", "modified"},
                                     {"unchanged", {}, "resume"}};
  for (const AgentUpdate& update : independent) EXPECT_TRUE(commands_of(kTarget, update, broken));
  EXPECT_FALSE(commands_of(kTarget, {"modify", {}, "running"}, broken)) << "says nothing";
  EXPECT_EQ(reads, 0);
  const auto running = commands_of(kTarget, {"unchanged", {}, "running"}, broken);
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().message, "the log cannot be read");
  EXPECT_EQ(reads, 1);
}

TEST(AgentUpdate, JsonForm_IsReadAndChecked) {
  const auto update = agent_update_from_json(
      *parse_json(R"({"userComment":"modify","userContent":"Rome","status":"pause"})"));
  ASSERT_TRUE(update) << update.error().message;
  EXPECT_EQ(update->comment + update->content + update->status, "modifyRomepause");
  const auto empty = agent_update_from_json(*parse_json("{}"));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->comment, "unchanged");
  EXPECT_THAT(agent_update_from_json(*parse_json("[]")).error().message, HasSubstr("must be a JSON object"));
  EXPECT_THAT(agent_update_from_json(*parse_json(R"({"userComment":7})")).error().message,
              HasSubstr("\"userComment\" must be a string"));
}

class AgentUpdateTest : public Trees {};

TEST_F(AgentUpdateTest, CombinedExamplesOfTheDesign_AreCarriedOut) {
  BlockedTool slow;
  Session root = start(stuck(slow));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId id = root.session_id();
  EXPECT_TRUE(update_agent(*runtime_, id, {"modify", "Rome", "running"}));
  EXPECT_EQ(tree().front().content, "Rome");
  root.pause();
  EXPECT_TRUE(update_agent(*runtime_, id, {"in metres", "Oslo", "modified"}));
  EXPECT_EQ(tree().front().content, "Oslo");
  EXPECT_EQ(tree().front().comment, "in metres");
  EXPECT_TRUE(tree().front().paused);
  EXPECT_TRUE(update_agent(*runtime_, id, {"unchanged", {}, "running"}));
  EXPECT_FALSE(tree().front().paused);
  EXPECT_TRUE(update_agent(*runtime_, id, {"delete", "new instructions", "running"}));
  ASSERT_TRUE(run.report());
  EXPECT_EQ(root.status(), SessionStatus::kDeleted);
  EXPECT_EQ(tree().front().comment, "new instructions");
}

TEST_F(AgentUpdateTest, Update_IsCarriedOutWholeOrNotAtAll) {
  BlockedTool slow;
  Session root = start(stuck(slow));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId id = root.session_id();
  ASSERT_TRUE(update_agent(*runtime_, id, {"careful", "use metres", "pause"}));
  EXPECT_TRUE(tree().front().paused);
  EXPECT_EQ(tree().front().comment, "careful");
  EXPECT_THAT(recorded(id, CommandVerb::kSteer), ElementsAre("use metres"));
  const Status twice = update_agent(*runtime_, id, {"more", {}, "pause"});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("already paused"));
  EXPECT_EQ(tree().front().comment, "careful");
  EXPECT_TRUE(update_agent(*runtime_, id, {})) << "no change, no command";
  EXPECT_TRUE(update_agent(*runtime_, id, {"delete"}));
  ASSERT_TRUE(run.report());
  EXPECT_EQ(root.status(), SessionStatus::kDeleted);
  const SessionId unknown("unknown");
  for (const AgentUpdate& update : {AgentUpdate{}, AgentUpdate{"hello"}}) {
    const Status refused = update_agent(*runtime_, unknown, update);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("no session is called"));
  }
}

}  // namespace
}  // namespace praxis::testing
