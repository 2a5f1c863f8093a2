// A team from an agent file, as a user meets it: `run`, `resume` after a kill and after a question, and what
// `show`, `tree`, `replay` and `--json` say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The same answer again and again: scripts count the calls of a session for all its agents.
std::string always(const std::string& line) {
  std::string lines;
  for (int i = 0; i < 12; ++i) lines += line + '\n';
  return lines;
}
std::string says_always(const std::string& text) { return always(R"({"text": ")" + text + "\"}"); }

class CliTeam : public CommandLine {
 protected:
  CliTeam() {
    file("desk.jsonl", says_always("I am desk"));
    member("billing");
    member("legal");
  }

  void member(const std::string& name, const std::string& rest = "") const {
    file(name + ".toml", "model = 'script:" + name + ".jsonl'\n" + rest);
    file(name + ".jsonl", says_always("I am " + name));
  }
  void desk(const std::string& rest) const {
    file("desk.toml", "id = 'desk'\nmodel = 'script:desk.jsonl'\n[team]\n" + rest +
                          "\n[team.members.billing]\nfile = 'billing.toml'\n"
                          "[team.members.legal]\nfile = 'legal.toml'\n");
  }
  /// A desk that hands the conversation over to billing.
  void desk_that_hands_over() const {
    desk("handoff = true");
    file("desk.jsonl", R"({"tool_calls": [{"name": "hand_over_to_billing", "arguments": {}}]})"
                       "\n{\"text\": \"over\"}\n" +
                           says_always("I am desk"));
  }
  /// Who answered each turn of the newest run, in order.
  std::vector<std::string> speakers() const {
    std::vector<std::string> all;
    const Json whole = transcript();
    for (const Json& item : json_at(whole, "items").as_array()) {
      if (json_string(item, "type") == "turn") all.push_back(json_string(item, "agent"));
    }
    return all;
  }
  Json transcript() const {
    const CommandResult exported = praxis({"export", "last", "--format", "json"});
    auto json = parse_json(exported.out);
    EXPECT_TRUE(json.has_value()) << exported.out << exported.err;
    return json ? *json : Json(JsonObject{{"items", JsonArray{}}});
  }
};

TEST_F(CliTeam, TheAgentOfTheFileAnswersFirst) {
  desk("");
  const CommandResult run = praxis({"run", "desk.toml", "Hello"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "I am desk\n");
  EXPECT_THAT(run.err, AllOf(HasSubstr("desk answers"), HasSubstr("resume: praxis resume")));
}

TEST_F(CliTeam, AHandOver_LetsTheOtherMemberAnswerFromThenOn) {
  desk_that_hands_over();
  const CommandResult run = praxis({"run", "desk.toml", "Why was I charged?"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "I am billing\n");
  EXPECT_THAT(run.err, HasSubstr("billing answers"));
  const CommandResult next = praxis({"resume", "last", "And now?"});
  EXPECT_EQ(next.out, "I am billing\n") << next.err;
  EXPECT_THAT(speakers(), ElementsAre("desk", "billing", "billing"));
  const CommandResult replay = praxis({"replay", "last"});
  EXPECT_EQ(replay.status, 0) << replay.out << replay.err;
}

TEST_F(CliTeam, RolesSelectTheMember) {
  desk("route = 'role'\nroles = { invoices = 'billing', contracts = 'legal' }");
  EXPECT_EQ(praxis({"run", "desk.toml", "Read this contract"}).out, "I am legal\n");
  EXPECT_EQ(praxis({"resume", "last", "Pay the invoice"}).out, "I am billing\n");
  EXPECT_EQ(praxis({"resume", "last", "Hello"}).out, "I am desk\n");
  EXPECT_THAT(speakers(), ElementsAre("legal", "billing", "desk"));
}

TEST_F(CliTeam, AChain_LetsAllAnswerInOrder) {
  desk("route = 'chain'\norder = ['legal', 'desk', 'billing']");
  const CommandResult run = praxis({"run", "desk.toml", "Go", "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json_string(run.last_line(), "result"), "I am billing");
  EXPECT_EQ(json_string(run.last_line(), "agent"), "billing");
  std::vector<std::string> started;
  for (const Json& event : run.items()) {
    if (json_string(event, "event") == "turn.started")
      started.push_back(json_string(json_at(event, "config"), "agent"));
  }
  EXPECT_THAT(started, ElementsAre("legal", "desk", "billing"));
  const CommandResult shown = praxis({"show", "last"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr(", legal, "), HasSubstr(", desk, "), HasSubstr(", billing, ")));
}

TEST_F(CliTeam, ASupervisor_SelectsTheMember_AlsoInALaterProcess) {
  desk("route = 'supervisor'\nsupervisor = 'judge.toml'");
  file("judge.toml", "model = 'script:judge.jsonl'\n");
  file("judge.jsonl", always(R"({"text": "{\"agent\": \"legal\"}"})"));
  EXPECT_EQ(praxis({"run", "desk.toml", "Hello"}).out, "I am legal\n");
  const CommandResult runs = praxis({"runs", "--json"});
  std::string team;
  for (const Json& run : runs.items()) {
    if (json_string(run, "agent") != "supervisor") team = json_string(run, "id");
  }
  file("judge.jsonl", always(R"({"text": "{\"agent\": \"billing\"}"})"));
  const CommandResult changed = praxis({"resume", team, "And now?"});
  EXPECT_THAT(changed.err, HasSubstr("model:judge.jsonl")) << "the supervisor is part of the agent";
  const CommandResult next = praxis({"resume", team, "And now?", "--accept-agent", digest_in(changed)});
  EXPECT_EQ(next.out, "I am billing\n") << next.err;
}

TEST_F(CliTeam, KilledInTheMiddleOfAChain_IsContinuedByTheMemberThatWorked) {
  desk("route = 'chain'\norder = ['desk', 'billing', 'legal']");
  file("billing.jsonl", always(R"({"text": "too late", "delay_ms": 60000})"));
  {
    Process run(command({"run", "desk.toml", "Go"}), options_);
    ASSERT_TRUE(run.reports("billing answers")) << run.errors;
    run.signal(SIGKILL);
    EXPECT_EQ(run.finish(), 128 + SIGKILL);
  }
  const CommandResult tree = praxis({"tree", "last"});
  EXPECT_THAT(tree.out, HasSubstr("billing")) << "who works is shown";
  file("billing.jsonl", says_always("I am billing"));
  const CommandResult refused = praxis({"resume", "last"});
  EXPECT_NE(refused.status, 0) << "a script of a member is a file of the agent";
  const CommandResult resumed = praxis({"resume", "last", "--accept-agent", digest_in(refused)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "I am legal\n");
  EXPECT_THAT(speakers(), ElementsAre("desk", "billing", "legal"));
}

TEST_F(CliTeam, AMemberWaitsForAnApproval_AndTheOthersAnswerAfterIt) {
  desk("route = 'chain'\norder = ['billing', 'legal']");
  member("billing", "[tools.kv]\n[policy]\nask = ['kv']\n");
  file("billing.jsonl",
       R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "1"}}]})"
       "\n" +
           says_always("I am billing"));
  const CommandResult run = praxis({"run", "desk.toml", "Go"});
  EXPECT_EQ(run.status, 3) << run.err;
  const CommandResult approved = praxis({"approve", "p1", "--allow"});
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(approved.out, "I am legal\n");
}

TEST_F(CliTeam, LimitsOfTheRunHoldForEveryMember_AlsoInALaterProcess) {
  desk("");
  file("legal.jsonl", always(R"({"tool_calls": [{"name": "kv", "arguments": {"op": "list"}}]})"));
  file("legal.toml", "model = 'script:legal.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\n");
  desk("route = 'role'\nroles = { law = 'legal' }");
  EXPECT_EQ(praxis({"run", "desk.toml", "Hello", "--max-steps", "2"}).out, "I am desk\n");
  const CommandResult limited = praxis({"resume", "last", "The law", "--json"});
  EXPECT_EQ(json_string(limited.last_line(), "termination"), "max_steps") << limited.out;
  EXPECT_EQ(json_int(limited.last_line(), "steps"), 2);
}

TEST_F(CliTeam, TheRouteOfTheRunHoldsForEveryMember_AlsoInALaterProcess) {
  desk("route = 'role'\nroles = { law = 'legal' }");
  EXPECT_EQ(praxis({"run", "desk.toml", "Hello", "--route-order", "cost"}).out, "I am desk\n");
  EXPECT_EQ(praxis({"resume", "last", "The law"}).out, "I am legal\n");
  Json member;
  for (const Json& record : praxis({"show", "last", "--records", "--json"}).items()) {
    const Json& agent = json_at(json_at(record, "body"), "agent");
    if (json_string(agent, "id") == "legal") member = agent;
  }
  EXPECT_EQ(json_string(json_at(member, "route"), "order"), "cost") << to_json_text(member);
}

TEST_F(CliTeam, AChangedStrategy_IsTakenUpWhenAllHaveAnswered) {
  desk("route = 'chain'\norder = ['desk', 'billing', 'legal']");
  file("billing.jsonl", always(R"({"text": "too late", "delay_ms": 60000})"));
  {
    Process run(command({"run", "desk.toml", "Go"}), options_);
    ASSERT_TRUE(run.reports("billing answers")) << run.errors;
    run.signal(SIGKILL);
    run.finish();
  }
  file("billing.jsonl", says_always("I am billing"));
  desk("route = 'chain'\norder = ['billing', 'desk']");
  const CommandResult refused = praxis({"resume", "last"});
  const std::string digest = digest_in(refused);
  EXPECT_EQ(praxis({"resume", "last", "--accept-agent", digest}).out, "I am legal\n")
      << "who is still to answer is in the log";
  EXPECT_EQ(praxis({"resume", "last", "Again", "--accept-agent", digest}).out, "I am desk\n");
  EXPECT_THAT(speakers(), ElementsAre("desk", "billing", "legal", "billing", "desk"));
}

TEST_F(CliTeam, WhatNeedsOneAgent_RefusesATeam) {
  desk("");
  EXPECT_EQ(praxis({"run", "desk.toml"}).status, 2);
  file("schema.json", "{}");
  EXPECT_THAT(praxis({"run", "desk.toml", "Hello", "--schema", "schema.json"}).err,
              HasSubstr("a team, which does not support --schema"));
  file("config/praxis/agents/desk.toml", contents("desk.toml"));
  const CommandResult served = praxis({"mcp", "serve", "desk"});
  EXPECT_EQ(served.status, 2);
  EXPECT_THAT(served.err, AllOf(HasSubstr("desk.toml:3:"), HasSubstr("one agent is needed here")));
  praxis({"run", "desk.toml", "Hello"});
  const CommandResult chosen = shell("praxis chat desk.toml --plain --agent nobody < /dev/null");
  EXPECT_EQ(chosen.status, 2);
  EXPECT_THAT(chosen.err, HasSubstr("no agent is called \"nobody\"; known agents: desk, billing, legal"));
  EXPECT_THAT(shell("praxis chat legal.toml --plain --agent desk < /dev/null").err,
              HasSubstr("--agent names a member of a team, and this run has one agent"));
}

TEST_F(CliTeam, AMemberWhoseFileIsGone_IsNamed) {
  desk("");
  EXPECT_EQ(praxis({"run", "desk.toml", "Hello"}).status, 0);
  std::filesystem::remove(folder_ / "legal.toml");
  const CommandResult gone = praxis({"resume", "last", "Hello"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("desk.toml:8:"), HasSubstr("there is no agent file")));
}

TEST_F(CliTeam, AChat_SelectsWhoAnswersFromThenOn) {
  desk("");
  const CommandResult chat =
      shell("printf 'One?\\n/agent billing\\nTwo?\\n/agent\\n' | praxis chat desk.toml --plain");
  EXPECT_EQ(chat.status, 0) << chat.err;
  EXPECT_THAT(chat.out, AllOf(HasSubstr("I am desk"), HasSubstr("billing answers; others: desk, legal"),
                              HasSubstr("I am billing")));
  const CommandResult next = shell("printf 'Three?\\n' | praxis chat --resume last --plain");
  EXPECT_THAT(next.out, HasSubstr("I am billing")) << "the choice is recorded";
  const CommandResult other = shell("printf 'Four?\\n' | praxis chat --resume last --plain --agent legal");
  EXPECT_THAT(other.out, HasSubstr("I am legal")) << other.err;
  EXPECT_THAT(speakers(), ElementsAre("desk", "billing", "billing", "legal"));
}

TEST_F(CliTeam, AChat_LetsAllMembersAnswer_AndThoseAfterAnApproval) {
  desk("route = 'chain'\norder = ['desk', 'billing', 'legal']");
  member("billing", "[tools.kv]\n[policy]\nask = ['kv']\n");
  file("billing.jsonl",
       "{\"text\": \"not used\"}\n"
       R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "1"}}]})"
       "\n" +
           says_always("I am billing"));
  const CommandResult chat = shell("printf 'Go\\ny\\n' | praxis chat desk.toml --plain");
  EXPECT_THAT(chat.out, AllOf(HasSubstr("I am desk"), HasSubstr("I am billing"), HasSubstr("I am legal")));
}

}  // namespace
}  // namespace praxis::testing
