// Several agents on one conversation.
#include <gmock/gmock.h>

#include "praxis/runtime/team.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TeamTest : public Scripted {
 protected:
  /// Says its own name again and again: scripts count the calls of a session, whoever made them.
  Agent named(const std::string& id) {
    std::string script;
    for (int i = 0; i < 8; ++i) script += R"({"text":"I am )" + id + "\"}\n";
    Agent agent = scripted(script);
    return agent.id(id);
  }
  Team team(std::vector<Agent> agents) { return Team(std::move(agents), runtime_); }
  static std::string answer(Team& team, std::string text) {
    auto result = team.send(std::move(text));
    return result ? result->text : "error: " + result.error().message;
  }
};

TEST_F(TeamTest, TheFirstAgentAnswers_UntilAnotherIsSet) {
  Team both = team({named("one"), named("two")});
  EXPECT_EQ(answer(both, "hello"), "I am one");
  ASSERT_TRUE(both.set_agent_by_id("two"));
  EXPECT_EQ(both.current_agent().spec().id, "two");
  EXPECT_EQ(answer(both, "and you?"), "I am two");
  EXPECT_EQ(both.history().messages().size(), 4U);
  both.set_agent(named("three"));
  EXPECT_EQ(answer(both, "and you?"), "I am three");
  EXPECT_EQ(journal_->sessions(0)->size(), 1U);
}

TEST_F(TeamTest, OfTheRuntime_TakesAgentsAndAStrategy) {
  EXPECT_EQ(runtime_->current_agent().spec().model, "") << "there is none yet";
  runtime_->register_agent(named("one"));
  EXPECT_EQ(runtime_->current_agent().spec().id, "one");
  runtime_->set_agent(named("two"));
  EXPECT_EQ(answer(runtime_->team(), "hello"), "I am two");
  ASSERT_TRUE(runtime_->set_agent_by_id("one"));
  EXPECT_FALSE(runtime_->set_agent_by_id("three"));
  runtime_->route_message(route_by_role({{"legal", "two"}}));
  EXPECT_EQ(answer(runtime_->team(), "a question"), "I am one");
  EXPECT_EQ(answer(runtime_->team(), "a legal question"), "I am two");
  EXPECT_EQ(runtime_->team().history().messages().size(), 6U);
  EXPECT_EQ(runtime_->current_agent().run("by itself")->text, "I am one");
}

TEST_F(TeamTest, OfTheRuntime_DoesNotKeepItAlive) {
  const std::weak_ptr<Runtime> weak = runtime_;
  Agent supervisor = scripted(R"({"text":"{\"agent\":\"one\"}"})");
  runtime_->register_agent(named("one").use(named("helper").as_tool("helper", "Helps")));
  runtime_->route_message(route_by_supervisor(supervisor.id("supervisor")));
  EXPECT_EQ(answer(runtime_->team(), "hello"), "I am one");
  supervisor = Agent();
  runtime_.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(TeamTest, AnUnknownId_IsRefusedWithThoseThatThereAre) {
  Team both = team({named("one"), named("two")});
  const auto set = both.set_agent_by_id("tow");
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("there are: one, two"));
}

TEST_F(TeamTest, Roles_AreFoundInTheMessage) {
  Team both = team({named("one"), named("two")});
  both.route_message(route_by_role({{"legal", "two"}}));
  EXPECT_EQ(answer(both, "a LEGAL question"), "I am two");
  EXPECT_EQ(answer(both, "illegal question"), "I am one");
}

TEST_F(TeamTest, ASupervisor_ChoosesByItsAnswer) {
  Team both = team({named("one"), named("two")});
  Agent supervisor = scripted(R"({"text":"{\"agent\":\"two\"}"})");
  both.route_message(route_by_supervisor(supervisor.id("supervisor")));
  EXPECT_EQ(answer(both, "whoever"), "I am two");
}

TEST_F(TeamTest, AChain_PassesTheAnswerOn) {
  Team both = team({named("one"), named("two")});
  both.route_message(route_chain({"one", "two"}));
  EXPECT_EQ(answer(both, "go"), "I am two");
  std::vector<std::string> said;
  for (const MessagePtr& message : both.history().messages()) said.push_back(message->text());
  EXPECT_THAT(said, ElementsAre("go", "I am one", "Carry on from the answer above.", "I am two"));
}

TEST_F(TeamTest, AHandoff_GivesTheConversationToAnother) {
  Agent one = scripted(R"({"tool_calls":[{"name":"hand_over_to_two","arguments":{}}]}
{"text":"over"})");
  one.id("one");
  Team both = team({one, named("two")});
  both.register_agent(Agent(one).use(both.handoff_tools("one")));
  EXPECT_EQ(answer(both, "help"), "I am two");
  EXPECT_EQ(both.current_agent().spec().id, "two");
}

TEST_F(TeamTest, Subscriptions_OutlastASwitch_AndMessagesCanBeInjected) {
  Team both = team({named("one"), named("two")});
  std::vector<std::string> heard;
  const auto subscription = both.on(
      "assistant.text", [&](const Event& e) { heard.push_back(std::get<AssistantText>(e.body).text); });
  answer(both, "hello");
  ASSERT_TRUE(both.set_agent_by_id("two"));
  ASSERT_TRUE(both.inject("by the way"));
  answer(both, "and you?");
  EXPECT_THAT(heard, ElementsAre("I am one", "I am two"));
  EXPECT_EQ(both.history().messages()[2]->text(), "by the way");
}

}  // namespace
}  // namespace praxis::testing
