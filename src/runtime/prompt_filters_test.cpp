// Filters of content at `prompt`: what is sent into a run, by whichever way, and what the log says about it.
// Also how much of a request filters read again.
#include <gmock/gmock.h>

#include "praxis/tools/ask_user_tool.hpp"
#include "runtime/content_filters.hpp"
#include "runtime/testing/filtered.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kPay = "Pay from " + std::string(kAccount) + ".";
constexpr std::string_view kRedacted = "Pay from [REDACTED:accounts].";

class PromptFilters : public FilteredTest {
 protected:
  Session filtered(std::string_view action) {
    return session_of(Agent().runtime(runtime_).model(sent_.model()).policy(accounts("prompt", action)));
  }
  void expect_absent() const { EXPECT_THAT(journal_bytes(), Not(HasSubstr(kAccount))); }

  Sent sent_;
};

TEST_F(PromptFilters, RedactedMessage_ReachesNeitherModelNorJournal) {
  Session session = filtered("redact");
  checked(session.ask(kPay));
  ASSERT_EQ(sent_.requests.size(), 1U);
  EXPECT_EQ(sent_.requests[0].history.messages().back()->text(), kRedacted);
  const auto decided = recorded<records::Decided>(session);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(decided[0].verb, ApprovalVerb::kEdit);
  EXPECT_EQ(decided[0].author.principal, "filter accounts");
  expect_absent();
  expect_replays(session);
}

TEST_F(PromptFilters, DeniedMessage_StartsNoTurnAndLeavesTheDecisionAlone) {
  Session session = filtered("deny");
  const auto result = session.ask(kPay);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kPolicy);
  EXPECT_EQ(result.error().message, "The filter \"accounts\" denies the message: Accounts stay here.");
  EXPECT_THAT(sent_.requests, IsEmpty());
  const auto decided = recorded<records::Decided>(session);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(decided[0].verb, ApprovalVerb::kReject);
  expect_absent();
  EXPECT_EQ(checked(session.ask("hello")).text, "ok") << "the session can still be used";
  expect_replays(session);
}

TEST_F(PromptFilters, AddedMessageIsFiltered) {
  Session session = filtered("redact");
  ASSERT_TRUE(session.add_user_turn(kPay));
  EXPECT_EQ(session.history().messages().back()->text(), kRedacted);
  Session denying = filtered("deny");
  EXPECT_FALSE(denying.add_user_turn(kPay));
  EXPECT_THAT(denying.history().messages(), IsEmpty());
  expect_absent();
}

TEST_F(PromptFilters, CommandsToALiveSessionAreFiltered) {
  Session session = filtered("redact");
  checked(session.ask("hello"));
  const SessionId id = session.session_id();
  ASSERT_TRUE(runtime_->command({{CommandVerb::kEnqueue, id, kPay}}));
  EXPECT_THAT(journal_bytes(), HasSubstr(kRedacted));
  Session denying = filtered("deny");
  checked(denying.ask("hello"));
  const Status refused = runtime_->command({{CommandVerb::kEnqueue, denying.session_id(), kPay}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("The filter \"accounts\" denies the message"));
  EXPECT_EQ(denying.queued(), 0U);
  EXPECT_THAT(deciders(denying), ElementsAre("filter accounts"));
  expect_absent();
}

TEST_F(PromptFilters, CommandsToAnIdleSessionAreFiltered) {
  const auto send = [&](std::string_view action) {
    SessionId id;
    {
      Session session = filtered(action);
      checked(session.ask("hello"));
      id = session.session_id();
    }
    start_new_process();
    return deliver(*journal_, *system_environment(), Commands{{CommandVerb::kEnqueue, id, kPay}}).value();
  };
  EXPECT_TRUE(std::holds_alternative<Delivered>(send("redact")));
  EXPECT_THAT(journal_bytes(), HasSubstr(kRedacted));
  const Delivery refused = send("deny");
  ASSERT_TRUE(std::holds_alternative<Refused>(refused));
  EXPECT_THAT(std::get<Refused>(refused).reason, HasSubstr("denies the message"));
  expect_absent();
}

TEST_F(PromptFilters, AnswerOfAPersonIsFiltered) {
  const auto waiting = [&](std::string_view action) {
    return session_of(scripted(proposing("ask_user", R"({"question": "From where?"})"))
                          .use(ask_user_tool())
                          .policy(accounts("prompt", action)));
  };
  Session session = waiting("redact");
  const AgentResult asks = checked(session.ask("go"));
  ASSERT_EQ(asks.pending.size(), 1U);
  checked(session.resume({{asks.pending[0].id, answer(kPay)}}).report());
  EXPECT_EQ(result_for(session.history(), "c").text, kRedacted);
  EXPECT_THAT(deciders(session), ::testing::Contains("filter accounts"));
  Session denying = waiting("deny");
  const AgentResult other = checked(denying.ask("go"));
  ASSERT_EQ(other.pending.size(), 1U);
  EXPECT_FALSE(denying.resume({{other.pending[0].id, answer(kPay)}}).report());
  EXPECT_EQ(denying.state().parked.size(), 1U) << "the question still waits";
  expect_absent();
}

TEST_F(PromptFilters, TaskOfASubAgentIsFilteredByTheRulesAbove) {
  Agent leaf = Agent().id("leaf").runtime(runtime_).model(sent_.model());
  Agent root = scripted(R"({"tool_calls": [{"id": "w", "name": "work", "arguments": {"prompt": ")" + kPay +
                        "\"}}]}\n{\"text\": \"done\"}");
  root.id("root").use(leaf.as_tool("work", "Does the work")).policy(accounts("prompt", "redact"));
  checked(root.run("go"));
  ASSERT_EQ(sent_.requests.size(), 1U);
  EXPECT_EQ(sent_.requests[0].history.messages().back()->text(), kRedacted);
}

TEST_F(PromptFilters, MessageThatAHookChanged_IsKeptWithoutWhatAFilterRemoved) {
  Agent agent = Agent().runtime(runtime_).model(sent_.model()).policy(accounts("prompt", "redact"));
  agent.on_outgoing_message([](const HookContext&, Message& m) { m = text_message(Role::kUser, "changed"); });
  Session session = session_of(agent);
  checked(session.ask(kPay));
  EXPECT_EQ(session.history().messages().front()->text(), "changed");
  EXPECT_THAT(journal_bytes(), HasSubstr(kRedacted));
  expect_absent();
}

TEST_F(PromptFilters, ResumedRunDecidesNothingAgain) {
  Agent agent = scripted(proposing("send", R"({"text": "x"})")).use(echo_tool("send"));
  PolicyRules rules = accounts("prompt", "redact");
  rules.ask = {"send"};
  SessionId id;
  ParkId step;
  {
    Session session = session_of(agent.policy(rules));
    const AgentResult waits = checked(session.ask(kPay));
    ASSERT_EQ(waits.pending.size(), 1U);
    step = waits.pending[0].id;
    id = session.session_id();
  }
  agent = Agent();  // which holds its runtime
  start_new_process();
  Agent later = scripted(R"({"text": "done"})").use(echo_tool("send"));
  auto resumed = runtime_->open_session(id, later.policy(rules));
  ASSERT_TRUE(resumed) << resumed.error().message;
  checked(resumed->resume({{step, approve()}}).report());
  EXPECT_EQ(resumed->history().messages().front()->text(), kRedacted);
  EXPECT_THAT(deciders(*resumed), ::testing::Contains("filter accounts").Times(1));
  expect_replays(*resumed);
}

TEST_F(PromptFilters, SubAgentOfACallThatRunsAgain_KeepsTheTurnOfItsFilteredTask) {
  BlockedTool slow;
  const auto root_over = [&](const Agent& leaf) {
    Agent root = scripted(proposing("work", R"({"prompt": ")" + kPay + "\"}"));
    return root.id("root")
        .runtime(nullptr)
        .use(leaf.as_tool("work", "Works"))
        .policy(accounts("prompt", "redact"));
  };
  const std::string calls_slow = proposing("slow", "{}");
  SessionId id;
  {
    auto session = runtime_->create_session(
        root_over(scripted(calls_slow).id("leaf").runtime(nullptr).use(slow.tool("slow", true))));
    ASSERT_TRUE(session);
    id = session->session_id();
    auto run = session->send_user_message("go");
    slow.entered->wait();
    runtime_.reset();  // simulates the death of the process
    EXPECT_FALSE(run.report());
  }
  use_runtime({});
  slow.release->open();
  Agent again = root_over(scripted(calls_slow).id("leaf").use(echo_tool("slow")));
  const auto waits = again.runtime(runtime_).resume(id);
  ASSERT_TRUE(waits) << waits.error().message;
  ASSERT_EQ(waits->pending.size(), 1U) << "the call in doubt of the turn that the sub-agent had begun";
  const auto records = read_records(*journal_, waits->pending[0].session);
  ASSERT_TRUE(records);
  EXPECT_EQ(std::ranges::count_if(*records,
                                  [](const StoredRecord& each) {
                                    return std::holds_alternative<records::TurnStarted>(each.record.body);
                                  }),
            1);
}

TEST_F(PromptFilters, ImportedConversationIsFiltered) {
  const auto begin = [&](std::string_view action) {
    return runtime_->create_session(
        Agent().runtime(runtime_).model(sent_.model()).policy(accounts("prompt", action)),
        Conversation{{}, {text_message(Role::kUser, kPay), text_message(Role::kAssistant, "Yes.")}, nullptr});
  };
  const auto session = begin("redact");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->history().messages().front()->text(), kRedacted);
  EXPECT_THAT(deciders(*session), ElementsAre("filter accounts"));
  const auto denied = begin("deny");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kPolicy);
  expect_absent();
}

// ---- how much of a request is read

/// A request with these messages.
ModelRequest request_with(const std::vector<MessagePtr>& messages) {
  ModelRequest request;
  request.instructions = "Be brief.";
  HistoryBuilder conversation;
  for (const MessagePtr& message : messages) conversation.push(message);
  request.history = conversation.history();
  return request;
}

TEST_F(PromptFilters, NextRequestIsReadOnlyWhereItIsNew) {
  AgentSpec agent;
  agent.policy = to_json(accounts("model", "redact"));
  const filters::FilterSetPtr set = filters::filters_of(agent);
  RequestFilter filter;
  std::vector<MessagePtr> messages;
  std::vector<std::size_t> read;
  std::string by;
  for (int i = 0; i < 5; ++i) {
    const std::string text = i == 1 ? kPay : std::string(1'000, 'a');
    messages.push_back(std::make_shared<const Message>(text_message(Role::kUser, text)));
    ModelRequest request = request_with(messages);
    const std::size_t before = filter.bytes_read();
    ASSERT_TRUE(filter.apply(set, request, by));
    read.push_back(filter.bytes_read() - before);
    EXPECT_EQ(by, i == 0 ? "" : "redact accounts") << "the decision stays";
    if (i > 0) {
      EXPECT_EQ(request.history.messages()[1]->text(), kRedacted);
    }
  }
  EXPECT_THAT(read, ElementsAre(1'009, kPay.size(), 1'000, 1'000, 1'000));
  ModelRequest request = request_with(messages);
  const std::size_t before = filter.bytes_read();
  ASSERT_TRUE(filter.apply(filters::filters_of(agent), request, by));
  EXPECT_EQ(filter.bytes_read() - before, 4'009 + kPay.size()) << "other filters read all of it";
}

TEST_F(PromptFilters, BoundOfARequestCountsWhatWasReadBefore) {
  AgentSpec agent;
  agent.policy = to_json(accounts("model", "redact"));
  const filters::FilterSetPtr set = filters::filters_of(agent);
  RequestFilter filter;
  std::vector<MessagePtr> messages;
  std::string by;
  for (int i = 0; i < 3; ++i) {
    messages.push_back(std::make_shared<const Message>(
        text_message(Role::kUser, std::string(filters::kMostBytes / 2 - 100, 'a'))));
    ModelRequest request = request_with(messages);
    const Status filtered = filter.apply(set, request, by);
    EXPECT_EQ(filtered.has_value(), i < 2);
    if (i == 2) {
      EXPECT_THAT(filtered.error().message, HasSubstr("more than 16 MiB"));
    }
  }
}

}  // namespace
}  // namespace praxis::testing
