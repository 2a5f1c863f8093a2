// Faults of our own machinery in an agent tree: each ends the run, at any depth, and no model or log ever
// holds one as the result of a call.
#include <gmock/gmock.h>

#include <future>

#include "base/exhausted.hpp"
#include "runtime/testing/trees.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kDiskFault = "the disk is full";

/// Fails on demand where a sub-agent is created or its log is read.
class FaultyReads final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  Result<SessionRow> session(const SessionId& session) override {
    if (until_throw.fetch_sub(1) == 1) throw std::bad_alloc();
    if (fails_rows) return fault();
    return inner().session(session);
  }
  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    if (fails_creation) return fault();
    return inner().create(session, now);
  }
  std::atomic<bool> fails_rows = false, fails_creation = false;
  std::atomic<int> until_throw = 0;  ///< this call from now on finds no memory

 private:
  static std::unexpected<Error> fault() {
    return fail(ErrorCode::kJournal, ErrorKind::kIo, std::string(kDiskFault));
  }
};

class FaultsTest : public Trees {
 protected:
  /// Nothing of a fault is in any log.
  void expect_untold() {
    const auto rows = journal_->sessions(0);
    ASSERT_TRUE(rows) << rows.error().message;
    for (const SessionRow& row : *rows) {
      const auto entries = journal_->read(row.id, 1, 10'000);
      ASSERT_TRUE(entries) << entries.error().message;
      for (const Entry& entry : *entries) {
        EXPECT_THAT(entry.body, Not(HasSubstr(std::string(kDiskFault)))) << entry.kind;
        EXPECT_THAT(entry.body, Not(HasSubstr("lease"))) << entry.kind;
      }
    }
  }
  /// The session resumes in this process and ends as without a fault; every node is completed.
  void expect_resumes(const SessionId& id, const Agent& agent) {
    auto session = runtime_->open_session(id, agent);
    ASSERT_TRUE(session) << session.error().message;
    const bool begun = session->status() != SessionStatus::kIdle;
    const auto result = begun ? session->resume().report() : session->ask("go");
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->text, "done");
    JournalTree tree(journal_, {.root = id});
    ASSERT_TRUE(tree.refresh());
    for (const AgentNode& node : tree.nodes()) EXPECT_EQ(node.status, SessionStatus::kCompleted) << node.path;
    expect_untold();
  }
  /// Calls `work`, whose handler runs `handler`, then says that it is done.
  Agent working(std::function<Result<ToolOutput>(ToolContext&)> handler) {
    Agent agent = scripted(R"({"tool_calls":[{"name":"work","id":"w","arguments":{}}]}
{"text":"done"})");
    Tool tool = host_tool("work", [handler = std::move(handler)](ToolContext& context, const Json&) {
      return handler(context);
    });
    tool.definition.idempotent = true;
    return agent.id("lead").runtime(nullptr).use(std::move(tool));
  }
};

TEST_F(FaultsTest, AnyAppendOfATreeThatFails_EndsTheRunAndAllResumes) {
  const Agent agent = chain(2, speaker(), 2);
  int failed = 0;
  for (int nth = 1; nth < 200; ++nth) {
    SCOPED_TRACE("append " + std::to_string(nth));
    Session session = start(agent);
    journal_->fail_append(nth);
    const auto result = session.ask("go");
    journal_->fail_append(0);
    if (result) {
      EXPECT_EQ(result->text, "done");
      break;
    }
    ++failed;
    EXPECT_EQ(result.error().kind(), ErrorKind::kFull) << result.error().message;
    EXPECT_EQ(session.status(), SessionStatus::kError);
    if (nth == 1) {
      EXPECT_FALSE(runtime_->open_session(session.session_id(), agent)) << "a session without its prompt";
    } else {
      expect_resumes(session.session_id(), agent);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 20) << "most appends are those of sub-agents";
  expect_untold();
}

TEST_F(FaultsTest, HandlerThatSwallowsAFaultOfItsSubAgent_EndsTheRunToo) {
  const Agent agent = working([&](ToolContext& context) -> Result<ToolOutput> {
    AgentSpec child;
    child.id = "child";
    child.plan = *parse_json(R"([{"id": "end", "finish": "part"}])");
    SubAgent made = context.spawn(child);
    journal_->fail_append(1);
    const auto answer = made.run("go");
    return says(answer ? answer->text : "it does not matter: " + answer.error().message);
  });
  Session session = start(agent);
  const auto result = session.ask("go");
  ASSERT_FALSE(result) << result->text;
  EXPECT_EQ(result.error().kind(), ErrorKind::kFull);
  expect_untold();
}

TEST_F(FaultsTest, LeaseOfASubAgentThatIsLost_EndsTheRun) {
  BlockedTool slow;
  const Agent agent = chain(2, stuck(slow));
  Session session = start(agent);
  auto run = session.send_user_message("go");
  slow.entered->wait();
  const SessionId leaf = node_called(tree(), "leaf").id;
  const auto taken = journal_->acquire(leaf, true);
  ASSERT_TRUE(taken) << taken.error().message;
  slow.release->open();
  const auto result = run.report();
  ASSERT_FALSE(result) << result->text;
  EXPECT_EQ(result.error().kind(), ErrorKind::kLeaseLost) << result.error().message;
  EXPECT_FALSE(fold(*read_records(*journal_, session.session_id()))->last);
  journal_->release(*taken);
  expect_untold();
}

TEST_F(FaultsTest, SiblingsOfAFaultySubAgentStartNothingMore) {
  BlockedTool slow;
  Agent busy = stuck(slow);
  Agent quick = speaker();
  Agent lead = scripted(
      R"({"tool_calls":[{"name":"busy","arguments":{"prompt":"x"}},{"name":"quick","arguments":{"prompt":"x"}}]}
{"text":"done"})");
  lead.id("lead").runtime(nullptr).use(busy.runtime(nullptr).as_tool("busy", "Takes its time"));
  Tool faulty = quick.runtime(nullptr).as_tool("quick", "Fails");
  faulty.handler = [&, handler = faulty.handler](ToolContext& context, const Json& arguments) {
    slow.entered->wait();
    journal_->fail_append(2);  // the first records the sub-agent in the log above
    return handler(context, arguments);
  };
  lead.use(std::move(faulty));
  Session session = start(lead);
  const auto result = session.ask("go");
  ASSERT_FALSE(result) << result->text;
  EXPECT_EQ(result.error().kind(), ErrorKind::kFull);
  slow.left->wait();
  const SessionId leaf = node_called(tree(), "leaf").id;
  ASSERT_TRUE(eventually([&] {
    const auto row = journal_->session(leaf);
    return row && !row->held;
  }));
  const auto records = read_records(*journal_, leaf);
  ASSERT_TRUE(records);
  EXPECT_TRUE(fold(*records)->turn) << "the sibling was settled";
  expect_untold();
}

TEST_F(FaultsTest, JournalThatCannotBeReadWhenASubAgentIsCreated_EndsTheRun) {
  const auto faulty = std::make_shared<FaultyReads>(journal_);
  RuntimeOptions options;
  options.journal = faulty;
  for (std::atomic<bool>* fault : {&faulty->fails_rows, &faulty->fails_creation}) {
    const auto runtime = Runtime::create(options);
    const Agent agent = chain(1, speaker());
    auto session = runtime->create_session(agent);
    ASSERT_TRUE(session) << session.error().message;
    *fault = true;
    const auto result = session->ask("go");
    *fault = false;
    ASSERT_FALSE(result) << result->text;
    EXPECT_EQ(result.error().kind(), ErrorKind::kIo);
    expect_resumes(session->session_id(), agent);
  }
}

TEST_F(FaultsTest, MemoryThatTheRuntimeLacksInAHandlersRequest_EndsTheRun) {
  const auto faulty = std::make_shared<FaultyReads>(journal_);
  RuntimeOptions options;
  options.journal = faulty;
  for (const int request : {1, 2}) {  // the sub-agent is created, its turn is started
    SCOPED_TRACE(request);
    const auto runtime = Runtime::create(options);
    const Agent agent = chain(1, speaker());
    auto session = runtime->create_session(agent);
    ASSERT_TRUE(session) << session.error().message;
    faulty->until_throw = request;
    const auto result = session->ask("go");
    ASSERT_FALSE(result) << result->text;
    EXPECT_EQ(result.error().message, "this process has no memory left");
    expect_resumes(session->session_id(), agent);
  }
}

TEST_F(FaultsTest, SubAgentOfATreeThatGaveUp_DoesNotWorkForTheResumedTree) {
  const Agent agent = chain(1, speaker());
  const auto blocked = std::make_shared<Gate>(), free = std::make_shared<Gate>();
  std::atomic<bool> first = true;
  const auto watching = runtime_->on("turn.started", [&](const Event& event) {
    if (event.agent.depth == 0 || !first.exchange(false)) return;
    blocked->open();
    free->wait();  // on the strand of the sub-agent
  });
  Session session = start(agent);
  auto run = session.send_user_message("go");
  blocked->wait();
  journal_->fail_append(1);
  session.steer("faster");
  const auto result = run.result();
  journal_->fail_append(0);
  ASSERT_FALSE(result) << result->text;
  // The sub-agent has not noticed yet.
  auto resumed = std::async(std::launch::async, [&]() -> Result<AgentResult> {
    auto again = runtime_->open_session(session.session_id(), agent);
    if (!again) return fail(again.error());
    auto ended = again->resume().report();
    EXPECT_EQ(result_for(again->history(), "c0").text, "part");
    return ended;
  });
  EXPECT_EQ(resumed.wait_for(200ms), std::future_status::timeout) << "it did not wait for the sub-agent";
  free->open();
  const auto ended = resumed.get();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->text, "done");
  expect_untold();
}

TEST_F(FaultsTest, ExceptionOfAHandlerIsTheResultOfItsCall) {
  Session session = start(working([](ToolContext&) -> Result<ToolOutput> { throw std::bad_alloc(); }));
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result_for(session.history(), "w").text, HasSubstr("std::bad_alloc"));
}

TEST_F(FaultsTest, ToolThatFindsTheProcessExhausted_EndsTheRunUnsettled) {
  std::atomic<bool> exhausted = true;
  const Agent agent = working([&](ToolContext&) -> Result<ToolOutput> {
    if (!exhausted) return says("worked");
    return fail(with_exhaustion(make_error(ErrorCode::kTool, "too many open files"), EMFILE));
  });
  Session session = start(agent);
  const auto result = session.ask("go");
  ASSERT_FALSE(result) << result->text;
  EXPECT_EQ(result.error().message, "too many open files");
  EXPECT_TRUE(fold(*read_records(*journal_, session.session_id()))->turn);
  exhausted = false;
  expect_resumes(session.session_id(), agent);
}

}  // namespace
}  // namespace praxis::testing
