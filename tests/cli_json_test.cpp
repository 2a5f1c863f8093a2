// What `--json` writes, checked line by line against the published schema (docs/json.md): every command that
// has the option, in its good and its bad cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "command_line.hpp"
#include "praxis/process/sandbox.hpp"
#include "published_schema.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

class CliJson : public CommandLine {
 protected:
  CliJson() {
    file("hello.jsonl", R"({"text": "Hello there."})");
    file("later.jsonl", "{\"text\": \"1\"}\n{\"text\": \"2\"}\n{\"text\": \"Hello there.\"}\n");
    file(
        "ask.jsonl",
        R"({"text": "Noting.", "tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}]})"
        "\n"
        R"({"text": "Noted."})");
    file("ask.toml", "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
    file("lead.jsonl", R"({"tool_calls": [{"name": "below", "arguments": {"prompt": "Go"}}]})"
                       "\n"
                       R"({"text": "Done."})");
    file("lead.toml",
         "model = \"script:lead.jsonl\"\n[agents.below]\ndescription = \"Does it\"\nfile = \"ask.toml\"\n");
    file("plan.toml", "[[plan]]\nfinish = \"By the plan.\"\n");
    file("city.json",
         R"({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})");
    file("city.jsonl", R"({"text": "{\"city\": \"Oslo\"}"})");
    file("failed.jsonl", R"({"error": {"status": 401, "message": "the key was refused"}})");
  }

  /// Runs the command; checks its status and all of its lines. Returns the envelope.
  Json check(Words words, int status) {
    words.emplace_back("--json");
    const CommandResult result = praxis(words);
    std::string where = "praxis";
    for (const std::string& word : words) where += ' ' + word;
    EXPECT_EQ(result.status, status) << where << '\n' << result.err;
    const auto lines = result.lines();
    for (const Json& line : lines) schema_.check(line, where);
    items_ = result.items();
    const Json last = result.last_line();
    EXPECT_EQ(json_string(last, "event"), "result") << where << '\n' << result.out;
    EXPECT_EQ(json_string(last, "command"), words[0]) << where;
    EXPECT_EQ(json_int(last, "exit_status", -1), status) << where;
    EXPECT_EQ(json_bool(last, "success"), status == 0) << where;
    for (const Json& item : items_)
      EXPECT_NE(json_string(item, "event"), "result") << where << ": two envelopes";
    return last;
  }

  /// As `check`, for a command that fails with an error.
  void check_failure(const Words& words, int status, const std::string& message) {
    const Json last = check(words, status);
    ASSERT_TRUE(json_at(last, "errors").is_array() && !last.at("errors").get_array().empty()) << words[0];
    EXPECT_THAT(json_string(last.at("errors").get_array().front(), "message"), HasSubstr(message));
  }

  const PublishedSchema schema_;
  std::vector<Json> items_;
};

TEST_F(CliJson, RunsFollowTheSchema) {
  EXPECT_EQ(json_string(check({"run", "--model", "script:hello.jsonl", "Hi"}, 0), "result"), "Hello there.");
  EXPECT_EQ(json_string(check({"run", "plan.toml", "Hi"}, 0), "result"), "By the plan.");
  EXPECT_EQ(
      json_at(check({"run", "--model", "script:city.jsonl", "--schema", "city.json", "Hi"}, 0), "structured"),
      Json({{"city", "Oslo"}}));
  check({"run", "--model", "script:failed.jsonl", "Hi"}, 6);
  check({"run", "lead.toml", "Hi", "--max-steps", "1"}, 3);
  check({"run", "ask.toml", "Hi"}, 3);
  check({"resume", "last"}, 3);
  check({"resume", "last", "--allow", "p1"}, 0);
  check({"run", "--no-stream", "--model", "script:hello.jsonl", "Hi", "-o", "folder/missing"}, 2);
}

TEST_F(CliJson, RemovalsFollowTheSchema) {
  for (int i = 0; i < 3; ++i) check({"run", "plan.toml", "Hi"}, 0);
  check({"runs", "rm", "last", "--dry-run"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"runs", "rm", "last", "--yes"}, 0);
  check_failure({"runs", "rm", "nosuch", "--yes"}, 2, "nosuch");
  check_failure({"runs", "prune"}, 2, "needs a filter");
  check({"runs", "prune", "--since", "1h", "--yes"}, 0);
  EXPECT_EQ(items_.size(), 2U);
  check({"runs", "prune", "--since", "1h", "--yes"}, 0);
}

TEST_F(CliJson, ListsAndReportsFollowTheSchema) {
  check({"runs"}, 0);
  check({"tree"}, 0);
  check({"approve"}, 0);
  check({"doctor"}, 0);
  check({"run", "lead.toml", "Hi"}, 3);
  for (const char* command : {"runs", "tree", "approve", "doctor"}) check({command}, 0);
  check({"runs", "--all"}, 0);
  EXPECT_EQ(items_.size(), 2U);
  check({"runs", "name", "last", "lead"}, 0);
  check({"runs", "tag", "lead", "good"}, 0);
  check({"runs", "--tag", "good"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"approve"}, 0);
  ASSERT_EQ(items_.size(), 1U);
  const std::string step = json_string(items_[0], "id");
  check({"approve", step}, 0);
  check({"approve", step, "--deny", "-m", "no"}, 0);
  check({"tree", "annotate", last_run(), "careful"}, 0);
  check({"show", "last"}, 0);
  check({"logs", "last"}, 0);
  EXPECT_TRUE(json_bool(check({"replay", "last"}, 0), "identical"));
  EXPECT_TRUE(json_at(check({"replay", "last", "--to", "2"}, 0), "conversation").is_object());
  check({"models", "openai"}, 0);
  check({"models", "--all"}, 0);
  check({"models", "openai:gpt-5-mini"}, 0);
  check({"trust", "list"}, 0);
  check({"config"}, 0);
  check({"config", "set", "limits.max_usd", "0.5"}, 0);
  check({"config", "show"}, 0);
  check({"config", "explain", "limits.max_usd"}, 0);
  check({"memory", "list"}, 0);
  check({"memory", "add", "Tea is green.", "--key", "k", "--tag", "drinks"}, 0);
  check({"memory", "list"}, 0);
  check({"memory", "list", "-c", "notes"}, 0);
  check({"memory", "search", "tea"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"memory", "show", "k"}, 0);
  check({"memory", "export", "-o", "m.jsonl"}, 0);
  check({"memory", "import", "m.jsonl"}, 0);
  check({"memory", "add", "--files", "m.jsonl", "/bin/true"}, 0);
  check({"memory", "sweep", "--max-notes", "5"}, 0);
  check({"memory", "forget", "k"}, 0);
  check({"memory", "forget", "k"}, 2);
  file("prompt.txt", "Hello {name}");
  check({"prompts", "check", "prompt.txt"}, 0);
  check({"prompts", "put", "hello", "prompt.txt"}, 0);
  check({"prompts", "label", "hello", "production", "1"}, 0);
  check({"prompts", "list"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"prompts", "show", "hello@production"}, 0);
  check({"prompts", "diff", "hello", "1", "production"}, 0);
  check({"prompts", "render", "hello", "--var", "name=Ann"}, 0);
  check({"prompts", "render", "hello"}, 2);
}

TEST_F(CliJson, CommandsThatChangeThingsFollowTheSchema) {
  check({"run", "ask.toml", "Hi"}, 3);
  const std::string branch = json_string(check({"fork", "last"}, 0), "run_id");
  EXPECT_EQ(branch, last_run());
  check({"resume", branch, "--allow", "p1"}, 0);
  EXPECT_EQ(
      json_string(check({"fork", branch, "--model", "script:later.jsonl", "--prompt", "More"}, 0), "result"),
      "Hello there.");
  check({"rewind", branch, "--to", "t1"}, 0);
  ASSERT_EQ(praxis({"export", branch, "-o", "run.jsonl"}).status, 0);
  EXPECT_EQ(json_string(check({"import", "run.jsonl", "--journal", "other.db"}, 0), "run_id"), branch);
  EXPECT_THAT(json_string(check({"doctor", "--head"}, 0), "head"), HasSubstr("praxis-head"));
  check({"doctor", "--accept-loss"}, 0);

  options_.env["HOME"] = folder_.string();
  file(".praxis/config.toml", "[limits]\nmax_steps = 3\n");
  EXPECT_THAT(json_string(check({"trust", "show"}, 2), "digest"), IsEmpty())
      << "the home folder is no project";
  std::filesystem::create_directories(folder_ / "work/.git");
  file("work/.praxis/config.toml", "[limits]\nmax_steps = 3\n");
  const std::string shown = json_string(check({"trust", "show", "-C", "work"}, 0), "digest");
  check({"trust", "accept", "-C", "work", "--digest", shown}, 0);
  check({"trust", "list"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"trust", "revoke", "-C", "work"}, 0);
}

TEST_F(CliJson, PolicyFollowsTheSchema) {
  file("rules.toml",
       "model = 'script:none.jsonl'\n[tools.kv]\n[[policy.rules]]\nid = 'a'\ndeny = 'kv'\nwhen.op = { is = "
       "'put' }\n");
  file("cases.toml", "agent = 'rules.toml'\n[[cases]]\ntool = 'kv'\nexpect = 'allow'\n");
  file("mail.txt", "mail jane@roe.io\n");
  check({"redact", "mail.txt"}, 0);
  check({"policy", "show", "rules.toml"}, 0);
  check({"policy", "check", "rules.toml", "kv", R"({"op": "get", "key": "x"})"}, 0);
  check({"policy", "check", "rules.toml", "kv", R"({"op": "put", "key": "x"})"}, 4);
  check({"policy", "test", "cases.toml"}, 1);
}

TEST_F(CliJson, AuditFollowsTheSchema) {
  file("put.jsonl", R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a"}}]})"
                    "\n{\"text\": \"x\"}\n");
  file("agent.toml", "model = 'script:put.jsonl'\n[tools.kv]\n[policy]\ndeny = ['kv']\n");
  praxis({"run", "agent.toml", "go"});
  check({"audit"}, 0);
  EXPECT_EQ(items_.size(), 2U);
  check({"audit", "--sign", "head.json"}, 0);
  check({"audit", "--verify", "head.json"}, 0);
  check({"audit", "--verify", "put.jsonl"}, 2);
}

TEST_F(CliJson, AgentsWindowTracesSecretsTokensSchedulesAndSealsFollowTheSchema) {
  check({"run", "--model", "script:hello.jsonl", "Hi"}, 0);
  check({"show", "last", "--context"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"traces", "export", "last", "-o", "trace.json"}, 0);
  check({"agents"}, 0);
  EXPECT_EQ(json_string(items_.front(), "item"), "agent_file");
  check({"agents", "show", "coder"}, 0);
  file("config/praxis/config.toml",
       "[secrets.there]\nfrom = 'env:HOME'\n[secrets.gone]\nfrom = 'env:NO_SUCH'\n");
  check({"secrets"}, 0);
  check({"secrets", "check"}, 2);
  EXPECT_EQ(items_.size(), 2U);
  file("config/praxis/agents/ask.toml", contents("ask.toml"));
  const Json made = check({"schedule", "add", "@daily", "ask", "Hi", "--zone", "UTC"}, 0);
  check({"schedule", "list"}, 0);
  EXPECT_EQ(items_.size(), 1U);
  check({"schedule", "pause", json_string(made.at("schedule"), "id")}, 0);
  check({"schedule", "list"}, 0);
  check({"journal", "show"}, 0);

  EXPECT_EQ(
      praxis({"tokens", "add", "ann", "--role", "viewer", "--tenant", "acme", "--expires", "8h"}).status, 0);
  const Json token =
      *parse_json(praxis({"tokens", "add", "bo", "--right", "run", "--agent", "ask", "--json"}).out);
  schema_.check(token, "tokens add");
  EXPECT_FALSE(json_string(token, "token").empty());
  EXPECT_EQ(json_int(check({"tokens", "revoke", "bo"}, 0), "revoked"), 1);
  check({"tokens", "list"}, 0);
  EXPECT_EQ(items_.size(), 2U);
  check({"audit"}, 0);
  EXPECT_EQ(json_string(items_.back(), "action"), "revoked");
}

TEST_F(CliJson, SkillsAndMcpServersFollowTheSchema) {
  file(".agents/skills/tea/SKILL.md", "---\nname: tea\ndescription: Makes tea.\n---\nBoil.\n");
  file(".agents/skills/none/SKILL.md", "none\n");
  check({"skills", "list"}, 0);
  EXPECT_EQ(items_.size(), 2U);
  check({"skills", "show", "tea"}, 0);
  check({"skills", "check", ".agents/skills/none"}, 1);
  if (probe_sandbox().full()) {
    file("mcp.toml",
         "model = \"script:hello.jsonl\"\n[policy]\nallow = [\"fix__*\"]\n[tools.mcp.fix]\ncommand = "
         "[\"python3\", \"" PRAXIS_SOURCE_DIR
         "/tests/mcp/server.py\", \"imitating\"]\nread = [\"" PRAXIS_SOURCE_DIR "/tests/mcp\"]\n");
    check({"mcp", "list", "mcp.toml"}, 0);
    check({"mcp", "test", "mcp.toml"}, 0);
    check({"mcp", "accept", "mcp.toml"}, 0);
    file("rich.toml", std::regex_replace(contents("mcp.toml"), std::regex("imitating"), "rich"));
    check({"mcp", "prompts", "rich.toml"}, 0);
    check({"mcp", "add", "web", "https://web.example/mcp"}, 0);
  }
}

TEST_F(CliJson, FailuresHaveAnEnvelopeToo) {
  for (const char* command : {"resume", "show", "logs", "fork", "replay"})
    check_failure({command, "nothing"}, 1, "journal");
  check({"run", "--model", "script:hello.jsonl", "Hi"}, 0);
  for (const char* command : {"resume", "show", "logs", "fork", "replay"})
    check_failure({command, "nothing"}, 2, "nothing");
  check_failure({"run", "missing", "Hi"}, 2, "missing");
  check_failure({"rewind", "last", "--to", "t9"}, 2, "t9");
  check_failure({"import", "missing.jsonl"}, 2, "missing.jsonl");
  check_failure({"tree", "nothing"}, 2, "nothing");
  check_failure({"tree", "pause", "nothing"}, 2, "nothing");
  check_failure({"approve", "nothing"}, 2, "nothing");
  check_failure({"config", "explain", "modell"}, 2, "modell");
  check_failure({"models", "openay"}, 2, "openay");
  check_failure({"trust", "accept", "--digest", "0", "-C", "missing"}, 2, "missing");
  check_failure({"runs", "--nosuch"}, 2, "--nosuch");
  check_failure({"runs", "-C", "missing"}, 2, "missing");
  file("config/praxis/config.toml", "nosuch = 1");
  check_failure({"runs"}, 2, "nosuch");
  EXPECT_FALSE(json_bool(check({"doctor"}, 2), "healthy", true));
}

// A seed has 64 bits, more than a number in JavaScript or jq holds.
TEST_F(CliJson, BigNumbersAreStringsAndArgumentsObjects) {
  const Json parked = check({"run", "ask.toml", "Hi"}, 3);
  const std::string seed = json_string(parked, "seed");
  EXPECT_GE(seed.size(), 15U);
  const Json arguments{{"op", "put"}, {"key", "a"}, {"value", "b"}};
  EXPECT_EQ(parked.at("pending").get_array()[0].at("arguments"), arguments);
  std::size_t called = 0;
  for (const Json& event : items_) {
    if (json_string(event, "event") == "tool.called") called += event.at("arguments") == arguments ? 1 : 100;
    if (json_string(event, "event") == "step.parked") {
      EXPECT_EQ(event.at("parked").at("arguments"), arguments);
    }
  }
  EXPECT_EQ(called, 1U);
  check({"show", "last"}, 0);
  EXPECT_EQ(json_string(items_.front().at("body"), "seed"), seed);
  check({"approve"}, 0);
  EXPECT_EQ(items_.at(0).at("arguments"), arguments);
  check({"tree"}, 0);
  EXPECT_EQ(items_.at(0).at("pending").get_array()[0].at("arguments"), arguments);
  EXPECT_TRUE(items_.at(0).at("cost_usd").is_null()) << "the script's price is not known";
}

TEST_F(CliJson, AnswerIsWrittenOnce) {
  const CommandResult run = praxis({"run", "--no-stream", "--model", "script:hello.jsonl", "Hi", "--json"});
  std::size_t events = 0;
  for (const Json& event : run.items()) {
    const bool has_answer = to_json_text(event).find("Hello there.") != std::string::npos;
    if (has_answer) {
      EXPECT_EQ(json_string(event, "event"), "assistant.text");
    }
    events += has_answer ? 1 : 0;
  }
  EXPECT_EQ(events, 1U);
  const std::string last = to_json_text(run.last_line());
  EXPECT_EQ(last.find("Hello there."), last.rfind("Hello there.")) << last;
}

TEST_F(CliJson, HelpIsText) {
  const CommandResult help = praxis({"runs", "--json", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Usage"));
  EXPECT_EQ(help.out.find("\"event\""), std::string::npos);
}

}  // namespace
}  // namespace praxis::testing
