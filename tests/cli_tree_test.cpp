// Agents that work for each other, from a user's view: `praxis tree`, `praxis approve`, and what `run`,
// `resume` and `runs` show of sub-agents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <thread>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDone = "{\"text\": \"It is red.\"}\n";

std::string call(const std::string& tool, const std::string& arguments) {
  return R"({"name": ")" + tool + R"(", "arguments": )" + arguments + "}";
}
std::string calls(const std::string& list) { return "{\"tool_calls\": [" + list + "]}\n"; }

class CliTree : public CommandLine {
 protected:
  CliTree() {
    file("lead.toml", "id = 'lead'\nmodel = 'script:lead.jsonl'\n" + below("research"));
    file("lead.jsonl", calls(call("research", R"({"prompt": "Which colour?"})")) + kDone);
    file("research.toml",
         "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n[policy]\nask = ['kv']\n");
    put_colour(R"("red")");
  }

  static std::string below(const std::string& name) {
    return "[agents." + name + "]\nfile = '" + name + ".toml'\ndescription = 'Looks things up'\n";
  }
  void put_colour(const std::string& value) const {
    file("research.jsonl", calls(call("kv", R"({"op": "put", "key": "colour", "value": )" + value + "}")) +
                               "{\"text\": \"Noted by the child.\"}\n");
  }
  /// Gives the lead a second agent, which thinks for a minute while the first waits for a decision.
  void add_slow_agent() const {
    file("lead.toml", "id = 'lead'\nmodel = 'script:lead.jsonl'\n" + below("research") + below("slow"));
    file("lead.jsonl", calls(call("research", R"({"prompt": "Which colour?"})") + ", " +
                             call("slow", R"({"prompt": "Think"})")) +
                           kDone);
    file("slow.toml", "id = 'slow'\nmodel = 'script:slow.jsonl'\n");
    file("slow.jsonl", "{\"text\": \"Thought.\", \"delay_ms\": 60000}\n");
  }

  CommandResult run_lead() const { return praxis({"run", "lead.toml", "Find the colour"}); }
  /// Returns the node of the newest tree whose agent has this id.
  Json node(const std::string& agent) const {
    for (const Json& each : praxis({"tree", "last", "--json"}).items()) {
      if (json_string(each, "agent") == agent) return each;
    }
    return nullptr;
  }
  std::string id_of(const std::string& agent) const { return json_string(node(agent), "id"); }
  /// Waits until a node of a live run has this status.
  void await(const std::string& agent, const std::string& status) const {
    for (int i = 0; i < 300; ++i) {
      if (json_string(node(agent), "status") == status) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << agent << " did not become " << status << ": " << to_json_text(node(agent));
  }
};

// ---- run, resume, runs ------------------------------------------------------------------------------------

TEST_F(CliTree, Run_ShowsTheAnswerOfTheRootAndTheStepsOfAll) {
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n");
  const CommandResult run = run_lead();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "It is red.\n");
  EXPECT_THAT(run.err, HasSubstr("  research step 1: kv {"));
  EXPECT_THAT(run.err, HasSubstr("\nstep 1: research {"));
}

TEST_F(CliTree, Run_OnATerminalKeepsTextOfSubAgentsOutOfTheAnswer) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n");
  const CommandResult run = shell("script -qec 'praxis run lead.toml Find' /dev/null");
  EXPECT_THAT(run.out, AllOf(HasSubstr("It is red."), Not(HasSubstr("Noted by the child."))));
}

TEST_F(CliTree, Run_JsonHasTheEventsOfAllWithTheirAgent) {
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n");
  const CommandResult run = praxis({"run", "lead.toml", "Find the colour", "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  std::size_t below = 0;
  for (const Json& line : run.lines()) {
    if (json_int(line, "depth") != 1) continue;
    EXPECT_EQ(json_string(line, "parent"), last_run());
    ++below;
  }
  EXPECT_GT(below, 5U);
}

TEST_F(CliTree, Run_ListsParkedStepsOfSubAgentsWithACommandThatDecidesThem) {
  const CommandResult run = run_lead();
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("/p1 waits for lead/research (approval)\n  - The agent's rules require an "
                                 "approval for \"kv\".\n  | call kv\n"));
  const auto at = run.err.find("praxis resume ");
  ASSERT_NE(at, std::string::npos) << run.err;
  const CommandResult resumed = shell(run.err.substr(at, run.err.find('\n', at) - at));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "It is red.\n");
  EXPECT_THAT(praxis({"show", id_of("research")}).out, HasSubstr("Noted by the child."));
}

TEST_F(CliTree, Resume_WhileASubAgentIsParked_ExitsWith3) {
  ASSERT_EQ(run_lead().status, 3);
  const CommandResult resumed = praxis({"resume", "last", "--json"});
  EXPECT_EQ(resumed.status, 3) << resumed.err;
  EXPECT_EQ(json_string(resumed.last_line(), "status"), "awaiting_user");
  EXPECT_EQ(json_at(resumed.last_line(), "pending").get_array().size(), 1U);
}

TEST_F(CliTree, ResumeOfASubAgent_NamesItsRun) {
  ASSERT_EQ(run_lead().status, 3);
  const CommandResult resumed = praxis({"resume", id_of("research"), "Go on"});
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("is a sub-agent"), HasSubstr("praxis resume " + id_of("lead"))));
}

TEST_F(CliTree, Runs_HidesSubAgentsUnlessAllAreRequested) {
  ASSERT_EQ(run_lead().status, 3);
  EXPECT_EQ(praxis({"runs", "--json"}).items().size(), 1U);
  EXPECT_EQ(praxis({"runs", "--json", "--all"}).items().size(), 2U);
  EXPECT_THAT(praxis({"runs", "--all"}).out, HasSubstr("(for " + last_run() + ")"));
}

TEST_F(CliTree, PolicyOfTheParent_AppliesToSubAgents) {
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.file]\nwrite = ['out']\n");
  file("research.jsonl",
       calls(call("file_write", R"({"path": "a.txt", "content": "x"})")) + "{\"text\": \"Done.\"}\n");
  std::filesystem::create_directory(folder_ / "out");
  ASSERT_EQ(run_lead().status, 4) << "a rule denied a call below";
  EXPECT_THAT(praxis({"show", id_of("research")}).out, HasSubstr("They are those of an agent above"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a.txt"));

  file("lead.toml",
       "id = 'lead'\nmodel = 'script:lead.jsonl'\npolicy.allow = ['file_write']\n" + below("research"));
  ASSERT_EQ(run_lead().status, 0);
  EXPECT_EQ(contents("out/a.txt"), "x");
}

TEST_F(CliTree, CircularAgentFiles_AreAUsageErrorThatNamesThem) {
  file("research.toml", below("lead"));
  const CommandResult run = run_lead();
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("research.toml:2:1: agents cannot be their own sub-agents: "
                                 "lead.toml -> research.toml -> lead.toml"));
}

// ---- approve ----------------------------------------------------------------------------------------------

TEST_F(CliTree, Approve_ListsParkedStepsOfAllRuns) {
  EXPECT_THAT(praxis({"approve"}).err, HasSubstr("no step awaits a human"));
  ASSERT_EQ(run_lead().status, 3);
  const Json waiting = praxis({"approve", "--json"}).last_item();
  EXPECT_EQ(json_string(waiting, "id"), id_of("research") + "/p1");
  EXPECT_EQ(json_string(waiting, "path"), "lead/research");
  EXPECT_EQ(json_string(waiting, "tool"), "kv");
  EXPECT_THAT(praxis({"approve"}).out,
              AllOf(HasSubstr("lead/research  (approval)"),
                    HasSubstr("  | call kv\n  | op: \"put\"\n  | key: \"colour\"\n"),
                    HasSubstr("praxis approve " + id_of("research") + "/p1 --allow")));
}

TEST_F(CliTree, Approve_AllowByTheShortIdResumesTheRun) {
  ASSERT_EQ(run_lead().status, 3);
  const CommandResult approved = praxis({"approve", "p1", "--allow"});
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(approved.out, "It is red.\n");
  EXPECT_EQ(praxis({"approve", "p1", "--allow"}).status, 2) << "the step is decided already";
}

TEST_F(CliTree, Approve_DenyAndEditReachTheChild) {
  ASSERT_EQ(run_lead().status, 3);
  EXPECT_EQ(praxis({"approve", "p1", "--deny", "-m", "red is ugly"}).status, 0);
  EXPECT_THAT(praxis({"show", id_of("research"), "--json"}).out, HasSubstr("red is ugly"));

  ASSERT_EQ(run_lead().status, 3);
  ProcessOptions blue = options_;
  blue.input = R"({"op": "put", "key": "colour", "value": "blue"})";
  EXPECT_EQ(praxis({"approve", id_of("research") + "/p1", "--edit", "-"}, blue).status, 0);
  EXPECT_THAT(praxis({"show", id_of("research"), "--json"}).out, HasSubstr("blue"));
}

TEST_F(CliTree, Approve_OfALiveRunIsCarriedOutByItsProcess) {
  add_slow_agent();
  Process run(command({"run", "lead.toml", "Find the colour", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"step.parked")")) << run.output << run.errors;
  await("slow", "running");
  const CommandResult approved = praxis({"approve", "p1", "--allow"});
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_THAT(approved.err, HasSubstr("continues in the process that owns it"));
  await("research", "completed");
  EXPECT_EQ(praxis({"tree", "stop", id_of("slow")}).status, 0);
  EXPECT_EQ(run.finish(), 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr(R"("result":"It is red.")"));
}

TEST_F(CliTree, Approve_AfterTheProcessWasKilledResumesTheTree) {
  add_slow_agent();
  Process run(command({"run", "lead.toml", "Find the colour", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"step.parked")")) << run.output << run.errors;
  await("slow", "running");
  run.signal(SIGKILL);
  run.finish();
  file("slow.jsonl", "{\"text\": \"Thought.\"}\n");
  const CommandResult changed = praxis({"resume", id_of("lead"), "--allow", "p1"});
  EXPECT_EQ(changed.status, 2) << changed.out;
  const CommandResult approved = praxis({"approve", "p1", "--allow", "--accept-agent", digest_in(changed)});
  EXPECT_EQ(approved.status, 0) << approved.err;
  EXPECT_EQ(approved.out, "It is red.\n");
  EXPECT_EQ(praxis({"runs", "--all", "--json"}).items().size(), 3U) << "no sub-agent was created twice";
}

TEST_F(CliTree, Approve_AlwaysSavesANarrowRuleForLaterRuns) {
  ASSERT_EQ(run_lead().status, 3);
  const CommandResult unsure = praxis({"approve", "p1", "--always"});
  EXPECT_EQ(unsure.status, 2) << "the saved rule cannot be verified";
  EXPECT_THAT(
      unsure.err,
      HasSubstr("Allow \"kv\" without asking whenever its arguments are exactly these:\n  | call kv\n"));

  const CommandResult always = praxis({"approve", "p1", "--always", "--yes"});
  EXPECT_EQ(always.status, 0) << always.err;
  EXPECT_EQ(always.out, "It is red.\n");
  EXPECT_EQ(run_lead().status, 0) << "the same call needs no approval";
  put_colour(R"("blue")");
  EXPECT_EQ(run_lead().status, 3) << "another call needs approval";
}

TEST_F(CliTree, Approve_ShowsInvisibleCharacters) {
  put_colour(R"("a\u202eb\u200b\u001b[2J")");
  ASSERT_EQ(run_lead().status, 3);
  const std::string shown = praxis({"approve", "p1"}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr(R"(a\u202eb\u200b\u001b[2J)"), Not(HasSubstr("\x1b"))));
}

TEST_F(CliTree, Approve_WithInvalidArgumentsIsAUsageError) {
  ASSERT_EQ(run_lead().status, 3);
  const auto mistake = [&](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), "approve");
    const CommandResult result = praxis(arguments);
    EXPECT_EQ(result.status, 2) << result.out << result.err;
    EXPECT_THAT(result.err, AllOf(StartsWith("praxis: error: "), HasSubstr(message)));
  };
  mistake({"p7", "--allow"}, "no pending step \"p7\"");
  mistake({"--allow"}, "decide what?");
  mistake({"p1", "--allow", "--deny"}, "give exactly one of");
  mistake({"p1", "-m", "why"}, "requires --deny");
  mistake({"p1", "--answer", "blue"}, "allow, deny, edit");
  mistake({"p1", "--edit", "missing.json"}, "cannot read");
  file("twice.json", R"({"op": "get", "op": "put", "key": "colour", "value": "red"})");
  mistake({"p1", "--edit", "twice.json"}, "the key \"op\" occurs more than once");
  mistake({"p1", "--deny", "--seen", "0123456789abcdef"}, "--seen belongs to --allow");
  mistake({"p1", "--allow", "--seen", "0123456789abcdef"}, "--seen is not the digest of this call");
  EXPECT_EQ(praxis({"approve", "p1", "--allow"}).status, 0) << "and the step is still parked";
}

TEST_F(CliTree, Approve_OnlyOneOfTwoLeavesTheOther) {
  file("lead.jsonl",
       calls(call("research", R"({"prompt": "One"})") + ", " + call("research", R"({"prompt": "Two"})")) +
           kDone);
  ASSERT_EQ(run_lead().status, 3);
  const auto waiting = praxis({"approve", "--json"}).items();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(praxis({"approve", "p1", "--allow"}).status, 2) << "the short id matches both";
  EXPECT_EQ(praxis({"approve", json_string(waiting[0], "id"), "--allow"}).status, 3);
  EXPECT_EQ(praxis({"approve", json_string(waiting[1], "id"), "--allow"}).status, 0);
}

// ---- questions --------------------------------------------------------------------------------------------

class CliQuestion : public CliTree {
 protected:
  CliQuestion() {
    file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.ask_user]\n");
    file("research.jsonl",
         calls(call("ask_user", R"({"question": "Which one?", "choices": ["red", "blue"]})")) +
             "{\"text\": \"Thanks.\"}\n");
  }
};

TEST_F(CliQuestion, WithoutATerminal_IsAnsweredByACommand) {
  ASSERT_EQ(run_lead().status, 3);
  EXPECT_THAT(praxis({"approve"}).out, HasSubstr("--answer TEXT"));
  EXPECT_EQ(praxis({"approve", "p1", "--answer", "green"}).status, 2)
      << "the answer is not among the choices";
  EXPECT_EQ(praxis({"approve", "p1", "--answer", "blue"}).status, 0);
  EXPECT_THAT(praxis({"show", id_of("research"), "--json"}).out, HasSubstr("blue"));
}

TEST_F(CliQuestion, OnATerminal_IsAnsweredThere) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  const CommandResult run =
      shell("printf 'green\\n2\\n' | script -qec 'praxis run lead.toml Find; echo status $?' /dev/null");
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("lead/research asks:\r\n  | Which one?"), HasSubstr("not one of the choices"),
                    HasSubstr("It is red."), HasSubstr("status 0")));
  EXPECT_THAT(praxis({"show", id_of("research"), "--json"}).out, HasSubstr("blue"));
}

// ---- tree -------------------------------------------------------------------------------------------------

TEST_F(CliTree, Tree_ShowsParkedStepsAndTheCommandThatDecides) {
  ASSERT_EQ(run_lead().status, 3);
  const CommandResult tree = praxis({"tree"});
  EXPECT_EQ(tree.status, 0) << tree.err;
  EXPECT_THAT(tree.out, StartsWith("lead " + id_of("lead") + "  awaiting_user"));
  EXPECT_THAT(tree.out, HasSubstr("└─ research " + id_of("research") + "  awaiting_user"));
  EXPECT_THAT(tree.out, HasSubstr("\"Which colour?\""));
  EXPECT_THAT(tree.out, Not(HasSubstr("\x1b"))) << "there is no terminal";
  const auto at = tree.out.find("praxis approve ");
  ASSERT_NE(at, std::string::npos) << tree.out;
  EXPECT_EQ(shell(tree.out.substr(at, tree.out.find(" (", at) - at)).status, 0);
  EXPECT_EQ(json_string(node("lead"), "status"), "completed");
}

TEST_F(CliTree, Tree_WithoutARootShowsActiveRunsOrTheLast) {
  ASSERT_EQ(run_lead().status, 3);
  const std::string waiting = last_run();
  file("hello.jsonl", "{\"text\": \"Hello.\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", "Hi"}).status, 0);
  EXPECT_THAT(praxis({"tree"}).out, AllOf(HasSubstr(waiting), Not(HasSubstr(last_run()))));
  EXPECT_THAT(praxis({"tree", "--all"}).out, AllOf(StartsWith("lead " + waiting), HasSubstr(last_run())));
  ASSERT_EQ(praxis({"approve", "p1", "--allow"}).status, 0);
  EXPECT_THAT(praxis({"tree"}).out, AllOf(Not(HasSubstr(waiting)), HasSubstr(last_run())));
}

TEST_F(CliTree, Watch_PrintsALineForEachChangeUntilAllAreIdle) {
  add_slow_agent();
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n");
  Process run(command({"run", "lead.toml", "Find the colour", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"child.settled")")) << run.output << run.errors;
  Process watch(command({"tree", "--watch"}), options_);
  ASSERT_TRUE(watch.prints("lead/slow")) << watch.output << watch.errors;
  EXPECT_EQ(praxis({"tree", "stop", id_of("slow")}).status, 0);
  EXPECT_EQ(run.finish(), 0) << run.errors;
  EXPECT_EQ(watch.finish(), 0);
  EXPECT_THAT(watch.output, HasSubstr("completed"));
}

TEST_F(CliTree, Watch_EndsWhenTheProcessOfTheRunIsKilled) {
  add_slow_agent();
  file("research.toml", "id = 'research'\nmodel = 'script:research.jsonl'\n[tools.kv]\n");
  Process run(command({"run", "lead.toml", "Find the colour", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"child.settled")")) << run.output << run.errors;
  Process watch(command({"tree", "--watch"}), options_);
  ASSERT_TRUE(watch.prints("lead/slow")) << watch.output << watch.errors;
  run.signal(SIGKILL);
  EXPECT_EQ(run.finish(), 128 + SIGKILL);
  EXPECT_EQ(watch.finish(), 1);
  EXPECT_EQ(watch.errors, last_run() +
                              " was interrupted: its process has ended. Resume it with "
                              "praxis resume " +
                              last_run() + "\n");
  EXPECT_EQ(praxis({"tree", "last", "--watch", "--json"}).status, 1)
      << "even if the process had ended before";
}

TEST_F(CliTree, Watch_OnATerminalRedrawsInPlace) {
  if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  file("hello.jsonl", "{\"text\": \"Hello.\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:hello.jsonl", "Hi"}).status, 0);
  const std::string seen = shell("TERM=xterm script -qec 'praxis tree --watch' /dev/null").out;
  EXPECT_THAT(seen, AllOf(HasSubstr("\x1b[K"), HasSubstr("\x1b[J"), HasSubstr("\x1b[2m")));
  EXPECT_THAT(shell("TERM=xterm NO_COLOR=1 script -qec 'praxis tree --watch' /dev/null").out,
              Not(HasSubstr("\x1b[2m")));
}

TEST_F(CliTree, CommandToALiveSubAgent_IsCarriedOutByItsProcess) {
  add_slow_agent();
  Process run(command({"run", "lead.toml", "Find the colour", "--json"}), options_);
  ASSERT_TRUE(run.prints(R"("event":"step.parked")")) << run.output << run.errors;
  await("slow", "running");
  const std::string slow = id_of("slow");
  EXPECT_EQ(praxis({"tree", "annotate", slow, "too slow"}).status, 0);
  EXPECT_EQ(json_string(node("slow"), "comment"), "too slow");
  EXPECT_EQ(praxis({"tree", "pause", slow}).status, 0);
  EXPECT_EQ(praxis({"tree", "pause", slow}).status, 2) << "the session is already paused";
  const CommandResult unpaused = praxis({"tree", "unpause", slow, "--json"});
  EXPECT_EQ(json_string(unpaused.last_line(), "outcome"), "delivered") << unpaused.err;
  EXPECT_EQ(praxis({"tree", "steer", slow, "hurry"}).status, 0);
  EXPECT_EQ(praxis({"tree", "delete", slow}).status, 0);
  await("slow", "deleted");
  EXPECT_EQ(run.finish(), 3) << "the other step is still parked";
}

TEST_F(CliTree, CommandToAnIdleRun_IsWrittenToItsLog) {
  ASSERT_EQ(run_lead().status, 3);
  EXPECT_EQ(praxis({"tree", "annotate", "last", "for the painter"}).status, 0);
  EXPECT_THAT(praxis({"tree"}).out, HasSubstr("# for the painter"));
  EXPECT_EQ(praxis({"tree", "stop", "last"}).status, 0);
  EXPECT_EQ(json_string(node("lead"), "status"), "cancelled") << "the turn is over";
  EXPECT_EQ(praxis({"tree", "stop", "last"}).status, 2) << "nothing is left to stop";
}

TEST_F(CliTree, QueuedMessages_AreAnsweredByTheNextTurns) {
  file("lead.toml", "id = 'lead'\nmodel = 'script:lead.jsonl'\n");
  file("lead.jsonl", kDone + std::string("{\"text\": \"It is blue.\"}\n{\"text\": \"Green.\"}\n"));
  ASSERT_EQ(run_lead().status, 0);
  const CommandResult queued = praxis({"tree", "enqueue", "last", "And now?"});
  EXPECT_EQ(queued.status, 0) << queued.err;
  EXPECT_THAT(queued.err, AllOf(HasSubstr("will receive it as the message of its next turn"),
                                HasSubstr("no process runs it now: praxis resume " + last_run())));
  EXPECT_EQ(praxis({"tree", "enqueue", "last", "And then?"}).status, 0);
  const CommandResult resumed = praxis({"resume", "last"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "It is blue.\nGreen.\n");
  EXPECT_THAT(praxis({"show", "last"}).out, AllOf(HasSubstr("And now?"), HasSubstr("And then?")));
}

TEST_F(CliTree, CommandWithInvalidArguments_IsAUsageError) {
  ASSERT_EQ(run_lead().status, 3);
  const auto mistake = [&](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), "tree");
    const CommandResult result = praxis(arguments);
    EXPECT_EQ(result.status, 2) << result.out << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  mistake({"stpo", "last"}, "unknown command \"stpo\"; did you mean \"stop\"?");
  mistake({"resume", "last"}, "to undo a pause, type \"praxis tree unpause last\"");
  mistake({"stop"}, "stop needs a node: give its id");
  mistake({"steer", "last"}, "steer needs TEXT after the node");
  mistake({"enqueue", "last"}, "enqueue needs TEXT after the node");
  mistake({"stop", "last", "now"}, "stop accepts no TEXT");
  mistake({"stop", "missing"}, "no session is called \"missing\"");
  mistake({"stop", "last", "--watch"}, "does not support --watch and --all");
}

// ---- documentation ----------------------------------------------------------------------------------------

/// Returns the commands in the blocks of a page that show a terminal, from the word `praxis` on.
std::vector<std::string> commands_of(const std::filesystem::path& page) {
  std::ifstream in(page);
  std::vector<std::string> commands;
  bool in_block = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) in_block = line == "```sh" || line == "```console";
    static const std::regex command(R"re(^(?:\$ )?(?:[\w./]*/)?praxis ([a-z]+ ?[^#|]*))re");
    std::smatch found;
    if (in_block && std::regex_search(line, found, command)) commands.push_back(found[1]);
  }
  return commands;
}

TEST_F(CliTree, Pages_ShowOnlyExistingCommandsAndOptions) {
  std::map<std::string, std::string> help;
  std::size_t options = 0;
  std::vector<std::filesystem::path> pages{PRAXIS_SOURCE_DIR "/README.md"};
  for (const auto& page : std::filesystem::directory_iterator(PRAXIS_SOURCE_DIR "/docs"))
    pages.push_back(page);
  static const std::regex option(R"re(\s(--?[a-z][a-z-]*))re");
  for (const auto& page : pages) {
    for (const std::string& typed : commands_of(page)) {
      const std::string name = typed.substr(0, typed.find(' '));
      if (!help.contains(name)) help[name] = praxis({name, "--help"}).out;
      EXPECT_THAT(help[name], Not(IsEmpty())) << page << " shows praxis " << typed;
      for (auto it = std::sregex_iterator(typed.begin(), typed.end(), option); it != std::sregex_iterator();
           ++it) {
        EXPECT_THAT(help[name], HasSubstr((*it)[1].str())) << page << " shows praxis " << typed;
        ++options;
      }
    }
  }
  EXPECT_GT(options, 10U);
}

// ---- doctor -----------------------------------------------------------------------------------------------

TEST_F(CliTree, Doctor_ReportsTheSandboxAndPendingSteps) {
  ASSERT_EQ(run_lead().status, 3);
  const std::string report = praxis({"doctor"}).out;
  EXPECT_THAT(report, HasSubstr("1 step waits for a human; praxis approve lists them"));
  EXPECT_TRUE(std::regex_search(report, std::regex("(ok|missing) +sandbox +(full|none): "))) << report;
}

}  // namespace
}  // namespace praxis::testing
