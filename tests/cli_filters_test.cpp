// Filters of content in agent files and in the configuration: what is refused, what a run does, and what the
// commands say about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string filtered_put(const std::string& value) {
  return R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": ")" + value +
         R"("}}]})" + "\n" + R"({"tool_calls": [{"name": "kv", "arguments": {"op": "get", "key": "k"}}]})" +
         "\n{\"text\": \"DONE\"}\n";
}

constexpr const char* kFilters = R"(
[tools.kv]
[[policy.filters]]
id = "accounts"
at = ["memory", "tool_output"]
matches = "DE[0-9]{20}"
action = "redact"
[[policy.filters]]
id = "heron"
at = "tool_input"
tools = "kv"
matches = "(?i)heron"
action = "deny"
reason = "Not announced yet."
)";

class CliFilters : public CommandLine {
 protected:
  CliFilters() { agent("agent", filtered_put("DE89370400440532013000"), kFilters); }

  void agent(const std::string& name, const std::string& script, const std::string& more) const {
    file(name + ".jsonl", script);
    file(name + ".toml", "model = \"script:" + name + ".jsonl\"\n" + more);
  }
};

TEST_F(CliFilters, Run_IsFilteredAndTheAuditNamesEachFilter) {
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).out, "DONE\n");
  const CommandResult shown = praxis({"show", "last"});
  EXPECT_THAT(shown.out, HasSubstr("[REDACTED:accounts]"));
  EXPECT_THAT(praxis({"audit"}).out, HasSubstr("edited    kv by filter accounts"));
  agent("denied", filtered_put("Project Heron"), kFilters);
  const CommandResult denied = praxis({"run", "denied.toml", "go"});
  EXPECT_EQ(denied.status, 4) << denied.err;
  EXPECT_THAT(denied.err,
              HasSubstr("The filter \"heron\" denies the arguments of \"kv\": Not announced yet."));
  EXPECT_THAT(praxis({"audit"}).out, HasSubstr("blocked   kv by filter heron"));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliFilters, CheckTestAndShow_NameFilters) {
  const auto check = [&](const std::string& value) {
    return praxis(
        {"policy", "check", "agent.toml", "kv", R"({"op": "put", "key": "k", "value": ")" + value + "\"}"});
  };
  const CommandResult denied = check("heron");
  EXPECT_EQ(denied.status, 4);
  EXPECT_EQ(denied.out,
            "deny: The filter \"heron\" denies the arguments of \"kv\": Not announced yet.\n"
            "  deny  the agent, by filter heron\n");
  EXPECT_EQ(check("DE89370400440532013000").out,
            "allow\n  allow the agent, by the tool\n  filter accounts redacts the arguments\n");
  EXPECT_THAT(praxis({"policy", "show", "agent.toml"}).out,
              AllOf(HasSubstr("filter {\"id\":\"accounts\""), HasSubstr("filter {\"id\":\"heron\"")));
  file("cases.toml",
       "agent = 'agent.toml'\n[[cases]]\ntool = 'kv'\narguments = { op = 'get', key = 'Heron' }\n"
       "expect = 'deny'\nby = 'heron'\n");
  EXPECT_EQ(praxis({"policy", "test", "cases.toml"}).status, 0);
}

TEST_F(CliFilters, WrongFilters_AreNamedWithTheirPlaceAndWhatToDo) {
  const std::string good = "id = 'a'\nat = 'model'\nmatches = 'x'\naction = 'redact'\n";
  const std::string start = "[[policy.filters]]\n";
  for (const auto& [filters, message] : std::vector<std::pair<std::string, std::string>>{
           {start + good + start + good, "wrong.toml:8:1: a filter with the id \"a\" is there already"},
           {start + "id = 'a b'\nat = 'model'\nmatches = 'x'\naction = 'deny'\n",
            "needs an \"id\" of at most 64"},
           {start + "id = 'a'\nat = 'planner'\nmatches = 'x'\naction = 'deny'\n", "not at \"planner\""},
           {start + "id = 'a'\nat = 'prompt'\nmatches = 'x'\naction = 'ask'\n", "choose redact or deny"},
           {start + "id = 'a'\nat = 'shown'\nmedia_type = 'image/*'\naction = 'deny'\n",
            "texts are filtered"},
           {start + "id = 'a'\nat = 'model'\nasks = 'x'\naction = 'deny'\n", "only at tool_input"},
           {start + "id = 'a'\nat = 'tool_input'\nasks = 'x'\naction = 'allow'\n",
            "choose deny, ask or redact"},
           {start + "id = 'a'\nat = 'tool_output'\nasks = 'x'\naction = 'ask'\n", "choose redact or deny"},
           {start + good + "model = 'x'\n", "only together with \"asks\""},
           {start + "id = 'a'\nat = 'model'\nmatches = 'x'\naction = 'ask'\n", "choose redact or deny"},
           {start + "id = 'a'\nat = 'tool_input'\nmatches = 'x'\naction = 'redact'\n", "choose ask or deny"},
           {start + "id = 'a'\nat = 'memory'\nmedia_type = 'image/*'\naction = 'deny'\n", "hold no images"},
           {start + "id = 'a'\nat = 'model'\ntools = 'kv'\nmatches = 'x'\naction = 'deny'\n",
            "cannot have \"tools\""},
           {start + "id = 'a'\nat = 'model'\naction = 'deny'\n", "needs one of \"matches\""},
           {start + good + "script = 'Han'\n", "needs one of \"matches\""},
           {start + "id = 'a'\nat = 'model'\nmatches = '(?=x)'\naction = 'deny'\n", "no look-around"},
           {start + "id = 'a'\nat = 'model'\nmatches = 'x*'\naction = 'deny'\n", "matches every text"},
           {start + "id = 'a'\nat = 'model'\nscript = 'Klingon'\naction = 'deny'\n", "no script \"Klingon\""},
           {start + "id = 'a'\nat = 'model'\nscript = 'Lu'\naction = 'deny'\n", "no script \"Lu\""},
           {start + "id = 'a'\nat = 'model'\nlonger_than = 0\naction = 'deny'\n", "needs a number of bytes"},
           {start + good + "when = 1\n", "not \"when\""},
       }) {
    agent("wrong", "", "[tools.kv]\n" + filters);
    const CommandResult result = praxis({"policy", "show", "wrong.toml"});
    EXPECT_EQ(result.status, 2) << filters;
    EXPECT_THAT(result.err, AllOf(HasSubstr("wrong.toml:"), HasSubstr(message))) << filters;
  }
  std::string many;
  for (int i = 0; i <= 100; ++i)
    many += start + "id = 'f" + std::to_string(i) + "'\nat = 'model'\nmatches = 'x'\naction = 'redact'\n";
  agent("wrong", "", many);
  EXPECT_THAT(praxis({"policy", "show", "wrong.toml"}).err, HasSubstr("a file can have 100"));
}

TEST_F(CliFilters, OfTheConfiguration_HoldForEveryAgent) {
  agent("plain", filtered_put("project heron"), "[tools.kv]\n");
  EXPECT_EQ(praxis({"run", "plain.toml", "go"}).status, 0);
  file("config/praxis/config.toml",
       "[[policy.filters]]\nid = 'heron'\nat = 'tool_input'\nmatches = 'heron'\naction = 'deny'\n");
  EXPECT_EQ(praxis({"run", "plain.toml", "go"}).status, 4);
  EXPECT_THAT(praxis({"policy", "show", "plain.toml"}).out, HasSubstr("filter {\"id\":\"heron\""));
}

TEST_F(CliFilters, DeniedRequest_EndsTheRunWithTheReason) {
  agent("private", "{\"text\": \"DONE\"}\n",
        "[[policy.filters]]\nid = 'names'\nat = 'model'\nmatches = 'Anna'\naction = 'deny'\nreason = 'No "
        "names.'\n");
  const CommandResult denied = praxis({"run", "private.toml", "Ask Anna"});
  EXPECT_EQ(denied.status, 4) << denied.err;
  EXPECT_THAT(denied.err, HasSubstr("The filter \"names\" denies the request to the model: No names."));
  EXPECT_THAT(denied.out, Not(HasSubstr("DONE")));
  EXPECT_THAT(praxis({"audit"}).out, HasSubstr("blocked   request to the model by filter names"));
}

TEST_F(CliFilters, DeniedPrompt_IsInTheAuditButNowhereElse) {
  agent("private", "{\"text\": \"DONE\"}\n",
        "[[policy.filters]]\nid = 'names'\nat = 'prompt'\nmatches = 'Anna'\naction = 'deny'\n");
  const CommandResult denied = praxis({"run", "private.toml", "Ask Anna"});
  EXPECT_EQ(denied.status, 4) << denied.err;
  EXPECT_THAT(denied.err, HasSubstr("The filter \"names\" denies the message."));
  EXPECT_THAT(praxis({"audit"}).out, HasSubstr("blocked   message by filter names"));
}

TEST_F(CliFilters, ShownAnswersAndExports_AreFilteredAndExactExportsRefused) {
  const std::string script = "{\"text\": \"It is DE89370400440532013000.\"}\n";
  agent("shown", script,
        "[[policy.filters]]\nid = 'iban'\nat = ['shown', 'export']\nmatches = 'DE[0-9]{20}'\naction = "
        "'redact'\n");
  EXPECT_EQ(praxis({"run", "shown.toml", "go"}).out, "It is [REDACTED:iban].\n");
  for (const char* format : {"json", "markdown", "html"}) {
    const CommandResult exported = praxis({"export", "last", "--format", format});
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_THAT(exported.out, AllOf(Not(HasSubstr("DE8937")), HasSubstr("[REDACTED:iban]"))) << format;
  }
  const CommandResult exact = praxis({"export", "last", "--format", "records"});
  EXPECT_EQ(exact.status, 4) << exact.out;
  EXPECT_THAT(exact.err, HasSubstr("a filter at \"export\" would change them"));
  agent("open", script, "");
  EXPECT_EQ(praxis({"run", "open.toml", "go"}).out, "It is DE89370400440532013000.\n");
  EXPECT_EQ(praxis({"export", "last", "--format", "records"}).status, 0);
  file("config/praxis/config.toml",
       "[[policy.filters]]\nid = 'later'\nat = 'export'\nmatches = 'DE[0-9]{20}'\naction = 'deny'\n");
  EXPECT_THAT(praxis({"export", "last", "--format", "markdown"}).out, HasSubstr("[WITHHELD:later]"));
}

TEST_F(CliFilters, ViewsOfARun_PassTheFiltersAtShown_AndItsLogStaysWhole) {
  agent("shown", filtered_put("DE89370400440532013000"),
        "[tools.kv]\n[[policy.filters]]\nid = 'iban'\nat = 'shown'\nmatches = 'DE[0-9]{20}'\naction = "
        "'redact'\n");
  EXPECT_EQ(praxis({"run", "shown.toml", "Pay DE89370400440532013000"}).status, 0);
  for (const std::vector<std::string>& view :
       std::vector<std::vector<std::string>>{{"show", "last"},
                                             {"show", "last", "--records"},
                                             {"show", "last", "--json"},
                                             {"logs", "last"},
                                             {"logs", "last", "--json"},
                                             {"replay", "last", "--to", "5"},
                                             {"runs"},
                                             {"tree", "last"},
                                             {"audit"}}) {
    const CommandResult seen = praxis(view);
    EXPECT_EQ(seen.status, 0) << seen.err;
    EXPECT_THAT(seen.out, Not(HasSubstr("DE8937"))) << view.front() << ' ' << view.back();
    if (view.front() == "audit") continue;
    EXPECT_THAT(seen.out, HasSubstr("[REDACTED:iban]")) << view.front();
  }
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
  EXPECT_THAT(praxis({"export", "last", "--format", "records"}).out, HasSubstr("DE8937"));
}

TEST_F(CliFilters, WhatIsShownAndExportedOfARecord_IsInTheAuditOnceForEachFilterAndPoint) {
  agent("shown", "{\"text\": \"From DE89370400440532013000 to DE02120300000000202051.\"}\n",
        "[[policy.filters]]\nid = 'all'\nat = 'export'\nmatches = 'From D[E]8937'\naction = 'deny'\n"
        "[[policy.filters]]\nid = 'iban'\nat = ['shown', 'export']\nmatches = 'DE[0-9]{20}'\naction = "
        "'redact'\n");
  EXPECT_EQ(praxis({"run", "shown.toml", "go"}).status, 0);
  const auto decisions = [&] {
    std::vector<std::string> found;
    for (const Json& line : praxis({"audit", "--json"}).lines()) {
      if (json_string(line, "surface") != "policy") continue;
      EXPECT_THAT(to_json_text(line), Not(HasSubstr("DE8937")));
      EXPECT_FALSE(json_string(line, "session").empty());
      EXPECT_GT(json_int(line, "seq"), 0);
      found.push_back(json_string(line, "action") + ' ' + json_string(line, "what") + " by " +
                      json_string(line, "by"));
    }
    return found;
  };
  const std::vector<std::string> once = decisions();
  EXPECT_THAT(once, UnorderedElementsAre("edited shown by filter iban", "blocked export by filter all"));
  EXPECT_EQ(praxis({"show", "last"}).status, 0);
  EXPECT_EQ(praxis({"export", "last", "--format", "json"}).status, 0);
  EXPECT_EQ(decisions(), once) << "a view adds nothing";
}

TEST_F(CliFilters, NewPrompts_AreFilteredByTheConfiguration) {
  file("config/praxis/config.toml",
       "[[policy.filters]]\nid = 'iban'\nat = 'prompt'\nmatches = 'DE[0-9]{20}'\naction = 'redact'\n"
       "[[policy.filters]]\nid = 'heron'\nat = 'prompt'\nmatches = '(?i)heron'\naction = 'deny'\n");
  file("prompt.txt", "Pay from DE89370400440532013000.");
  const CommandResult put = praxis({"prompts", "put", "pay", "prompt.txt"});
  EXPECT_EQ(put.status, 0) << put.err;
  EXPECT_THAT(praxis({"prompts", "show", "pay"}).out, HasSubstr("Pay from [REDACTED:iban]."));
  EXPECT_THAT(praxis({"prompts", "show", "pay", "--json"}).out, HasSubstr("redacted_by"));
  file("prompt.txt", "Announce Heron.");
  const CommandResult denied = praxis({"prompts", "put", "news", "prompt.txt"});
  EXPECT_EQ(denied.status, 4) << denied.err;
  EXPECT_THAT(denied.err, HasSubstr("The filter \"heron\" denies the prompt \"news\"."));
  EXPECT_NE(praxis({"prompts", "show", "news"}).status, 0);
}

}  // namespace
}  // namespace praxis::testing
