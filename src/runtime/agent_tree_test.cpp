// The agent tree: what it shows while sessions run, after they have ended, and when it is read from the
// journal.
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "runtime/agent_tree_nodes.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using AgentTreeTest = Trees;

/// Parents come before their children, and no total is less than the sum of its parts.
void expect_consistent(const std::vector<AgentNode>& nodes) {
  std::set<SessionId> seen;
  for (const AgentNode& node : nodes) {
    if (!node.parent.empty()) {
      ASSERT_TRUE(seen.contains(node.parent)) << node.path << " is listed without its parent";
    }
    ASSERT_TRUE(seen.insert(node.id).second);
    Usage sum = node.usage;
    for (const SessionId& child : node.children) sum += node_of(nodes, child).subtree;
    ASSERT_EQ(node.subtree.total(), sum.total()) << node.path;
    ASSERT_EQ(node.subtree.cost, sum.cost) << node.path;
  }
}

TEST_F(AgentTreeTest, FourLevelsDeepAndFourWide_IsConsistentAtEveryMoment) {
  Session root = start(chain(4, speaker(), 4));
  auto run = root.send_user_message("go");
  std::atomic<bool> over = false;
  std::size_t most = 0;
  std::jthread watcher([&] {
    while (!over && !HasFatalFailure()) {
      const auto nodes = tree();
      expect_consistent(nodes);
      most = std::max(most, nodes.size());
    }
  });
  const auto result = run.report();
  over = true;
  watcher.join();
  ASSERT_TRUE(result && result->success) << (result ? result->error->message : result.error().message);
  const auto nodes = tree();
  expect_consistent(nodes);
  EXPECT_EQ(nodes.size(), 1U + 4 + 16 + 64 + 256);
  EXPECT_GT(most, 1U);
  Usage all;
  for (const AgentNode& node : nodes) {
    EXPECT_EQ(node.status, SessionStatus::kCompleted);
    all += node.usage;
  }
  EXPECT_EQ(nodes.front().subtree.total(), all.total());
  EXPECT_EQ(nodes.front().subtree.total(), 85 * 13 + 256 * 7);
  EXPECT_EQ(result->usage.total() + result->usage_children.total(), all.total());
}

TEST_F(AgentTreeTest, ANode_ShowsTheTaskAndTheStatusOfItsSession) {
  BlockedTool slow;
  Agent lead = chain(1, stuck(slow));
  auto root = runtime_->create_session(lead, JsonObject{{"ticket", 7}});
  ASSERT_TRUE(root);
  auto run = root->send_user_message("Look at Paris");
  slow.entered->wait();
  root->annotate("mine");
  ASSERT_TRUE(eventually([&] { return tree().front().comment == "mine"; }));
  const auto nodes = tree();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].id, root->session_id());
  EXPECT_EQ(nodes[0].children, std::vector{nodes[1].id});
  EXPECT_EQ(nodes[0].status, SessionStatus::kRunning);
  EXPECT_EQ(nodes[0].content, "Look at Paris");
  EXPECT_EQ(json_int(nodes[0].metadata, "ticket"), 7);
  EXPECT_EQ(nodes[0].step, 1U);
  EXPECT_EQ(nodes[1].parent, root->session_id());
  EXPECT_EQ(nodes[1].path, "a0/leaf");
  EXPECT_EQ(nodes[1].depth, 1U);
  EXPECT_EQ(nodes[1].content, "part 0");
  EXPECT_GE(nodes[1].created, nodes[0].created);
  const Json json = to_json(nodes[1]);
  EXPECT_EQ(json_text(json, "parent"), root->session_id().str());
  EXPECT_EQ(json_text(json, "status"), "running");
  slow.release->open();
  ASSERT_TRUE(run.report());
  EXPECT_EQ(tree()[0].step, 0U);
  EXPECT_EQ(tree()[1].status, SessionStatus::kCompleted) << "ended sessions are shown as long as their root";
}

TEST_F(AgentTreeTest, IsRemovedWithItsRoot) {
  {
    Session root = start(chain(2, speaker()));
    ASSERT_TRUE(root.ask("go"));
    EXPECT_EQ(tree().size(), 3U);
  }
  EXPECT_TRUE(eventually([&] { return tree().empty(); }));
}

TEST_F(AgentTreeTest, AStepThatWaits_IsShownAtItsAgentAndCanBeDecidedFromAbove) {
  Session root = start(chain(3, asker()));
  const auto waiting = root.ask("go");
  ASSERT_TRUE(waiting) << waiting.error().message;
  const auto nodes = tree();
  ASSERT_EQ(nodes.size(), 4U);
  for (const AgentNode& node : nodes) EXPECT_EQ(node.status, SessionStatus::kAwaitingUser) << node.path;
  EXPECT_TRUE(nodes[0].pending.empty());
  ASSERT_EQ(nodes[3].pending.size(), 1U);
  ASSERT_EQ(waiting->pending.size(), 1U);
  EXPECT_EQ(nodes[3].pending[0].id, waiting->pending[0].id);
  ASSERT_TRUE(root.decide(nodes[3].pending[0].id, approve()));
  ASSERT_TRUE(eventually([&] { return root.status() == SessionStatus::kCompleted; }));
  EXPECT_TRUE(tree()[3].pending.empty());
}

TEST(PendingSteps, AreKeptAsOthersComeAndGo) {
  State state;
  state.id = SessionId("s");
  const auto park = [&](const std::string& id) {
    ParkedStep& step = state.parked[ParkId(id)];
    step.id = ParkId(id);
    step.arguments = "of " + id;
  };
  for (const char* id : {"p1", "p2", "p3", "p9"}) park(id);
  std::vector<ParkedStep> pending = pending_of(state);
  state.parked.erase(ParkId("p2"));
  for (const char* id : {"p10", "p11"}) park(id);  // between p1 and p2, as ids are ordered
  pending = pending_of(state, std::move(pending));
  std::vector<std::string> shown;
  for (const ParkedStep& step : pending) shown.push_back(step.id.str() + ' ' + step.arguments);
  EXPECT_EQ(shown, (std::vector<std::string>{"s/p1 of p1", "s/p10 of p10", "s/p11 of p11", "s/p3 of p3",
                                             "s/p9 of p9"}));
}

TEST_F(AgentTreeTest, FromTheJournal_IsTheSame) {
  JournalTree journal(journal_);
  Session root = start(chain(3, asker()));
  const auto waiting = root.ask("go");
  ASSERT_TRUE(waiting);
  const auto expect_same = [&] {
    ASSERT_TRUE(journal.refresh());
    const auto live = tree();
    auto read = journal.nodes();
    ASSERT_EQ(live.size(), read.size());
    for (std::size_t i = 0; i < live.size(); ++i) {
      // The session row has the time of `create`, the log the time of its first record.
      EXPECT_LE(read[i].created, live[i].created);
      read[i].created = live[i].created;
      EXPECT_EQ(to_json(live[i]), to_json(read[i]));
    }
  };
  expect_same();
  ASSERT_TRUE(root.resume({{waiting->pending[0].id, approve()}}).report());
  expect_same();
  EXPECT_EQ(journal.nodes()[3].status, SessionStatus::kCompleted);
}

TEST_F(AgentTreeTest, FromTheJournal_ReadsOnlyWhatHasChanged) {
  if (std::getenv("PRAXIS_SUSPEND") != nullptr)
    GTEST_SKIP() << "sessions that drop their memory read the journal themselves";
  Session root = start(chain(3, asker()));
  const auto waiting = root.ask("go");
  ASSERT_TRUE(waiting);
  Session other = start(speaker());
  ASSERT_TRUE(other.ask("go"));
  JournalTree journal(journal_);
  ASSERT_TRUE(journal.refresh());
  const int before = journal_->reads();
  ASSERT_TRUE(journal.refresh());
  EXPECT_EQ(journal_->reads(), before);
  root.annotate("still there?");
  const auto comment_in = [&](const std::vector<AgentNode>& nodes) {
    return std::ranges::find(nodes, root.session_id(), &AgentNode::id)->comment;
  };
  ASSERT_TRUE(eventually([&] { return comment_in(tree()) == "still there?"; }));
  ASSERT_TRUE(journal.refresh());
  EXPECT_EQ(journal_->reads(), before + 1);
  EXPECT_EQ(comment_in(journal.nodes()), "still there?");
  EXPECT_EQ(journal.nodes().size(), 5U);
}

TEST_F(AgentTreeTest, FromTheJournal_CanBeLimited) {
  Session first = start(chain(1, speaker()));
  ASSERT_TRUE(first.ask("go"));
  Session second = start(chain(2, speaker()));
  ASSERT_TRUE(second.ask("go"));
  JournalTree last(journal_, {.last_roots = 1});
  ASSERT_TRUE(last.refresh());
  EXPECT_EQ(last.nodes().size(), 3U);
  EXPECT_EQ(last.nodes().front().id, second.session_id());
  JournalTree one(journal_, {.root = first.session_id()});
  ASSERT_TRUE(one.refresh());
  EXPECT_EQ(one.nodes().size(), 2U);
  JournalTree none(journal_, {.root = SessionId("nobody")});
  EXPECT_FALSE(none.refresh());
}

TEST_F(AgentTreeTest, OneSession_IsFoundWithItsConversationWhereverItIs) {
  BlockedTool slow;
  SessionId root_id, leaf_id;
  {
    Session root = start(chain(1, stuck(slow)));
    auto run = root.send_user_message("go");
    slow.entered->wait();
    root_id = root.session_id();
    leaf_id = tree()[1].id;
    const auto live = runtime_->agent_state(leaf_id);
    ASSERT_TRUE(live) << live.error().message;
    EXPECT_EQ(live->node.status, SessionStatus::kRunning);
    EXPECT_EQ(live->history.messages().front()->text(), "part 0");
    slow.release->open();
    ASSERT_TRUE(run.report());
    const auto ended = runtime_->agent_state(leaf_id);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->history.messages().back()->text(), "late");
  }
  ASSERT_TRUE(eventually([&] { return tree().empty(); }));
  const auto asleep = runtime_->agent_state(root_id);
  ASSERT_TRUE(asleep);
  EXPECT_EQ(asleep->node.content, "go");
  EXPECT_EQ(asleep->node.children, std::vector{leaf_id});
  EXPECT_EQ(asleep->history.messages().back()->text(), "done");
  EXPECT_EQ(json_at(to_json(*asleep), "messages").get_array().size(), 4U);
  const auto unknown = runtime_->agent_state(SessionId("nobody"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInput);
}

TEST_F(AgentTreeTest, AReopenedSession_KeepsTheUsageOfItsSubAgents) {
  Agent lead = chain(2, speaker());
  SessionId id;
  std::int64_t total = 0;
  {
    Session root = start(lead);
    ASSERT_TRUE(root.ask("go"));
    id = root.session_id();
    total = tree().front().subtree.total();
  }
  ASSERT_TRUE(eventually([&] { return tree().empty(); }));
  auto again = runtime_->open_session(id, lead);
  ASSERT_TRUE(again);
  ASSERT_EQ(tree().size(), 1U);
  EXPECT_EQ(tree().front().subtree.total(), total);
  EXPECT_EQ(tree().front().usage.total(), 13);
  EXPECT_EQ(tree().front().content, "go");
}

TEST_F(AgentTreeTest, MoreCallsThanMayRunAtOnce_WaitWithThoseThatRun) {
  Session session = start(chain(1, asker(), 9));
  auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->pending.size(), 8U);
  JournalTree logs(journal_, {.root = session.session_id()});
  ASSERT_TRUE(logs.refresh());
  EXPECT_EQ(logs.nodes().front().status, SessionStatus::kAwaitingUser);
  while (result && !result->pending.empty()) {
    Approvals approvals;
    for (const ParkedStep& step : result->pending) approvals.emplace_back(step.id, approve());
    result = session.resume(approvals).report();
  }
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
}

TEST_F(AgentTreeTest, SubAgentsOfParallelCalls_AreInTheOrderOfTheCalls) {
  // Each handler creates its sub-agents once those of the call after it have ended: in reverse.
  struct Handlers {
    std::array<Gate, 4> ended;
  };
  const auto shared = std::make_shared<Handlers>();
  const auto work_of = [](ToolContext& context, const std::string& name) -> Status {
    AgentSpec spec;
    spec.id = name;
    spec.plan = *parse_json(R"([{"id": "end", "finish": "part"}])");
    auto answer = context.spawn(std::move(spec)).run("go");
    return answer ? Status() : Status(fail(answer.error()));
  };
  Agent lead = scripted(
      R"({"tool_calls":[{"name":"t0","id":"a"},{"name":"t1","id":"b"},{"name":"t2","id":"c"}]}
{"tool_calls":[{"name":"t2","id":"d"},{"name":"t1","id":"e"}]}
{"text":"done"})");
  shared->ended.back().open();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = "t" + std::to_string(i);
    lead.use(host_tool(name, [=](ToolContext& context, const Json&) -> Result<ToolOutput> {
      if (!shared->ended.at(i + 1).wait_briefly())
        return fail(ErrorCode::kInternal, "the next call did not end");
      for (const char* part : {"x", "y"}) {
        if (auto done = work_of(context, name + part); !done) return fail(done.error());
      }
      shared->ended.at(i).open();
      return says(name);
    }));
  }
  Session session = start(lead);
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  const auto names = [](const std::vector<AgentNode>& nodes) {
    std::vector<std::string> agents;
    for (const AgentNode& node : nodes) agents.push_back(node.agent);
    return agents;
  };
  const std::vector<std::string> expected{"agent", "t0x", "t0y", "t1x", "t1y", "t2x",
                                          "t2y",   "t2x", "t2y", "t1x", "t1y"};
  EXPECT_EQ(names(tree()), expected);
  JournalTree logs(journal_, {.root = session.session_id()});
  ASSERT_TRUE(logs.refresh());
  EXPECT_EQ(names(logs.nodes()), expected);
  const AgentNode root = logs.nodes().front();
  for (std::size_t i = 0; i < root.children.size(); ++i) EXPECT_EQ(root.children[i], logs.nodes()[i + 1].id);
}

TEST_F(AgentTreeTest, SubAgentThatItsTurnAboveHasLeft_IsNotRunning) {
  Session session = start(chain(1, speaker()));
  ASSERT_TRUE(session.ask("go"));
  const SessionRow child = journal_->children(session.session_id())->front();
  Result<Lease> lease = journal_->acquire(child.id, true);
  ASSERT_TRUE(lease) << lease.error().message;
  // As an earlier version left it when the log of a sub-agent could not be written.
  Append begun{.lease = *lease, .expected_seq = child.entries, .entries = {}, .blobs = {}, .row = {}};
  begun.entries.push_back({"turn_started", UnixMillis{1}, R"({"turn":"t2"})"});
  ASSERT_TRUE(append_now(*journal_, std::move(begun)));
  JournalTree logs(journal_, {.root = session.session_id()});
  ASSERT_TRUE(logs.refresh());
  EXPECT_EQ(node_of(logs.nodes(), child.id).status, SessionStatus::kRunning) << "a process has it open";
  journal_->release(*lease);
  ASSERT_TRUE(logs.refresh());
  EXPECT_EQ(node_of(logs.nodes(), child.id).status, SessionStatus::kError);
}

}  // namespace
}  // namespace praxis::testing
