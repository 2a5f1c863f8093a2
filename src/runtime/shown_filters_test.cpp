// Filters of content at `shown`: what observers and callers see of a run, while its log keeps all.
#include <gmock/gmock.h>

#include "runtime/testing/filtered.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSays = R"({"text": "It is )" + std::string(kAccount) + "\"}";

class ShownFilters : public FilteredTest {
 protected:
  /// The content of the node of a session that was asked this.
  std::string content_after(Session& session, const std::string& prompt) {
    checked(session.ask(prompt));
    for (const AgentNode& node : runtime_->agent_tree()) {
      if (node.id == session.session_id()) return node.content;
    }
    return "no such node";
  }
  /// The JSON of every event that an observer of the runtime gets.
  std::string seen_by_observers(const Agent& agent) {
    std::string seen;
    std::mutex mutex;
    const auto watching = runtime_->on("*", [&](const Event& event) {
      const std::lock_guard lock(mutex);
      seen += to_json_text(to_json(event)) + '\n';
    });
    Session session = session_of(agent);
    std::string streamed;
    for (const Event& event : session.send_user_message("go"))
      streamed += to_json_text(to_json(event)) + '\n';
    const std::lock_guard lock(mutex);
    return seen + streamed;
  }
};

TEST_F(ShownFilters, RedactedAnswer_IsWholeInTheLogOnly) {
  Agent agent = scripted(kSays).policy(accounts("shown", "redact"));
  EXPECT_THAT(seen_by_observers(agent), AllOf(Not(HasSubstr(kAccount)), HasSubstr("[REDACTED:accounts]")));
  EXPECT_THAT(journal_bytes(), HasSubstr(kAccount));
  Session session = session_of(scripted(kSays).policy(accounts("shown", "redact")));
  EXPECT_EQ(checked(session.ask("go")).text, "It is [REDACTED:accounts]");
  EXPECT_EQ(session.last_result().text, "It is [REDACTED:accounts]");
  expect_replays(session);
}

TEST_F(ShownFilters, DeniedAnswer_IsWithheldAsAWhole) {
  Session session = session_of(scripted(kSays).policy(accounts("shown", "deny")));
  EXPECT_EQ(checked(session.ask("go")).text, "[WITHHELD:accounts]");
}

TEST_F(ShownFilters, WithoutThem_ObserversSeeAll) {
  EXPECT_THAT(seen_by_observers(scripted(kSays)), HasSubstr(kAccount));
}

TEST_F(ShownFilters, OfTheAgentAbove_HoldForEventsBelow_ButNotForWhatTheSubAgentGives) {
  Agent leaf = scripted(kSays).id("leaf");
  Agent root = above(leaf, "root").policy(accounts("shown", "redact"));
  EXPECT_THAT(seen_by_observers(root), AllOf(Not(HasSubstr(kAccount)), HasSubstr("[REDACTED:accounts]")));
  Session session = session_of(above(leaf, "root").policy(accounts("shown", "redact")));
  checked(session.ask("go"));
  EXPECT_EQ(result_for(session.history(), "w").text, "It is " + std::string(kAccount))
      << "the agent above reads what it asked for";
}

TEST_F(ShownFilters, LongTask_IsFilteredBeforeItIsCut) {
  const std::string account(kAccount);
  for (std::size_t before = 1; before <= account.size() + 1; ++before) {
    Session session = session_of(scripted(kSays).policy(accounts("shown", "redact")));
    const std::string content =
        content_after(session, std::string(kMaxNodeContent - before, 'x') + account + std::string(99, 'y'));
    EXPECT_THAT(content, Not(HasSubstr("xD"))) << before;
    EXPECT_LE(content.size(), kMaxNodeContent);
  }
}

TEST_F(ShownFilters, LongTask_EndsWithAWholeWord) {
  const std::string key(40, 'k');
  for (std::size_t before = 1; before < key.size(); ++before) {
    Session session = session_of(scripted(kSays));
    const std::string start(kMaxNodeContent - before - 1, 'x');
    EXPECT_EQ(content_after(session, start + ' ' + key + " end"), start + ' ') << before;
  }
  Session session = session_of(scripted(kSays));
  EXPECT_EQ(content_after(session, std::string(9'999, 'x')), std::string(kMaxNodeContent, 'x'));
}

}  // namespace
}  // namespace praxis::testing
