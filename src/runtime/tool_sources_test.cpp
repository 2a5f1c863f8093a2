// Agents whose list of tools changes while a session lives.
#include <gmock/gmock.h>

#include <atomic>

#include "runtime/testing/offered_model.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ToolSourceTest : public Scripted {
 protected:
  /// An agent with the tool `own` and those of `listed_`.
  Agent sourced(std::string_view script) {
    Agent agent = scripted(script);
    model_ = std::make_shared<OfferedModel>(agent.description()->model);
    return agent.model(model_).use(echo_tool("own")).tools_from([this] { return list(); });
  }
  std::vector<Tool> list() {
    const std::lock_guard lock(mutex_);
    if (fails_) throw std::runtime_error("the server is gone");
    return listed_;
  }
  void offer(std::vector<Tool> tools) {
    const std::lock_guard lock(mutex_);
    listed_ = std::move(tools);
  }
  void break_source() {
    const std::lock_guard lock(mutex_);
    fails_ = true;
  }
  /// A tool that replaces the list when it is called.
  Tool switching(std::string name, std::function<void()> change) {
    return host_tool(std::move(name),
                     [change = std::move(change)](ToolContext&, const Json&) -> Result<ToolOutput> {
                       change();
                       return says("switched");
                     });
  }
  /// The lists of tools that the log has, in order: that of the creation, then each change.
  std::vector<std::string> recorded(const SessionId& session) {
    std::vector<std::string> lists;
    const auto records = read_records(*journal_, session);
    if (!records) return lists;
    for (const StoredRecord& stored : *records) {
      const auto* created = std::get_if<records::SessionCreated>(&stored.record.body);
      const auto* changed = std::get_if<records::Intervened>(&stored.record.body);
      if (created == nullptr && (changed == nullptr || !changed->agent)) continue;
      std::string names;
      for (const ToolSpec& tool : (created != nullptr ? created->agent : changed->agent)->tools)
        names += (names.empty() ? "" : " ") + tool.definition.name;
      lists.push_back(std::move(names));
    }
    return lists;
  }

  std::shared_ptr<OfferedModel> model_;

 private:
  std::mutex mutex_;
  std::vector<Tool> listed_;
  bool fails_ = false;
};

TEST_F(ToolSourceTest, NextModelCallOffersTheNewList_WhichTheLogRecords) {
  offer({switching("install", [this] { offer({echo_tool("added")}); })});
  Session session = session_of(sourced(R"({"tool_calls": [{"id": "a", "name": "install", "arguments": {}}]}
{"tool_calls": [{"id": "b", "name": "added", "arguments": {"text": "x"}}]}
{"tool_calls": [{"id": "c", "name": "install", "arguments": {}}]}
{"text": "done"})"));
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_THAT(model_->offers(), ElementsAre("own install", "own added", "own added", "own added"));
  EXPECT_THAT(recorded(session.session_id()), ElementsAre("own", "own install", "own added"));
  const History history = session.history();
  EXPECT_THAT(result_for(history, "b").text, "x");
  const ToolResultPart removed = result_for(history, "c");
  EXPECT_EQ(removed.status, ToolStatus::kError);
  EXPECT_THAT(removed.text, HasSubstr("unknown tool \"install\""));
}

TEST_F(ToolSourceTest, UnchangedList_AddsNoRecord) {
  offer({echo_tool("listed")});
  Session session = session_of(sourced(R"({"text": "a"}
{"text": "b"})"));
  ASSERT_TRUE(session.ask("one"));
  ASSERT_TRUE(session.ask("two"));
  EXPECT_THAT(recorded(session.session_id()), ElementsAre("own", "own listed"));
}

TEST_F(ToolSourceTest, FailingOrUnusableList_IsReportedAndTheOldOneStays) {
  offer({switching("break", [this] { break_source(); }),
         switching("clash", [this] { offer({echo_tool("own")}); })});
  std::vector<std::string> reports;
  std::mutex mutex;
  Agent agent = sourced(R"({"tool_calls": [{"id": "a", "name": "clash", "arguments": {}}]}
{"tool_calls": [{"id": "b", "name": "break", "arguments": {}}]}
{"text": "done"})");
  agent.on("hook.failed", [&](const Event& event) {
    const std::lock_guard lock(mutex);
    const auto& failed = std::get<events::HookFailed>(event.body);
    reports.push_back(failed.hook + ": " + failed.message);
  });
  Session session = session_of(agent);
  const auto result = session.ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(recorded(session.session_id()), ElementsAre("own", "own break clash"));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(reports, ElementsAre("tool_source: there are two tools named \"own\"; rename one of them",
                                   "tool_source: the server is gone"));
}

TEST_F(ToolSourceTest, SourceThatFails_KeepsNothingFromTheOthers) {
  offer({switching("break", [this] { break_source(); })});
  Agent agent = sourced(R"({"tool_calls": [{"id": "a", "name": "break", "arguments": {}}]}
{"text": "done"})");
  std::atomic<int> asked = 0;
  agent.tools_from([]() -> std::vector<Tool> { throw std::runtime_error("never there"); });
  agent.tools_from([&asked] { return std::vector{echo_tool(++asked == 1 ? "first" : "second")}; });
  std::vector<std::string> reports;
  std::mutex mutex;
  agent.on("hook.failed", [&](const Event& event) {
    const std::lock_guard lock(mutex);
    reports.push_back(std::get<events::HookFailed>(event.body).message);
  });
  const auto result = session_of(agent).ask("go");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_THAT(model_->offers(), ElementsAre("own break first", "own break second"))
      << "the tool of the source that broke later is kept";
  const std::lock_guard lock(mutex);
  EXPECT_THAT(reports, ElementsAre("never there", "the server is gone", "never there"));
}

TEST_F(ToolSourceTest, CallThatWaitedForAnotherProcess_RunsWithToolOfSource) {
  offer({echo_tool("listed").needs_approval()});
  const char* const script = R"({"tool_calls": [{"id": "a", "name": "listed", "arguments": {"text": "x"}}]}
{"text": "done"})";
  const auto waits = sourced(script).run("go");
  ASSERT_TRUE(waits) << waits.error().message;
  ASSERT_EQ(waits->pending.size(), 1U);
  start_new_process();
  const auto result = sourced(script).resume(waits->session, {{waits->pending.front().id, approve()}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "done");
  EXPECT_THAT(recorded(waits->session), ElementsAre("own", "own listed"));
  ASSERT_FALSE(result->actions.empty());
  EXPECT_EQ(result->actions.front().outcome, Outcome::kOk);
}

}  // namespace
}  // namespace praxis::testing
