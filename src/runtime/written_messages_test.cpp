// Messages between the agents of one tree, and their bounds.
#include <algorithm>

#include "praxis/core/state.hpp"
#include "praxis/tools/send_message_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

class AgentMessages : public Scripted {
 protected:
  static std::string send(const std::string& agent, const std::string& text, const std::string& id = "m") {
    return R"({"tool_calls":[{"name":"send_message","id":")" + id + R"(","arguments":{"agent":")" + agent +
           R"(","text":")" + text + "\"}}]}\n";
  }
  /// An agent that has the helper as a tool, calls it once and ends.
  Agent lead_of(Agent helper) {
    Agent lead = scripted(R"({"tool_calls":[{"name":"helper","id":"h","arguments":{"prompt":"go"}}]}
{"text":"Led."})");
    return lead.id("lead").use(helper.id("helper").as_tool("helper", "Helps"));
  }
  std::vector<records::Intervened> commands_of(const SessionId& id) {
    std::vector<records::Intervened> commands;
    const auto records = *read_records(*journal_, id);
    for (const StoredRecord& stored : records) {
      if (const auto* command = std::get_if<records::Intervened>(&stored.record.body))
        commands.push_back(*command);
    }
    return commands;
  }
  SessionId child() {
    const auto rows = *journal_->sessions(0);
    for (const SessionRow& row : rows) {
      if (!row.parent.empty()) return row.id;
    }
    return {};
  }
  std::string result_in_child(const std::string& id) {
    return result_for(fold(*read_records(*journal_, child()))->conversation.history(), id).text;
  }
};

TEST_F(AgentMessages, SubAgentReachesTheAgentAboveBeforeItsNextStep) {
  Agent helper = scripted(send("lead", "The door is open.") + R"({"text":"helped"})");
  Session session = session_of(lead_of(helper.use(send_message_tool())));
  ASSERT_TRUE(session.ask("Begin."));
  const auto& messages = session.history().messages();
  ASSERT_EQ(messages.size(), 5U) << "prompt, call, result, message, answer";
  EXPECT_EQ(messages[3]->role, Role::kUser);
  EXPECT_EQ(messages[3]->text(), "[message from agent lead/helper, hop 1]\nThe door is open.");
  const auto commands = commands_of(session.session_id());
  ASSERT_EQ(commands.size(), 1U) << "the log of the receiver says who sent it";
  EXPECT_EQ(commands[0].verb, CommandVerb::kSteer);
  EXPECT_EQ(commands[0].author.principal, "agent lead/helper");
  EXPECT_EQ(result_in_child("m"), "Sent to lead, which reads it before its next step.")
      << "the log of the sender says where it went";
}

TEST_F(AgentMessages, UnknownAgentAndTheSenderItselfAreRefused) {
  Agent helper = scripted(send("nobody", "x", "a") + send("helper", "x", "b") + R"({"text":"helped"})");
  Session session = session_of(lead_of(helper.use(send_message_tool())));
  ASSERT_TRUE(session.ask("Begin."));
  EXPECT_NE(result_in_child("a").find("is called \"nobody\"; there are lead"), std::string::npos);
  EXPECT_NE(result_in_child("b").find("no other agent"), std::string::npos);
  EXPECT_TRUE(commands_of(session.session_id()).empty());
}

TEST_F(AgentMessages, MessagesOfATurnAreBounded) {
  Agent helper = scripted(send("lead", "one", "a") + send("lead", "two", "b") + send("lead", "three", "c") +
                          R"({"text":"helped"})");
  Session session = session_of(lead_of(helper.use(send_message_tool({.per_turn = 2}))));
  ASSERT_TRUE(session.ask("Begin."));
  EXPECT_EQ(commands_of(session.session_id()).size(), 2U);
  EXPECT_NE(result_in_child("c").find("this turn has sent 2 messages already"), std::string::npos);
}

TEST_F(AgentMessages, AnswersToMessagesAreBounded) {
  Agent helper = scripted(send("lead", "one", "a") + R"({"text":"helped"})");
  Agent lead = scripted(R"({"tool_calls":[{"name":"helper","id":"h","arguments":{"prompt":"go"}}]}
)" + send("helper", "and back", "b") +
                        R"({"text":"Led."})");
  lead.id("lead").use(helper.use(send_message_tool()).id("helper").as_tool("helper", "Helps"));
  Session session = session_of(lead.use(send_message_tool({.per_turn = 5, .hops = 1})));
  ASSERT_TRUE(session.ask("Begin."));
  EXPECT_NE(result_for(session.history(), "b").text.find("messages have led to messages 1 times already"),
            std::string::npos);
  EXPECT_TRUE(commands_of(child()).empty());
}

}  // namespace
}  // namespace praxis::testing
