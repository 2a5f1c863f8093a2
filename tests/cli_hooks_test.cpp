// Hooks that are programs, as the user configures them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliHooks : public CommandLine {
 protected:
  CliHooks() {
    file("script.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}]})"
         "\n"
         R"({"text": "DONE"})"
         "\n");
    file("agent.toml", "model = \"script:script.jsonl\"\n[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  }
  /// The configuration with one hook, whose program is `body`.
  void hook(const std::string& event, const std::string& body, const std::string& more = "") const {
    file("hook.sh", "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(folder_ / "hook.sh", std::filesystem::perms::owner_all);
    file("config/praxis/config.toml", "[hooks.guard]\nevent = \"" + event + "\"\ncommand = [\"" +
                                          (folder_ / "hook.sh").string() + "\"]\n" + more);
  }
  CommandResult run_agent(const std::string& file = "agent.toml") const {
    return praxis({"run", file, "go"});
  }
  /// The last event of this name in the last run.
  Json last(const std::string& event) const {
    Json found;
    for (const Json& item : praxis({"logs", "last", "--json"}).items()) {
      if (json_string(item, "event") == event) found = item;
    }
    return found;
  }
};

TEST_F(CliHooks, ProgramGetsTheCallAsJson_AndAllowsIt) {
  hook("PreToolUse", "cat >seen.json");
  EXPECT_EQ(run_agent().status, 0);
  const auto seen = parse_json(contents("seen.json"));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(json_string(*seen, "hook_event_name"), "PreToolUse");
  EXPECT_EQ(json_string(*seen, "tool_name"), "kv");
  EXPECT_EQ(json_string(json_at(*seen, "tool_input"), "key"), "a");
  EXPECT_EQ(json_string(last("tool.completed"), "name"), "kv");
}

TEST_F(CliHooks, ExitStatus2_DeniesWithTheReason_AndTheLogSaysWho) {
  hook("PreToolUse", "echo 'not on a Friday' >&2; exit 2");
  EXPECT_EQ(run_agent().status, 4) << "as when a rule denies";
  EXPECT_TRUE(last("tool.completed").is_null());
  EXPECT_THAT(to_json_text(last("step.decided")), AllOf(HasSubstr("not on a Friday"), HasSubstr("\"hook\"")));
  hook("PreToolUse", "echo no >&2; exit 2", "tools = [\"shell\"]\n");
  EXPECT_EQ(run_agent().status, 0) << "it is about other tools";
}

TEST_F(CliHooks, JsonDecides) {
  hook(
      "PreToolUse",
      R"(echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "by JSON"}}')");
  EXPECT_EQ(run_agent().status, 4);
  EXPECT_THAT(to_json_text(last("step.decided")), HasSubstr("by JSON"));
  hook("PreToolUse", R"(echo '{"decision": "block", "reason": "the older form"}')");
  EXPECT_EQ(run_agent().status, 4);
  hook(
      "PreToolUse",
      R"(echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look first"}}')");
  EXPECT_EQ(run_agent().status, 3);
  EXPECT_THAT(to_json_text(last("step.parked")), HasSubstr("look first"));
  hook("PreToolUse",
       R"(echo '{"hookSpecificOutput": {"updatedInput": {"op": "put", "key": "a", "value": "changed"}}}')");
  EXPECT_EQ(run_agent().status, 0);
  EXPECT_EQ(json_string(json_at(last("tool.completed"), "arguments"), "value"), "changed");
  hook("PreToolUse", "echo 'just text'");
  EXPECT_EQ(run_agent().status, 0);
}

TEST_F(CliHooks, GuardThatFails_Denies) {
  for (const char* body :
       {"exit 1", "kill -9 $$", R"(echo '{"no JSON')", R"(echo '{"decision": "maybe"}')", "sleep 60"}) {
    hook("PreToolUse", body, "timeout = \"1s\"\n");
    EXPECT_EQ(run_agent().status, 4) << body;
    EXPECT_TRUE(last("tool.completed").is_null()) << body;
  }
  hook("PreToolUse", "exit 0");
  std::filesystem::remove(folder_ / "hook.sh");
  EXPECT_EQ(run_agent().status, 4) << "the program is gone";
}

TEST_F(CliHooks, HookNeverAllowsWhatARuleDenies) {
  hook("PreToolUse", R"(echo '{"decision": "approve"}')");
  file("agent.toml", "model = \"script:script.jsonl\"\n[tools.kv]\n[policy]\ndeny = [\"kv\"]\n");
  EXPECT_EQ(run_agent().status, 4);
}

TEST_F(CliHooks, AfterACall_TheModelReadsWhatTheProgramSays_AndReplayNeedsNoProgram) {
  hook("PostToolUse", "cat >seen.json; echo 'run the tests' >&2; exit 2");
  EXPECT_EQ(run_agent().status, 0);
  EXPECT_THAT(json_string(last("tool.completed"), "text"),
              HasSubstr("[the hook \"guard\" says: run the tests]"));
  EXPECT_THAT(contents("seen.json"), AllOf(HasSubstr("tool_response"), HasSubstr("session_id")));
  std::filesystem::remove(folder_ / "hook.sh");
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliHooks, GuardOfTheRoot_HoldsForSubAgents) {
  file("lead.jsonl", R"({"tool_calls": [{"name": "below", "arguments": {"prompt": "Go"}}]})"
                     "\n"
                     R"({"text": "Done."})"
                     "\n");
  file("lead.toml",
       "model = \"script:lead.jsonl\"\n[agents.below]\nfile = \"agent.toml\"\ndescription = \"Works.\"\n");
  hook("PreToolUse", "echo once >>count.txt; echo never >&2; exit 2", "tools = [\"kv\"]\n");
  run_agent("lead.toml");
  EXPECT_EQ(contents("count.txt"), "once\n") << "asked once for each call";
  hook("SubagentStop", "cat >>stops.txt; echo >>stops.txt");
  EXPECT_EQ(run_agent("lead.toml").status, 0);
  EXPECT_THAT(contents("stops.txt"),
              AllOf(HasSubstr("SubagentStop"), HasSubstr("DONE"), Not(HasSubstr("Done."))));
}

TEST_F(CliHooks, ProjectCannotNameOne) {
  std::filesystem::create_directories(folder_ / ".git");
  file(".praxis/config.toml", "[hooks.theirs]\nevent = \"Stop\"\ncommand = [\"touch\", \"pwned\"]\n");
  const std::string digest = json_string(praxis({"trust", "show", "--json"}).last_line(), "digest");
  praxis({"trust", "accept", "--digest", digest});
  const CommandResult run = run_agent();
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("a project must not name a program that runs outside of the sandbox"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pwned"));
}

TEST_F(CliHooks, WrongHooks_AreMistakesOfTheConfiguration) {
  hook("PreToolUse", "");
  file("own2/praxis/config.toml", "[hooks.guard]\nevent = \"PreToolUse\"\n");
  options_.env["XDG_CONFIG_HOME"] = (folder_ / "own2").string();
  const CommandResult lacks = run_agent();
  EXPECT_EQ(lacks.status, 2);
  EXPECT_THAT(lacks.err, HasSubstr("hooks.guard needs \"command\""));
  file("own2/praxis/config.toml", "[hooks.guard]\nevent = \"Before\"\n");
  EXPECT_THAT(run_agent().err, HasSubstr("PreToolUse"));
}

}  // namespace
}  // namespace praxis::testing
