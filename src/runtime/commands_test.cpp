// Commands to running agents: stop, delete, modify, annotate, at any depth and from any thread.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>

#include "praxis/core/state.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What threads did to the sessions of a tree, by session.
struct Acknowledged {
  std::mutex mutex;
  std::map<SessionId, std::vector<std::string>> comments;
  std::atomic<int> deletions = 0, others = 0;
};

class CommandsTest : public Trees {
 protected:
  /// The reason why commands are refused; empty when they are not.
  std::string refusal(Commands commands) {
    const Status done = runtime_->command(std::move(commands));
    if (!done) {
      EXPECT_EQ(done.error().code, ErrorCode::kInput) << done.error().message;
    }
    return done ? "" : done.error().message;
  }

  /// Checks that the log of a session ends its turn and holds the commands to it. Adds the deletions it
  /// holds.
  void expect_recorded(const AgentNode& node, Acknowledged& done, int& deletions) {
    auto state = fold(*read_records(*journal_, node.id));
    // A stopping turn may outlast the turns above it, which do not wait for it.
    ASSERT_TRUE(eventually([&] {
      state = fold(*read_records(*journal_, node.id));
      return !state || !state->turn;
    })) << node.path;
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->deleted, node.status == SessionStatus::kDeleted) << node.path;
    EXPECT_EQ(recorded(node.id, CommandVerb::kAnnotate).size(), done.comments[node.id].size());
    for (const std::string& comment : done.comments[node.id]) {
      EXPECT_THAT(recorded(node.id, CommandVerb::kAnnotate), Contains(comment));
    }
    deletions += static_cast<int>(recorded(node.id, CommandVerb::kDelete).size());
  }
};

/// The event is there before the session: its model is still being made then.
TEST_F(CommandsTest, SubAgentThatIsAnnounced_CanBeReached) {
  Gate announced;
  RuntimeOptions options;
  options.providers["late"] = [&](const std::string&,
                                  const ModelServices& services) -> Result<std::shared_ptr<Model>> {
    EXPECT_TRUE(announced.wait_briefly());
    std::this_thread::sleep_for(20ms);  // the command comes meanwhile
    return script_model(R"({"text":"never said","delay_ms":60000})", "late", services.executor);
  };
  const auto runtime = Runtime::create(std::move(options));
  Agent lead = scripted(R"({"tool_calls":[{"name":"below","id":"c0","arguments":{"prompt":"do it"}}]}
{"text":"done"})");
  Agent late("late:model");
  lead.runtime(nullptr).use(late.id("late").runtime(nullptr).as_tool("below", "Comes late"));
  auto session = runtime->create_session(lead);
  ASSERT_TRUE(session) << session.error().message;
  auto run = session->send_user_message("go");
  int spawned = 0;
  for (const Event& event : run) {
    const auto* child = std::get_if<events::ChildSpawned>(&event.body);
    if (child == nullptr) continue;
    ++spawned;
    announced.open();
    const Status done = runtime->command({{CommandVerb::kDelete, child->child}});
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(runtime->agent_state(child->child));
  }
  EXPECT_EQ(spawned, 1);
  const auto result = run.report();
  ASSERT_TRUE(result && result->success);
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(node_called(runtime->agent_tree(), "late").status, SessionStatus::kDeleted);
}

TEST_F(CommandsTest, ADeletedSubAgent_StopsAndReportsIt) {
  BlockedTool slow;
  Session root = start(chain(2, stuck(slow)));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId leaf = node_called(tree(), "leaf").id;
  ASSERT_TRUE(runtime_->command({{CommandVerb::kDelete, leaf}}));
  const auto result = run.report();
  ASSERT_TRUE(result && result->success) << "the sessions above continue";
  EXPECT_EQ(node_of(tree(), leaf).status, SessionStatus::kDeleted);
  const SessionId above = node_called(tree(), "a1").id;
  const auto state = runtime_->agent_state(above);
  ASSERT_TRUE(state);
  EXPECT_THAT(result_for(state->history, "c0").text, HasSubstr("deleted by a person"));
  EXPECT_EQ(recorded(leaf, CommandVerb::kDelete).size(), 1U);
  EXPECT_THAT(refusal({{CommandVerb::kDelete, leaf}}), HasSubstr("already deleted"));
  EXPECT_EQ(journal_->session(leaf)->status, "deleted");
}

TEST_F(CommandsTest, DeletingAnAgent_StopsEverythingBelow) {
  BlockedTool slow;
  Session root = start(chain(3, stuck(slow)));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const auto before = tree();
  ASSERT_TRUE(runtime_->command({{CommandVerb::kDelete, before[1].id}}));
  ASSERT_TRUE(run.report());
  EXPECT_EQ(root.status(), SessionStatus::kCompleted) << "nothing above is touched";
  for (const std::size_t below : {2U, 3U}) {
    const auto state = fold(*read_records(*journal_, before[below].id));
    ASSERT_TRUE(state);
    EXPECT_FALSE(state->turn);
    EXPECT_EQ(state->last->reason, StopReason::kCancelled) << before[below].path;
  }
}

TEST_F(CommandsTest, AModifiedSubAgent_ContinuesWithTheNewInstruction) {
  BlockedTool slow;
  Session root = start(chain(1, stuck(slow)));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId leaf = tree()[1].id;
  ASSERT_TRUE(runtime_->command({{CommandVerb::kModify, leaf, "look at Rome instead"}}));
  EXPECT_EQ(tree()[1].status, SessionStatus::kModified);
  EXPECT_EQ(tree()[1].content, "look at Rome instead");
  slow.release->open();
  ASSERT_TRUE(run.report());
  const auto state = runtime_->agent_state(leaf);
  ASSERT_TRUE(state);
  std::vector<std::string> said;
  for (const MessagePtr& message : state->history.messages()) {
    if (message->role == Role::kUser) said.push_back(message->text());
  }
  EXPECT_THAT(said, ElementsAre("part 0", "look at Rome instead"));
  EXPECT_EQ(state->history.messages().back()->text(), "late");
  EXPECT_EQ(state->node.status, SessionStatus::kCompleted);
}

TEST_F(CommandsTest, SeveralCommands_AreCarriedOutTogetherOrNotAtAll) {
  BlockedTool slow;
  Session root = start(stuck(slow));
  auto run = root.send_user_message("go");
  slow.entered->wait();
  const SessionId id = root.session_id();
  ASSERT_TRUE(runtime_->command({{CommandVerb::kAnnotate, id, "careful"},
                                 {CommandVerb::kSteer, id, "use metres"},
                                 {CommandVerb::kPause, id}}));
  EXPECT_TRUE(tree().front().paused);
  EXPECT_EQ(tree().front().comment, "careful");
  EXPECT_THAT(recorded(id, CommandVerb::kSteer), ElementsAre("use metres"));
  EXPECT_THAT(refusal({{CommandVerb::kAnnotate, id, "more"}, {CommandVerb::kPause, id}}),
              HasSubstr("already paused"));
  EXPECT_EQ(tree().front().comment, "careful");
  EXPECT_EQ(refusal({{CommandVerb::kUnpause, id}}), "");
  EXPECT_EQ(refusal({{CommandVerb::kInterrupt, id}}), "");
  const auto result = run.report();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reason, StopReason::kCancelled);
}

TEST_F(CommandsTest, ImpossibleCommands_AreRefusedWithTheReason) {
  Session root = start(chain(1, speaker()));
  ASSERT_TRUE(root.ask("go"));
  const SessionId id = root.session_id(), child = tree()[1].id;
  const SessionId unknown("unknown");
  EXPECT_THAT(refusal({}), HasSubstr("1 to 8 commands"));
  EXPECT_THAT(refusal(Commands(kMaxCommands + 1, {CommandVerb::kAnnotate, id, "x"})), HasSubstr("not 9"));
  EXPECT_THAT(refusal({{CommandVerb::kAnnotate, unknown, "hello"}}), HasSubstr("no session is called"));
  EXPECT_THAT(refusal({{CommandVerb::kAnnotate, id, "a"}, {CommandVerb::kAnnotate, child, "b"}}),
              HasSubstr("same target"));
  EXPECT_THAT(refusal({{CommandVerb::kRewind, id, "t1"}}), HasSubstr("cannot be \"rewind\""));
  EXPECT_THAT(refusal({{CommandVerb::kInterrupt, id}}), HasSubstr("no turn in progress"));
  EXPECT_THAT(refusal({{CommandVerb::kUnpause, id}}), HasSubstr("not paused"));
  EXPECT_THAT(refusal({{CommandVerb::kModify, child, "again"}}), HasSubstr("has ended"));
  EXPECT_EQ(refusal({{CommandVerb::kAnnotate, child, "well done"}}), "") << "a comment is always possible";
  EXPECT_THAT(recorded(child, CommandVerb::kAnnotate), ElementsAre("well done"));
}

TEST_F(CommandsTest, ADeletedSession_AcceptsNothingMore) {
  struct Case {
    const char* name;
    std::function<void(Session&)> before;
  };
  const Case cases[] = {
      {"idle", [](Session&) {}},
      {"idle", [](Session& s) { ASSERT_TRUE(s.ask("go")); }},
      {"waiting", [](Session& s) { EXPECT_EQ(s.ask("go")->status, SessionStatus::kAwaitingUser); }},
      {"queued", [](Session& s) { s.pause(), s.enqueue("more"); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Session session = start(std::string_view(c.name) == "waiting" ? asker() : speaker());
    c.before(session);
    ASSERT_TRUE(session.remove());
    EXPECT_EQ(session.status(), SessionStatus::kDeleted);
    EXPECT_THAT(session.last_result().pending, IsEmpty());
    EXPECT_FALSE(session.remove());
    EXPECT_FALSE(session.modify("x"));
    const auto asked = session.ask("again");
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().message, HasSubstr("deleted"));
    EXPECT_FALSE(session.resume().report());
  }
}

TEST_F(CommandsTest, OnAnInactiveSession_AreWrittenToItsLog) {
  SessionId id;
  Agent agent = asker();
  {
    Session session = start(agent);
    ASSERT_TRUE(session.ask("go"));
    id = session.session_id();
  }
  ASSERT_TRUE(eventually([&] { return tree().empty(); }));
  ASSERT_TRUE(
      runtime_->command({{CommandVerb::kAnnotate, id, "later"}, {CommandVerb::kSteer, id, "be brief"}}));
  EXPECT_EQ(journal_->session(id)->status, "awaiting_user");
  ASSERT_TRUE(runtime_->command({{CommandVerb::kInterrupt, id}}));
  const auto state = fold(*read_records(*journal_, id));
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->turn) << "nothing runs, so the turn ends at once";
  EXPECT_EQ(state->last->reason, StopReason::kCancelled);
  EXPECT_EQ(state->comment, "later");
  EXPECT_EQ(journal_->session(id)->status, "cancelled");
}

TEST_F(CommandsTest, FromManyThreadsAtAnyMoment_AreAllRecordedAndTheRunEnds) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    Session root = start(chain(3, speaker(), 3));
    auto run = root.send_user_message("go");
    Acknowledged done;
    const auto act = [&](std::uint32_t thread) {
      std::mt19937 dice(seed * 100 + thread);
      for (int i = 0; i < 60; ++i) {
        const auto nodes = tree();
        const SessionId& id = nodes[dice() % nodes.size()].id;
        const std::string comment = std::to_string(thread) + "." + std::to_string(i);
        switch (dice() % 8) {
          case 0:
            done.deletions +=
                id != root.session_id() && runtime_->command({{CommandVerb::kDelete, id}}) ? 1 : 0;
            break;
          case 1:
            done.others += runtime_->command({{CommandVerb::kModify, id, "turn " + comment}}) ? 1 : 0;
            break;
          case 2:
            done.others += runtime_->command({{CommandVerb::kPause, id}}) ? 1 : 0;
            break;
          case 3:
            done.others += runtime_->command({{CommandVerb::kUnpause, id}}) ? 1 : 0;
            break;
          default:
            if (!runtime_->command({{CommandVerb::kAnnotate, id, comment}})) break;
            const std::lock_guard lock(done.mutex);
            done.comments[id].push_back(comment);
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t thread = 0; thread < 4; ++thread) threads.emplace_back(act, thread);
    }
    ASSERT_TRUE(eventually([&] {
      for (const AgentNode& node : tree()) {
        if (node.paused) (void)runtime_->command({{CommandVerb::kUnpause, node.id}});
      }
      return root.last_result().reason.has_value();
    }));
    const auto result = run.report();
    ASSERT_TRUE(result) << result.error().message;
    int deletions = 0;
    for (const AgentNode& node : tree()) expect_recorded(node, done, deletions);
    EXPECT_EQ(deletions, done.deletions);
    EXPECT_GT(done.others + deletions, 0);
  }
}

}  // namespace
}  // namespace praxis::testing
