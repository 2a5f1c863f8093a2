// Several agents on one conversation.
#include <gmock/gmock.h>

#include "driver/nothing_to_resume.hpp"
#include "praxis/models/stub_model.hpp"
#include "praxis/runtime/team.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TeamTest : public Scripted {
 protected:
  /// Always says its own name. The script repeats it, because scripts count the calls of a session for all
  /// its agents.
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
  ASSERT_TRUE(both.set_agent(named("three")));
  EXPECT_EQ(answer(both, "and you?"), "I am three");
  EXPECT_EQ(journal_->sessions(0)->size(), 1U);
}

TEST_F(TeamTest, OfTheRuntime_TakesAgentsAndAStrategy) {
  Team& team = runtime_->team();
  EXPECT_EQ(team.current_agent().spec().model, "") << "no agent yet";
  team.register_agent(named("one"));
  EXPECT_EQ(team.current_agent().spec().id, "one");
  ASSERT_TRUE(team.set_agent(named("two")));
  EXPECT_EQ(answer(team, "hello"), "I am two");
  ASSERT_TRUE(team.set_agent_by_id("one"));
  EXPECT_FALSE(team.set_agent_by_id("three"));
  ASSERT_TRUE(team.route_message(route_by_role({{"legal", "two"}})));
  EXPECT_EQ(answer(team, "a question"), "I am one");
  EXPECT_EQ(answer(team, "a legal question"), "I am two");
  EXPECT_EQ(team.history().messages().size(), 6U);
  EXPECT_EQ(team.current_agent().run("by itself")->text, "I am one");
}

TEST_F(TeamTest, OfTheRuntime_DoesNotKeepItAlive) {
  const std::weak_ptr<Runtime> weak = runtime_;
  Agent supervisor = scripted(R"({"text":"{\"agent\":\"one\"}"})");
  runtime_->team().register_agent(named("one").use(named("helper").as_tool("helper", "Helps")));
  ASSERT_TRUE(runtime_->team().route_message(route_by_supervisor(supervisor.id("supervisor"))));
  EXPECT_EQ(answer(runtime_->team(), "hello"), "I am one");
  supervisor = Agent();
  runtime_.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(TeamTest, AnUnknownId_IsRefusedWithTheListOfKnownIds) {
  Team both = team({named("one"), named("two")});
  const auto set = both.set_agent_by_id("tow");
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("known agents: one, two"));
}

TEST_F(TeamTest, Roles_AreFoundInTheMessage) {
  Team both = team({named("one"), named("two")});
  ASSERT_TRUE(both.route_message(route_by_role({{"legal", "two"}})));
  EXPECT_EQ(answer(both, "a LEGAL question"), "I am two");
  EXPECT_EQ(answer(both, "illegal question"), "I am one");
}

TEST_F(TeamTest, ASupervisor_ChoosesByItsAnswer) {
  Team both = team({named("one"), named("two")});
  Agent supervisor = scripted(R"({"text":"{\"agent\":\"two\"}"})");
  ASSERT_TRUE(both.route_message(route_by_supervisor(supervisor.id("supervisor"))));
  EXPECT_EQ(answer(both, "any agent"), "I am two");
}

TEST_F(TeamTest, AChain_PassesTheAnswerOn) {
  Team both = team({named("one"), named("two")});
  ASSERT_TRUE(both.route_message(route_chain({"one", "two"})));
  EXPECT_EQ(answer(both, "go"), "I am two");
  std::vector<std::string> said;
  for (const MessagePtr& message : both.history().messages()) said.push_back(message->text());
  EXPECT_THAT(said, ElementsAre("go", "I am one", "Continue from the answer above.", "I am two"));
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
  const auto subscription = both.on("assistant.text", [&](const Event& e) {
    heard.push_back(std::get<events::AssistantText>(e.body).text);
  });
  answer(both, "hello");
  ASSERT_TRUE(both.set_agent_by_id("two"));
  ASSERT_TRUE(both.inject("by the way"));
  answer(both, "and you?");
  EXPECT_THAT(heard, ElementsAre("I am one", "I am two"));
  EXPECT_EQ(both.history().messages()[2]->text(), "by the way");
}

TEST_F(TeamTest, Roles_AreFoundInOtherFormsAndByDescriptions) {
  Agent coder = named("coder"), writer = named("writer");
  coder.description("Writes and debugs programs; explains crashes and functions");
  writer.description("Drafts letters and speeches");
  Team both = team({named("one"), coder, writer});
  ASSERT_TRUE(both.route_message(route_by_role({{"code", "coder"}, {"prose", "writer"}})));
  EXPECT_EQ(answer(both, "Fix my codes"), "I am coder");
  EXPECT_EQ(answer(both, "A source-code question"), "I am coder");
  EXPECT_EQ(answer(both, "Why does this function crash?"), "I am coder");
  EXPECT_EQ(answer(both, "I need a letter"), "I am writer");
  EXPECT_EQ(answer(both, "Hello"), "I am one");
}

TEST_F(TeamTest, ASupervisor_SeesDescriptionsAndTheConversation) {
  std::string asked;
  Agent supervisor;
  supervisor.id("supervisor").model(stub_model([&asked](const ModelRequest& request) {
    asked = request.history.messages().back()->text();
    return stub_text(R"({"agent":"two"})");
  }));
  Team both = team({named("one"), named("two").description("Knows the law")});
  ASSERT_TRUE(both.route_message(route_by_supervisor(supervisor)));
  EXPECT_EQ(answer(both, "First paragraph?"), "I am two");
  EXPECT_EQ(answer(both, "And the second?"), "I am two");
  EXPECT_THAT(asked, HasSubstr("- two: Knows the law"));
  EXPECT_THAT(asked, HasSubstr("user: First paragraph?\nassistant: I am two"));
}

TEST_F(TeamTest, AMessage_MayNameItsAgent) {
  Team both = team({named("one"), named("two")});
  EXPECT_EQ(both.send("hello", {}, "two")->text, "I am two");
  EXPECT_EQ(answer(both, "and you?"), "I am one") << "the choice was for one message";
  EXPECT_FALSE(both.send("hello", {}, "three"));
}

TEST_F(TeamTest, ARun_HasTheEventsOfAllMembers) {
  Team both = team({named("one"), named("two")});
  ASSERT_TRUE(both.route_message(route_chain({"one", "two"})));
  std::vector<std::string> texts;
  auto run = both.stream("go");
  for (const Event& event : run) {
    if (const auto* text = std::get_if<events::AssistantText>(&event.body)) texts.push_back(text->text);
  }
  EXPECT_THAT(texts, ElementsAre("I am one", "I am two"));
  EXPECT_EQ(run.result()->text, "I am two");
  EXPECT_EQ(run.session_id(), both.session_id());
  std::string said;
  for (const std::string_view piece : both.stream("again", "one").text()) said += piece;
  EXPECT_EQ(said, "I am one");
}

TEST_F(TeamTest, ARun_IsSteeredAndInterrupted) {
  BlockedTool blocked;
  Agent slow = scripted(R"({"tool_calls": [{"id": "c1", "name": "wait"}]}
{"text": "steered"}
{"tool_calls": [{"id": "c2", "name": "wait"}]})");
  Team both = team({slow.id("slow").use(blocked.tool("wait", true))});
  auto run = both.stream("go");
  blocked.entered->wait();
  run.steer("be quick");
  blocked.release->open();
  EXPECT_EQ(run.result()->text, "steered");
  EXPECT_EQ(both.history().messages()[3]->text(), "be quick");

  BlockedTool again;
  both.register_agent(scripted(R"({"tool_calls": [{"id": "c2", "name": "wait"}]}
{"tool_calls": [{"id": "c3", "name": "wait"}]}
{"tool_calls": [{"id": "c4", "name": "wait"}]})")
                          .id("slow")
                          .use(again.tool("wait", true)));
  auto stopped = both.stream("again");
  again.entered->wait();
  stopped.interrupt();
  const auto result = stopped.result();
  ASSERT_FALSE(result);
  EXPECT_EQ(json_text(result.error().detail(), "reason"), "cancelled");
}

TEST_F(TeamTest, AConversation_HasItsIdBeforeTheFirstMessage) {
  Team both = team({named("one"), named("two")});
  const auto begun = both.begin();
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(both.send("hello", {}, "two")->session, begun->session_id());
  EXPECT_EQ(both.begin()->session_id(), begun->session_id());
  EXPECT_EQ(both.agents().size(), 2U);
  EXPECT_FALSE(team({}).begin()) << "no agent can run it";
}

TEST_F(TeamTest, AnImage_ReachesTheFirstMember) {
  Team both = team({named("one"), named("two")});
  Message message = text_message(Role::kUser, "What is this?");
  ImagePart image;
  image.source.mime = "image/png";
  image.source.data = "x";
  message.parts.emplace_back(std::move(image));
  EXPECT_EQ(both.stream(message, "two").result()->text, "I am two");
  EXPECT_EQ(both.history().messages()[0]->parts.size(), 2U);
}

TEST_F(TeamTest, AFailedTurn_IsReportedWhole_AndRepeatedByResume) {
  bool fails = true;
  Agent two;
  two.id("two").model(stub_model([&fails](const ModelRequest&) -> Result<ModelResponse> {
    if (fails) return fail(ErrorCode::kModel, "the model is ill");
    return stub_text("I am two");
  }));
  Limits once;
  once.max_model_attempts = 1;
  Team all = team({named("one"), two.limits(once), named("three")});
  ASSERT_TRUE(all.route_message(route_chain({"one", "two", "three"})));
  const auto report = all.stream("go").report();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->reason, StopReason::kModelFailed);
  EXPECT_EQ(report->agent, "two");
  fails = false;
  std::vector<std::string> texts;
  auto rest = all.stream_resume();
  for (const Event& event : rest) {
    if (const auto* text = std::get_if<events::AssistantText>(&event.body)) texts.push_back(text->text);
  }
  EXPECT_THAT(texts, ElementsAre("I am two", "I am three"));
  EXPECT_FALSE(all.resume()) << "there is nothing left";
}

TEST_F(TeamTest, AQueuedMessage_IsForTheSpeaker) {
  RuntimeOptions options;
  options.begin_queued_turns = false;
  use_runtime(std::move(options));
  Team both = team({named("one"), named("two")});
  ASSERT_TRUE(both.set_agent_by_id("two"));
  ASSERT_TRUE(both.send("hello", {}, "one"));
  ASSERT_TRUE(runtime_->command({{CommandVerb::kEnqueue, both.session_id(), "later"}}));
  const auto answered = both.resume();
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(answered->text, "I am two");
  EXPECT_EQ(both.history().messages()[2]->text(), "later");
}

// ---- a team outlives its process

class DurableTeamTest : public TeamTest {
 protected:
  /// Two members; the first hands the conversation over to the second.
  Team pair() {
    Agent one = scripted(R"({"tool_calls":[{"name":"hand_over_to_two","arguments":{}}]}
{"text":"over"})");
    one.id("one");
    Team both = team({one, named("two")});
    both.register_agent(Agent(one).use(both.handoff_tools("one")));
    return both;
  }
  /// The log as a crash after `seq` leaves it, copied into a new session.
  SessionId cut_off(const SessionId& id, std::uint64_t seq) {
    const auto fork = fork_session(*journal_, runtime_->environment(), id, seq);
    EXPECT_TRUE(fork) << fork.error().message;
    return fork.value_or(SessionId{});
  }
  std::uint64_t seq_of(const SessionId& id, std::string_view cause) {
    const auto records = read_records(*journal_, id);
    for (const StoredRecord& stored : *records) {
      const auto* set = std::get_if<records::SpeakerSet>(&stored.record.body);
      if (set != nullptr && set->cause == cause) return stored.seq;
    }
    ADD_FAILURE() << "no speaker was set by " << cause;
    return 0;
  }
};

TEST_F(DurableTeamTest, SpeakerAndStrategy_AreAsBefore) {
  SessionId id;
  {
    Team both = team({named("one"), named("two")});
    ASSERT_TRUE(both.set_agent_by_id("two"));
    EXPECT_EQ(answer(both, "hello"), "I am two");
    ASSERT_TRUE(both.route_message(route_by_role({{"legal", "one"}})));
    id = both.session_id();
  }
  start_new_process();
  Team again = team({named("one"), named("two")});
  EXPECT_EQ(again.current_agent().spec().id, "one");
  ASSERT_TRUE(again.open(id));
  EXPECT_EQ(again.current_agent().spec().id, "two");
  const auto nothing = again.resume();
  ASSERT_FALSE(nothing);
  EXPECT_TRUE(has_nothing_to_resume(nothing.error())) << nothing.error().message;
  EXPECT_EQ(answer(again, "a legal question"), "I am one");
  EXPECT_EQ(answer(again, "another"), "I am two");
  EXPECT_EQ(again.history().messages().size(), 6U);
  EXPECT_FALSE(again.open(id)) << "it has a conversation";
}

TEST_F(DurableTeamTest, StrategyThatTheLogDoesNotHold_MustBeSetAgain) {
  const auto last = [](const Routing& routing) -> Result<std::vector<std::string>> {
    return std::vector{routing.agents.back().spec().id};
  };
  SessionId id;
  {
    Team both = team({named("one"), named("two")});
    ASSERT_TRUE(both.route_message(Strategy(last)));
    EXPECT_EQ(answer(both, "hello"), "I am two");
    id = both.session_id();
  }
  start_new_process();
  Team again = team({named("one"), named("two")});
  ASSERT_TRUE(again.open(id));
  const auto refused = again.send("hello");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("set it with Team::route_message"));
  ASSERT_TRUE(again.route_message(Strategy(last)));
  EXPECT_EQ(answer(again, "hello"), "I am two");
}

TEST_F(DurableTeamTest, HandOver_SurvivesACrashAfterAnyRecord) {
  SessionId id;
  {
    Team both = pair();
    EXPECT_EQ(answer(both, "help"), "I am two");
    id = both.session_id();
  }
  const std::uint64_t last = read_records(*journal_, id)->back().seq, handed_over = seq_of(id, "handoff");
  const auto records = read_records(*journal_, id);
  int resumed = 0;
  for (std::uint64_t seq = seq_of(id, "route"); seq <= last; ++seq) {
    SCOPED_TRACE("after record " + std::to_string(seq));
    Team again = pair();
    const Status opened = again.open(cut_off(id, seq));
    ASSERT_TRUE(opened) << opened.error().message;
    if (seq >= handed_over) {
      EXPECT_EQ(again.current_agent().spec().id, "two");
    }
    const auto state = fold(*records, seq);
    const bool is_over = !state->turn && state->team->pending.empty();
    const auto result = again.resume();
    ASSERT_EQ(result.has_value(), !is_over) << result.error().message;
    if (is_over) continue;
    ++resumed;
    EXPECT_EQ(result->text, "I am two");
    EXPECT_EQ(again.current_agent().spec().id, "two");
  }
  EXPECT_GT(resumed, 8);
}

TEST_F(DurableTeamTest, ChainCutOffAfterAnyRecord_IsContinued) {
  SessionId id;
  const auto chain = [&] { return team({named("one"), named("two"), named("three")}); };
  {
    Team all = chain();
    ASSERT_TRUE(all.route_message(route_chain({"one", "two", "three"})));
    EXPECT_EQ(answer(all, "go"), "I am three");
    id = all.session_id();
  }
  const auto records = read_records(*journal_, id);
  int resumed = 0;
  for (std::uint64_t seq = seq_of(id, "route") + 1; seq < records->back().seq; ++seq) {
    SCOPED_TRACE("after record " + std::to_string(seq));
    Team again = chain();
    const Status opened = again.open(cut_off(id, seq));
    ASSERT_TRUE(opened) << opened.error().message;
    const auto result = again.resume();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->text, "I am three");
    ++resumed;
    std::vector<std::string> said;
    for (const MessagePtr& message : again.history().messages()) {
      if (message->role == Role::kAssistant) said.push_back(message->text());
    }
    EXPECT_THAT(said, ElementsAre("I am one", "I am two", "I am three"));
  }
  EXPECT_GT(resumed, 8);
}

TEST_F(DurableTeamTest, StrategySetAgainAfterACrash_KeepsWhoIsStillToAnswer) {
  const auto everyone = [](const Routing&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"one", "two"};
  };
  SessionId id;
  {
    Team both = team({named("one"), named("two")});
    ASSERT_TRUE(both.route_message(Strategy(everyone)));
    EXPECT_EQ(answer(both, "go"), "I am two");
    id = both.session_id();
  }
  Team again = team({named("one"), named("two")});
  ASSERT_TRUE(again.open(cut_off(id, seq_of(id, "chain") - 1)));
  ASSERT_TRUE(again.route_message(Strategy(everyone)));
  const auto rest = again.resume();
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->text, "I am two");
}

TEST_F(DurableTeamTest, OpeningAnotherSession_IsRefused) {
  Session alone = session_of(named("one"));
  ASSERT_TRUE(alone.ask("hello"));
  Team other = team({named("one"), named("two")});
  const Status not_a_team = other.open(alone.session_id());
  ASSERT_FALSE(not_a_team);
  EXPECT_THAT(not_a_team.error().message, HasSubstr("is not the conversation of a team"));
  ASSERT_TRUE(other.set_agent_by_id("two"));
  answer(other, "hello");
  Team smaller = team({named("one")});
  const Status missing = smaller.open(other.session_id());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("no agent is called \"two\""));
}

}  // namespace
}  // namespace praxis::testing
