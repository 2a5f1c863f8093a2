// Filters of content, `[[policy.filters]]`: what they stop, ask about and redact in whole runs, and what the
// log says about it.
#include <gmock/gmock.h>

#include "praxis/memory/stores.hpp"
#include "praxis/runtime/memory_tools.hpp"
#include "runtime/testing/filtered.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ContentFilters : public FilteredTest {
 protected:
  /// A tool that counts its calls and returns its argument `text`.
  Tool counted(std::string name = "send") {
    Tool tool = echo_tool(std::move(name));
    tool.handler = [this](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
      ++calls_;
      return says(json_string(arguments, "text"));
    };
    return tool;
  }
  static std::string sending(std::string_view text) {
    return proposing("send", R"({"text": ")" + std::string(text) + "\"}");
  }
  std::atomic<int> calls_ = 0;
};

// ---- tool_input

TEST_F(ContentFilters, ArgumentsThatAFilterDenies_RunNothing) {
  Session session =
      session_of(scripted(sending(kAccount)).use(counted()).policy(accounts("tool_input", "deny")));
  checked(session.ask("go"));
  EXPECT_EQ(calls_, 0);
  EXPECT_THAT(
      result_for(session.history(), "c").text,
      HasSubstr("Not allowed by filter accounts. The filter \"accounts\" denies the arguments of \"send\": "
                "Accounts stay here."));
  EXPECT_THAT(deciders(session), ElementsAre("filter accounts"));
  Session other =
      session_of(scripted(sending("hello")).use(counted()).policy(accounts("tool_input", "deny")));
  checked(other.ask("go"));
  EXPECT_EQ(calls_, 1);
}

TEST_F(ContentFilters, EscapesAndNumbersHideNothing) {
  const PolicyRules rules =
      filtering(R"([{"id": "digits", "at": "tool_input", "matches": "4111111111111111", "action": "deny"},
                    {"id": "words", "at": "tool_input", "matches": "(?i)secret", "action": "deny"}])");
  for (const std::string arguments :
       {R"({"text": "se\u0063ret"})", R"({"text": "x", "n": 4111111111111111})",
        R"({"text": "x", "Secret": 1})", R"({"text": "x", "deep": [{"a": ["SECRET"]}]})"}) {
    const auto model = stub_model([&](const ModelRequest& request) {
      if (request.history.messages().size() > 1) return stub_text("done");
      ModelResponse response = stub_call("c", "send", JsonObject{});
      std::get<ToolCallPart>(response.parts.back()).arguments = arguments;  // as the vendor sent them
      return response;
    });
    checked(Agent().runtime(runtime_).model(model).use(counted()).policy(rules).run("go"));
    EXPECT_EQ(calls_, 0) << arguments;
  }
}

TEST_F(ContentFilters, ArgumentsThatAFilterAsksAbout_WaitAlsoInAnotherProcess) {
  const Agent agent = scripted(sending(kAccount)).use(counted()).policy(accounts("tool_input", "ask"));
  Session session = session_of(agent);
  const AgentResult waits = checked(session.ask("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_THAT(waits.pending[0].prompt, HasSubstr("The filter \"accounts\" requires an approval"));
  EXPECT_EQ(calls_, 0);
  const AgentResult done = checked(session.resume({{waits.pending[0].id, approve()}}).report());
  EXPECT_EQ(done.text, "done");
  EXPECT_EQ(calls_, 1) << "a person's approval is enough";
}

TEST_F(ContentFilters, CallThatAListAllowed_IsStillFiltered) {
  PolicyRules rules = accounts("tool_input", "deny");
  rules.calls = {{"send", JsonObject{{"text", kAccount}}}};
  Session session = session_of(scripted(sending(kAccount)).use(counted()).policy(rules));
  checked(session.ask("go"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(ContentFilters, AllowedTexts_AreExemptFromLaterFiltersOfTheSameFileOnly) {
  const std::string exempt =
      R"({"id": "ours", "at": "tool_input", "matches": "DE89370400440532013000", "action": "allow"})";
  const std::string denied =
      R"({"id": "all", "at": "tool_input", "matches": "DE[0-9]{20}", "action": "deny"})";
  const auto run = [&](const PolicyRules& rules) {
    const Agent agent = scripted(sending(kAccount)).use(counted()).policy(rules);
    checked(agent.run("go"));
    return calls_.exchange(0);
  };
  EXPECT_EQ(run(filtering("[" + exempt + "," + denied + "]")), 1);
  EXPECT_EQ(run(filtering("[" + denied + "," + exempt + "]")), 0);
}

TEST_F(ContentFilters, OfTheAgentAbove_HoldBelowWithTheSubAgentsOwn) {
  const auto tree = [&](const PolicyRules& above, const PolicyRules& below) {
    const Agent leaf = scripted(sending(kAccount)).id("leaf").use(counted()).policy(below);
    checked(this->above(leaf, "root").policy(above).run("go"));
    return calls_.exchange(0);
  };
  EXPECT_EQ(tree({}, {}), 1);
  EXPECT_EQ(tree(accounts("tool_input", "deny"), {}), 0);
  EXPECT_EQ(tree({}, accounts("tool_input", "deny")), 0);
  EXPECT_EQ(tree(accounts("tool_input", "deny"),
                 filtering(R"([{"id": "x", "at": "tool_input", "matches": "DE", "action": "allow"}])")),
            0)
      << "a sub-agent exempts nothing from the filters above";
}

TEST_F(ContentFilters, CallsOfHandlersAndPlans_AreFiltered) {
  const PolicyRules rules = accounts("tool_input", "deny");
  Agent outer = scripted(proposing("outer", "{}")).use(counted()).policy(rules);
  std::string seen;
  outer.use(host_tool("outer", [&](ToolContext& context, const Json&) -> Result<ToolOutput> {
    const auto inner = context.call_tool("send", JsonObject{{"text", kAccount}});
    seen = inner ? inner->text : inner.error().message;
    return says("ok");
  }));
  checked(outer.run("go"));
  EXPECT_EQ(calls_, 0);
  EXPECT_THAT(seen, HasSubstr("The filter \"accounts\" denies"));
  Agent planned = Agent().runtime(runtime_).use(counted()).policy(rules);
  planned.plan(JsonArray{JsonObject{{"tool", "send"}, {"arguments", JsonObject{{"text", kAccount}}}}});
  const auto result = planned.run("go");
  EXPECT_TRUE(result || !result.error().message.empty());
  EXPECT_EQ(calls_, 0);
}

TEST_F(ContentFilters, HookCanAddAFilterButRemoveNone) {
  Agent agent = scripted(sending(kAccount)).use(counted()).policy(accounts("tool_input", "deny"));
  agent.on_before_turn([](const HookContext&, AgentSpec& spec) { spec.policy = nullptr; });
  checked(agent.run("go"));
  EXPECT_EQ(calls_, 0);
  Agent open = scripted(sending(kAccount)).use(counted());
  open.on_before_turn(
      [](const HookContext&, AgentSpec& spec) { spec.policy = to_json(accounts("tool_input", "deny")); });
  checked(open.run("go"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(ContentFilters, FilterThatCannotBeRead_DeniesEverything) {
  const auto result =
      scripted(sending("hello")).use(counted()).policy(filtering(R"([{"id": "x"}])")).run("go");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("needs a text or a list of texts in \"at\""));
  EXPECT_EQ(calls_, 0);
}

// ---- tool_output

TEST_F(ContentFilters, RedactedResults_ReachNeitherModelNorJournal) {
  ToolOutput value = says("see the value");
  value.value = JsonObject{{"account", kAccount}, {"list", JsonArray{kAccount}}};
  const std::vector<Result<ToolOutput>> outputs{says("is " + std::string(kAccount) + "."), value,
                                                fail(ErrorCode::kTool, "no " + std::string(kAccount))};
  for (const auto& output : outputs) {
    Agent agent = scripted(proposing("bank", "{}")).policy(accounts("tool_output", "redact"));
    Session session =
        session_of(agent.use(host_tool("bank", [&](ToolContext&, const Json&) { return output; })));
    checked(session.ask("go"));
    EXPECT_THAT(journal_bytes(), AllOf(Not(HasSubstr(kAccount)), HasSubstr("[REDACTED:accounts]")));
    EXPECT_THAT(changes(session), ElementsAre("redact accounts"));
  }
}

TEST_F(ContentFilters, DeniedResult_IsReplacedByATextThatNamesTheFilter) {
  Agent agent = scripted(proposing("bank", "{}")).policy(accounts("tool_output", "deny"));
  agent.use(host_tool("bank", [](ToolContext&, const Json&) { return says(std::string(kAccount)); }));
  Session session = session_of(agent);
  checked(session.ask("go"));
  EXPECT_EQ(
      result_for(session.history(), "c").text,
      "The filter \"accounts\" withholds the result of \"bank\": Accounts stay here. The call has run.");
  EXPECT_THAT(journal_bytes(), Not(HasSubstr(kAccount)));
  EXPECT_THAT(changes(session), ElementsAre("deny accounts"));
}

TEST_F(ContentFilters, ResultThatAClientGives_IsFilteredToo) {
  Tool tool = host_tool("bank", [](ToolContext&, const Json&) { return says("not run here"); });
  tool.result_from = ResultFrom::kClient;
  Session session =
      session_of(scripted(proposing("bank", "{}")).use(tool).policy(accounts("tool_output", "redact")));
  const AgentResult waits = checked(session.ask("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  checked(session.resume({{waits.pending[0].id, answer("is " + std::string(kAccount))}}).report());
  EXPECT_EQ(result_for(session.history(), "c").text, "is [REDACTED:accounts]");
  EXPECT_THAT(journal_bytes(), Not(HasSubstr(kAccount)));
}

TEST_F(ContentFilters, ImagesScriptsAndLength_AreTested) {
  ToolOutput output = says("Это письмо is long enough");
  output.images = {{{"image/PNG", "bytes", ""}, nullptr}};
  const auto run = [&](std::string_view filter) {
    Agent agent = scripted(proposing("mail", "{}"));
    agent.policy(filtering("[" + std::string(filter) + "]"));
    agent.use(host_tool("mail", [&](ToolContext&, const Json&) { return output; }));
    Session session = session_of(agent);
    checked(session.ask("go"));
    return result_for(session.history(), "c");
  };
  const auto picture =
      run(R"({"id": "p", "at": "tool_output", "media_type": "image/*", "action": "redact"})");
  EXPECT_THAT(picture.images, IsEmpty());
  EXPECT_THAT(picture.text, HasSubstr("1 of the images or files were removed"));
  EXPECT_EQ(run(R"({"id": "s", "at": "tool_output", "script": "Cyrillic", "action": "redact"})").text,
            "[REDACTED:s] is long enough");
  EXPECT_EQ(run(R"({"id": "l", "at": "tool_output", "longer_than": 6, "action": "redact"})").text,
            "Это[REDACTED:l]");
  const auto kept =
      run(R"({"id": "t", "at": "tool_output", "tools": ["web_*"], "longer_than": 1, "action": "deny"})");
  EXPECT_EQ(kept.images.size(), 1U) << "the filter is about other tools";
}

// ---- memory

class MemoryFilters : public ContentFilters {
 protected:
  Agent remembering(PolicyRules rules, const std::string& text = "It is " + std::string(kAccount)) {
    rules.allow = {"remember"};
    Agent agent = scripted(proposing("remember", R"({"key": "k", "text": ")" + text + "\"}"));
    for (Tool& tool : memory_tools(database_, {})) agent.use(std::move(tool));
    return agent.policy(rules);
  }
  std::string note() {
    const auto note = database_->read("notes", "k").value();
    return note ? json_string(note->value, "text") : "";
  }
  const std::shared_ptr<DatabaseClient> database_ =
      memory_in_process({fixed_environment(1), MemoryLimits{}}).database;
};

TEST_F(MemoryFilters, RedactedNote_IsWrittenAndTheEditIsInTheLog) {
  Session session = session_of(remembering(accounts("memory", "redact")));
  checked(session.ask("go"));
  EXPECT_EQ(note(), "It is [REDACTED:accounts]");
  const auto decided = recorded<records::Decided>(session);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(decided[0].verb, ApprovalVerb::kEdit);
  EXPECT_EQ(decided[0].author.principal, "filter accounts");
}

TEST_F(MemoryFilters, DeniedNote_IsNotWritten) {
  Session session = session_of(remembering(accounts("memory", "deny")));
  checked(session.ask("go"));
  EXPECT_EQ(note(), "");
  EXPECT_THAT(deciders(session), ElementsAre("filter accounts"));
}

TEST_F(MemoryFilters, RedactedNoteThatIsAskedAbout_IsShownAndWrittenRedacted) {
  PolicyRules rules = accounts("memory", "redact");
  Agent agent = remembering(rules);
  rules.ask = {"remember"};
  Session session = session_of(agent.policy(rules));
  const AgentResult waits = checked(session.ask("go"));
  ASSERT_EQ(waits.pending.size(), 1U);
  EXPECT_THAT(waits.pending[0].arguments, Not(HasSubstr(kAccount)));
  checked(session.resume({{waits.pending[0].id, approve()}}).report());
  EXPECT_EQ(note(), "It is [REDACTED:accounts]");
}

TEST_F(MemoryFilters, SecretInANote_IsFoundByTheRulesForSecrets) {
  constexpr std::string_view kKey = "AKIAZ7VRSQ5TJN2XMPLB";
  PolicyRules rules = filtering(R"([{"id": "s", "at": "memory", "finds": "secrets", "action": "redact"}])");
  checked(remembering(rules, "aws_access_key_id = " + std::string(kKey)).run("go"));
  EXPECT_THAT(note(), AllOf(Not(HasSubstr(kKey)), HasSubstr("[REDACTED:aws")));
}

TEST_F(MemoryFilters, OtherTools_AreNotMemory) {
  checked(scripted(sending(kAccount)).use(counted()).policy(accounts("memory", "deny")).run("go"));
  EXPECT_EQ(calls_, 1);
  PolicyRules named =
      filtering(R"([{"id": "a", "at": "memory", "tools": "se*", "matches": "DE", "action": "deny"}])");
  checked(scripted(sending(kAccount)).use(counted()).policy(named).run("go"));
  EXPECT_EQ(calls_, 1) << "a memory of the host, which the filter names";
}

// ---- model

TEST_F(ContentFilters, RedactedRequest_LeavesTheLogWhole) {
  Sent sent;
  Agent agent("", "Pay from " + std::string(kAccount) + ".");
  agent.runtime(runtime_).model(sent.model()).policy(accounts("model", "redact"));
  Tool tool = counted();
  tool.definition.description = "Not " + std::string(kAccount);
  Session session = session_of(agent.use(std::move(tool)));
  checked(session.ask("to " + std::string(kAccount)));
  checked(session.ask("again"));
  ASSERT_EQ(sent.requests.size(), 2U);
  EXPECT_EQ(sent.requests[0].instructions, "Pay from [REDACTED:accounts].");
  EXPECT_EQ(sent.requests[0].history.messages().back()->text(), "to [REDACTED:accounts]");
  EXPECT_EQ(sent.requests[1].history.messages().front()->text(), "to [REDACTED:accounts]");
  EXPECT_EQ(sent.requests[0].tools->front().description, "Not [REDACTED:accounts]");
  EXPECT_EQ(session.history().messages().front()->text(), "to " + std::string(kAccount));
  EXPECT_THAT(changes(session), ElementsAre("redact accounts", "redact accounts"));
  expect_replays(session);
}

TEST_F(ContentFilters, DeniedRequest_IsNotSentAndEndsTheTurn) {
  Sent sent;
  Session session =
      session_of(Agent().runtime(runtime_).model(sent.model()).policy(accounts("model", "deny")));
  const auto result = session.ask("to " + std::string(kAccount));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kPolicy);
  EXPECT_THAT(result.error().message,
              HasSubstr("The filter \"accounts\" denies the request to the model: Accounts stay here."));
  EXPECT_THAT(sent.requests, IsEmpty());
  EXPECT_THAT(changes(session), Each("deny accounts"));
}

}  // namespace
}  // namespace praxis::testing
