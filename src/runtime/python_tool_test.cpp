// The python tool in sessions: calls of its code are judged, recorded and parked like any other call, its
// forks are sub-agents, and both are found again when the code runs once more.
#include "praxis/tools/python_tool.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "praxis/core/state.hpp"
#include "runtime/testing/scripted.hpp"
#include "runtime/testing/unsandboxed_python.hpp"

namespace praxis::testing {
namespace {

PolicyRules allowing(std::vector<std::string> tools, std::vector<std::string> ask = {}) {
  PolicyRules rules;
  rules.allow = std::move(tools);
  rules.ask = std::move(ask);
  return rules;
}

/// A script: the model runs `code`, then says "done".
std::string runs(const std::string& code) {
  const Json call{{"name", "python"}, {"arguments", {{"code", code}}}};
  return to_json_text(JsonObject{{"tool_calls", JsonArray{call}}}) + "\n" + R"({"text":"done"})";
}

/// Side effects, and how often each happened.
class Deeds {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++done_[what];
  }
  std::map<std::string, int> all() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> done_;
};
using Counts = std::map<std::string, int>;

/// A tool that leaves a mark in `deeds`.
Tool note_tool(const std::shared_ptr<Deeds>& deeds) {
  return host_tool("note", [deeds](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    deeds->add(json_string(arguments, "text"));
    return says("noted " + json_string(arguments, "text"));
  });
}

class PythonInSessionTest : public Scripted {
 protected:
  Agent coder(const std::string& script) {
    Agent agent = scripted(script);
    agent.id("coder").use(unsandboxed_python()).use(note_tool(deeds_)).policy(allowing({"python"}));
    return agent;
  }
  std::string printed(const Session& session) { return result_for(session.history(), "call_1_1").text; }

  const std::shared_ptr<Deeds> deeds_ = std::make_shared<Deeds>();
};

TEST_F(PythonInSessionTest, WithoutARule_DoesNotRun) {
  Agent agent = coder(runs("print(1)"));
  agent.policy({});
  Session session = session_of(agent);
  ASSERT_TRUE(session.ask("go"));
  EXPECT_NE(printed(session), "1\n");
}

TEST_F(PythonInSessionTest, CallsOfTheCode_AreRecordedAndGiveTheirResults) {
  Session session = session_of(
      coder(runs("gather([('note', {'text': 'a'}), ('note', {'text': 'b'}), ('note', {'text': 'c'})])")));
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_EQ(printed(session), "['noted a', 'noted b', 'noted c']\n");
  EXPECT_EQ(deeds_->all(), (Counts{{"a", 1}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(result->actions.size(), 4U);
}

TEST_F(PythonInSessionTest, CallsThatARuleForbids_RaiseToolError) {
  Agent agent = coder(runs("try:\n  note(text='a')\nexcept ToolError as error:\n  print('refused:', error)"));
  PolicyRules rules = allowing({"python"});
  rules.deny = {"note"};
  Session session = session_of(agent.policy(std::move(rules)));
  ASSERT_TRUE(session.ask("go"));
  EXPECT_TRUE(printed(session).starts_with("refused: ")) << printed(session);
  EXPECT_EQ(deeds_->all(), Counts{});
}

TEST_F(PythonInSessionTest, Forks_RunInParallelAndAreWaitedFor) {
  // A fork's model starts at the script's first line, so its answer is the one to the session's first
  // message.
  Session session = session_of(coder(R"({"text":"ready"})" + std::string("\n") +
                                     runs("forks = [fork('north'), fork('south')]\nwait(forks)")));
  ASSERT_TRUE(session.ask("hello"));
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result_for(session.history(), "call_2_1").text, "['ready', 'ready']\n");
  const auto children = *journal_->children(session.session_id());
  ASSERT_EQ(children.size(), 2U);
  std::vector<std::string> prompts;
  for (const SessionRow& child : children) {
    const auto state = fold(*read_records(*journal_, child.id));
    const auto& messages = state->conversation.history().messages();
    EXPECT_EQ(messages.front()->text(), "hello");
    prompts.push_back(messages[messages.size() - 2]->text());
  }
  std::ranges::sort(prompts);
  EXPECT_EQ(prompts, (std::vector<std::string>{"north", "south"}));
}

TEST_F(PythonInSessionTest, Interrupt_EndsTheCodeAndItsCalls) {
  BlockedTool blocked;
  Agent agent = coder(runs("call('block')"));
  agent.use(blocked.tool("block", true));
  Session session = session_of(agent);
  auto run = session.send_user_message("go");
  blocked.entered->wait();
  run.interrupt();
  const auto result = run.report();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->aborted());
  blocked.left->wait();
  EXPECT_EQ(unanswered(session.history()), 0U);
}

TEST_F(PythonInSessionTest, CodeThatEndsWithCallsOpen_LeavesNothingBehind) {
  BlockedTool blocked;
  Agent agent =
      coder(runs("import threading, time, os\n"
                 "threading.Thread(target=lambda: call('block'), daemon=True).start()\n"
                 "note(text='a')\nprint('over')"));
  agent.use(blocked.tool("block", true));
  Session session = session_of(agent);
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(printed(session), "over\n");
  EXPECT_EQ(result->text, "done");
}

/// root -> agent as a tool -> agent as a tool -> python, whose calls wait for an approval. Every runtime gets
/// new agents and sessions, as another process would.
class ParkedInPythonTest : public PythonInSessionTest {
 protected:
  static std::string hires(const std::string& name) {
    const Json call{{"name", name}, {"arguments", {{"prompt", "go on"}}}};
    return to_json_text(JsonObject{{"tool_calls", JsonArray{call}}}) + "\n" + R"({"text":"all done"})";
  }
  Agent agent(const std::string& id, const std::string& script) {
    Agent made("script:test", "You are terse.");
    made.id(id).model(*script_model(script, "test", runtime_->model_services().executor));
    return made.policy(allowing({"python"}, {"note"}));
  }
  Agent coder_below() {
    return agent("coder", runs("for said in gather([('note', {'text': t}) for t in ('a', 'b', 'c')],\n"
                               "                   return_exceptions=True):\n  print(said)"))
        .use(unsandboxed_python())
        .use(note_tool(deeds_));
  }
  Agent root() {
    Agent lead = agent("lead", hires("coder")).use(coder_below().as_tool("coder", "Writes code"));
    return agent("root", hires("lead")).use(lead.as_tool("lead", "Leads"));
  }

  /// Runs until all three calls wait; sets the ids of root and coder.
  void park_all() {
    Session session = *runtime_->create_session(root());
    root_ = session.session_id();
    const auto result = session.ask("start");
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->status, SessionStatus::kAwaitingUser) << (result->error ? result->error->message : "");
    ASSERT_EQ(result->pending.size(), 3U);
    pending_ = result->pending;
    coder_ = pending_[0].session;
    EXPECT_EQ(pending_[0].path, "root/lead/coder");
    EXPECT_EQ(deeds_->all(), Counts{});
  }
  /// Approvals by the argument of the call.
  Approvals on(const std::map<std::string, Approval>& approvals) const {
    Approvals decisions;
    for (const ParkedStep& step : pending_)
      decisions.emplace_back(step.id, approvals.at(json_string(*parse_json(step.arguments), "text")));
    return decisions;
  }
  AgentResult resume(const Approvals& decisions = {}) {
    auto session = runtime_->open_session(root_, root());
    auto result = session ? session->resume(decisions).report() : Result<AgentResult>(fail(session.error()));
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(AgentResult{});
  }
  std::string printed_by_coder() {
    const auto state = fold(*read_records(*journal_, coder_));
    return result_for(state->conversation.history(), "call_1_1").text;
  }

  SessionId root_, coder_;
  std::vector<ParkedStep> pending_;
};

TEST_F(ParkedInPythonTest, DecidedAfterACrash_EachCallRunsOnce) {
  ASSERT_NO_FATAL_FAILURE(park_all());
  start_new_process();
  const AgentResult result = resume(on({{"a", approve()}, {"b", edit(R"({"text":"B"})")}, {"c", approve()}}));
  EXPECT_EQ(result.text, "all done");
  EXPECT_EQ(printed_by_coder(), "noted a\nnoted B\nnoted c\n");
  EXPECT_EQ(deeds_->all(), (Counts{{"B", 1}, {"a", 1}, {"c", 1}}));
}

TEST_F(ParkedInPythonTest, DecidedInOneProcess_RunsInTheNext) {
  ASSERT_NO_FATAL_FAILURE(park_all());
  start_new_process();
  {
    Session session = *runtime_->open_session(root_, root());
    for (const auto& [id, approval] :
         on({{"a", approve()}, {"b", edit(R"({"text":"B"})")}, {"c", approve()}})) {
      const auto decided = session.decide(id, approval);
      EXPECT_TRUE(decided) << decided.error().message;
    }
  }
  EXPECT_EQ(deeds_->all(), Counts{});
  start_new_process();
  const AgentResult result = resume();
  EXPECT_EQ(result.text, "all done");
  EXPECT_EQ(printed_by_coder(), "noted a\nnoted B\nnoted c\n");
  EXPECT_EQ(deeds_->all(), (Counts{{"B", 1}, {"a", 1}, {"c", 1}}));
}

TEST_F(ParkedInPythonTest, DecidedOnTheSubAgentAlone_ItsResultIsFoundByThoseAbove) {
  ASSERT_NO_FATAL_FAILURE(park_all());
  start_new_process();
  {
    Session session = *runtime_->open_session(coder_, coder_below());
    const auto result =
        session.resume(on({{"a", approve()}, {"b", edit(R"({"text":"B"})")}, {"c", approve()}})).report();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->text, "done");
  }
  start_new_process();
  EXPECT_EQ(resume().text, "all done");
  EXPECT_EQ(printed_by_coder(), "noted a\nnoted B\nnoted c\n");
  EXPECT_EQ(deeds_->all(), (Counts{{"B", 1}, {"a", 1}, {"c", 1}}));
}

TEST_F(ParkedInPythonTest, DeniedAfterACrash_TheCodeGetsAnErrorAndTheRestRuns) {
  ASSERT_NO_FATAL_FAILURE(park_all());
  start_new_process();
  const AgentResult result =
      resume(on({{"a", reject("not that")}, {"b", approve()}, {"c", reject("nor that")}}));
  EXPECT_EQ(result.text, "all done");
  const std::string printed = printed_by_coder();
  EXPECT_NE(printed.find("not that"), std::string::npos) << printed;
  EXPECT_NE(printed.find("noted b"), std::string::npos) << printed;
  EXPECT_EQ(deeds_->all(), (Counts{{"b", 1}}));
}

TEST_F(ParkedInPythonTest, ResumedUndecided_WaitsAgainForTheSameThree) {
  ASSERT_NO_FATAL_FAILURE(park_all());
  start_new_process();
  const AgentResult again = resume();
  EXPECT_EQ(again.status, SessionStatus::kAwaitingUser);
  EXPECT_EQ(again.pending.size(), 3U);
  EXPECT_EQ(deeds_->all(), Counts{});
}

}  // namespace
}  // namespace praxis::testing
