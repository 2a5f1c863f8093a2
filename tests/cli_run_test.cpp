// `praxis run` and `praxis resume` as a user types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kHello = R"({"text": "Hello there."})"
                               "\n";
constexpr const char* kNotes = R"(
id = "notes"
model = "script:notes.jsonl"
[tools.kv]
[policy]
ask = ["kv"]
)";
constexpr const char* kNotesScript =
    R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "color", "value": "red"}}]})"
    "\n"
    R"({"text": "Noted."})"
    "\n";

class CliRun : public CommandLine {
 protected:
  CliRun() { file("hello.jsonl", kHello); }

  void notes_agent() const {
    file("config/praxis/agents/notes.toml", kNotes);
    file("notes.jsonl", kNotesScript);
  }
};

TEST_F(CliRun, Answer_GoesToStandardOutputAndTheRestToStandardError) {
  const CommandResult run = praxis({"run", "--model", "script:hello.jsonl", "Greet me"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "Hello there.\n");
  EXPECT_THAT(run.err, HasSubstr("resume: praxis resume " + last_run()));
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b"))) << "there is no terminal";
}

TEST_F(CliRun, Json_EveryLineIsAnEventAndTheLastTheResult) {
  const CommandResult run = praxis({"run", "--json", "--model", "script:hello.jsonl", "Greet me"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto lines = run.lines();
  ASSERT_GT(lines.size(), 3U);
  for (const Json& line : lines) EXPECT_NE(json_string(line, "event"), "") << to_json_text(line);
  EXPECT_EQ(json_string(lines.front(), "event"), "turn.started");
  EXPECT_EQ(json_string(lines.back(), "event"), "result");
  EXPECT_EQ(json_string(lines.back(), "result"), "Hello there.");
  EXPECT_EQ(json_string(lines.back(), "run_id"), last_run());
  EXPECT_THAT(run.out, HasSubstr("text.delta"));
}

TEST_F(CliRun, NoStream_RequestsNoDeltas) {
  const CommandResult run =
      praxis({"run", "--json", "--no-stream", "--model", "script:hello.jsonl", "Greet me"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("text.delta")));
}

TEST_F(CliRun, Prompt_IsReadFromStandardInputAndTheAnswerWrittenToAFile) {
  ProcessOptions options = options_;
  options.input = "Greet me, please\n";
  const CommandResult run =
      praxis({"run", "-", "--model", "script:hello.jsonl", "-o", "answer.txt"}, options);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(contents("answer.txt"), "Hello there.\n");
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("Greet me, please"));
}

TEST_F(CliRun, MissingPrompt_IsAnErrorWithoutAWait) {
  notes_agent();
  const CommandResult run = praxis({"run", "notes"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("no prompt given"));
}

TEST_F(CliRun, ClosedStandardStreams_AreHarmless) {
  ProcessOptions options = options_;
  options.input.reset();
  options.close_output = true;
  const CommandResult run = praxis({"run", "--json", "--model", "script:hello.jsonl", "Greet me"}, options);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "printed text is missing in the journal";
}

TEST_F(CliRun, ReaderThatClosesThePipe_DoesNotStopTheRun) {
  const CommandResult run =
      shell("set -o pipefail; praxis run --json --model script:hello.jsonl Hi | head -1; exit $?");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json_string(praxis({"runs", "--json"}).last_item(), "status"), "completed");
}

TEST_F(CliRun, FullOutputDevice_IsAnError) {
  const CommandResult run = shell("praxis run --model script:hello.jsonl Hi > /dev/full");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write to standard output: No space left"));
}

TEST_F(CliRun, LastStep_IsToldOnceByTheSummary) {
  const auto lines_of = [](const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const CommandResult one = praxis({"run", "--model", "script:hello.jsonl", "Hi"});
  EXPECT_EQ(lines_of(one.err, " tokens, "), 1U) << one.err;
  EXPECT_THAT(one.err, StartsWith("finished: 1 step, "));
  file("two.jsonl",
       R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
       "\n{\"text\": \"Done.\"}\n");
  file("two.toml", "model = \"script:two.jsonl\"\n[tools.kv]\n");
  const CommandResult two = praxis({"run", "two.toml", "Hi"});
  EXPECT_EQ(lines_of(two.err, " tokens, "), 2U) << two.err;
  EXPECT_THAT(two.err, HasSubstr("\nfinished: 2 steps, "));
}

TEST_F(CliRun, UnwritableOutputFile_IsRefusedBeforeTheFirstModelCall) {
  const CommandResult run =
      praxis({"run", "--model", "script:hello.jsonl", "-o", "missing/answer.txt", "Hi"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("cannot write \"missing/answer.txt\""));
  EXPECT_THAT(praxis({"runs"}).out, IsEmpty());
}

TEST_F(CliRun, InvalidArguments_AreUsageErrorsWithOneMessage) {
  file("broken.jsonl", "{\"txet\": \"Hi\"}\n");
  const auto mistake = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const CommandResult run = praxis(arguments);
    EXPECT_EQ(run.status, 2) << run.out << run.err;
    EXPECT_THAT(run.err, StartsWith("praxis: error: "));
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_THAT(run.out, IsEmpty());
  };
  mistake({"rnu", "x"}, "unknown command \"rnu\"; did you mean \"run\"?");
  mistake({"run", "--jsno", "Hi"}, "unknown option \"--jsno\"; did you mean \"--json\"?");
  mistake({"run", "--max-usd", "lots", "Hi"}, "\"lots\" is not an amount in US dollars");
  mistake({"run", "--timeout", "5", "Hi"}, "\"5\" is not a duration");
  mistake({"run", "--max-steps", "0", "Hi"}, "--max-steps");
  mistake({"run", "missing", "Hi"}, "no agent \"missing\"");
  mistake({"run", "missing.toml"}, "no agent file \"missing.toml\"");
  mistake({"run", "Hi"}, "no model is set");
  mistake({"run", "--model", "opnai:x", "Hi"}, "did you mean \"openai\"?");
  mistake({"run", "--model", "openai:x", "Hi"}, "OPENAI_API_KEY");
  mistake({"run", "--model", "script:none.jsonl", "Hi"},
          "cannot read the script \"none.jsonl\": No such file or directory");
  mistake({"run", "--model", "script:broken.jsonl", "Hi"},
          "line 1: has an unknown key \"txet\"; did you mean \"text\"?");
  mistake({"run", "-C", "nowhere", "Hi"}, "cannot work in \"nowhere\"");
  mistake({"show", "nothing"}, "");
}

TEST_F(CliRun, EmptyPath_IsRefusedByEveryCommand) {
  const auto refused = [&](std::vector<std::string> arguments, const std::string& option) {
    const CommandResult run = praxis(arguments);
    EXPECT_EQ(run.status, 2) << arguments.front();
    EXPECT_THAT(run.err, HasSubstr(option + ": the path is empty")) << arguments.front();
  };
  for (const char* name : {"run", "resume", "show", "logs", "fork", "replay", "export", "import"})
    refused({name, "x", "--journal", ""}, "--journal");
  for (const char* name : {"runs", "tree", "approve", "models", "doctor"})
    refused({name, "--journal", ""}, "--journal");
  refused({"rewind", "x", "--to", "t1", "--journal", ""}, "--journal");
  refused({"tree", "stop", "x", "--journal", ""}, "--journal");
  refused({"run", "x", "-C", ""}, "--directory");
  refused({"run", "x", "-o", ""}, "--output");
  refused({"run", "x", "--record", ""}, "--record");
  refused({"run", "x", "--schema", ""}, "--schema");
  refused({"resume", "last", "--agent", ""}, "--agent");
}

TEST_F(CliRun, EmptyVariableWithAPath_IsRefused) {
  ProcessOptions options = options_;
  options.env["PRAXIS_JOURNAL"] = "";
  const CommandResult run = praxis({"run", "--model", "script:hello.jsonl", "Greet me"}, options);
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("PRAXIS_JOURNAL is set, but empty"));
  EXPECT_EQ(praxis({"runs"}, options).status, 2);
  EXPECT_EQ(praxis({"runs", "--journal", "memory"}, options).status, 0) << "the option overrides it";
  EXPECT_THAT(praxis({"runs"}).out, IsEmpty()) << "nothing was written to the default journal";
}

TEST_F(CliRun, Json_EndsInAnEnvelopeAfterAFailureToo) {
  for (const auto& arguments :
       {std::vector<std::string>{"run", "--json", "missing", "Hi"}, {"run", "--json", "--jsno"}}) {
    const CommandResult run = praxis(arguments);
    EXPECT_EQ(run.status, 2);
    const Json envelope = run.last_line();
    EXPECT_EQ(json_int(envelope, "schema_version"), 1);
    EXPECT_EQ(json_string(envelope, "status"), "error");
    EXPECT_TRUE(envelope.at("run_id").is_null());
    EXPECT_EQ(envelope.at("errors").as_array().size(), 1U);
  }
}

TEST_F(CliRun, UnavailableProvider_ExitsWith6AndOtherFailuresWith1) {
  file("auth.jsonl", R"({"error": {"status": 401, "message": "bad key"}})"
                     "\n");
  file("refused.jsonl", R"({"text": "no", "finish": "refusal"})"
                        "\n");
  EXPECT_EQ(praxis({"run", "--model", "script:auth.jsonl", "Hi"}).status, 6);
  EXPECT_EQ(praxis({"run", "--model", "script:refused.jsonl", "Hi"}).status, 1);
}

TEST_F(CliRun, ReachedLimit_ExitsWith5) {
  notes_agent();
  file("free.toml", "model = \"script:notes.jsonl\"\n[tools.kv]\n");
  const CommandResult run = praxis({"run", "free.toml", "Note it", "--max-steps", "1", "--json"});
  EXPECT_EQ(run.status, 5) << run.err;
  EXPECT_EQ(json_string(run.last_line(), "termination"), "max_steps");
}

TEST_F(CliRun, Schema_GivesAStructuredResultOrExitsWith9) {
  file("city.json",
       R"({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}})");
  file("city.jsonl", R"({"text": "Rome"}
{"text": "{\"city\": \"Rome\"}"})");
  const CommandResult run =
      praxis({"run", "--json", "--schema", "city.json", "--model", "script:city.jsonl", "Which city?"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.lines().back().at("structured"), Json(JsonObject{{"city", "Rome"}}));

  file("cities.jsonl", R"({"text": "{\"city\": \"Rome\"}"}
{"text": "Oslo"}
{"text": "{\"city\": \"Oslo\"}"}
{"text": "Kyiv"}
{"text": "{\"city\": \"Kyiv\"}"})");
  const CommandResult then = praxis({"run", "--json", "--schema", "city.json", "--model",
                                     "script:cities.jsonl", "Which city?", "--then", "And now?"});
  EXPECT_EQ(then.lines().back().at("structured"), Json(JsonObject{{"city", "Oslo"}})) << then.err;
  const CommandResult resumed = praxis({"resume", "last", "--json", "And then?"});
  EXPECT_EQ(resumed.lines().back().at("structured"), Json(JsonObject{{"city", "Kyiv"}})) << resumed.err;

  file("never.jsonl", R"({"text": "Rome"}
{"text": "Rome"}
{"text": "{\"city\": 5}"})");
  const CommandResult never =
      praxis({"run", "--json", "--schema", "city.json", "--model", "script:never.jsonl", "Which city?"});
  EXPECT_EQ(never.status, 9);
  EXPECT_TRUE(never.lines().back().at("structured").is_null());
  EXPECT_EQ(json_string(never.lines().back(), "termination"), "invalid_output");
  EXPECT_THAT(never.err, HasSubstr("/city"));

  const CommandResult piped = praxis(
      {"run", "--schema", "city.json", "--model", "script:never.jsonl", "-o", "out.json", "Which city?"});
  EXPECT_EQ(piped.status, 9);
  EXPECT_EQ(piped.out + contents("out.json"), "") << "a reader of JSON gets no other text";
  EXPECT_THAT(piped.err, HasSubstr("unfit answer: {\"city\": 5}"));
}

TEST_F(CliRun, Attachment_IsSentWithThePrompt) {
  file("notes.txt", "buy milk");
  const CommandResult run = praxis({"run", "--attach", "notes.txt", "--attach", "https://example.com/a.png",
                                    "--model", "script:hello.jsonl", "Look"});
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string shown = praxis({"show", "last", "--json"}).out;
  EXPECT_THAT(shown, HasSubstr("buy milk"));
  EXPECT_THAT(shown, HasSubstr("https://example.com/a.png"));
}

TEST_F(CliRun, UnusableSchemaOrAttachment_ExitsWith2AndIsNamed) {
  file("bad.json", R"({"type": "objekt"})");
  file("broken.json", "{");
  const auto refused = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--model", "script:hello.jsonl"});
    arguments.emplace_back("hi");
    const CommandResult run = praxis(arguments);
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(refused({"--schema", "bad.json"}), HasSubstr("/type"));
  EXPECT_THAT(refused({"--schema", "broken.json"}), HasSubstr("\"broken.json\""));
  EXPECT_THAT(refused({"--schema", "none.json"}), HasSubstr("none.json"));
  EXPECT_THAT(refused({"--attach", "none.png"}), HasSubstr("none.png"));
}

TEST_F(CliRun, ControlCharactersOfAModel_DoNotReachStandardError) {
  file("evil.toml", "model = \"script:evil.jsonl\"\n[tools.kv]\n");
  file("evil.jsonl",
       R"({"tool_calls": [{"name": "kv", "arguments": {"op": "get", "key": "\u001b]0;owned\u0007"}}]})"
       "\n"
       R"({"text": "ok"})"
       "\n");
  const CommandResult run = praxis({"run", "evil.toml", "Hi"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run.err, Not(HasSubstr("\a")));
}

TEST_F(CliRun, UnwritableJournal_IsAnErrorThatNamesThePath) {
  file("state", "a file where a folder should be");
  const CommandResult run = praxis({"run", "--json", "--model", "script:hello.jsonl", "Hi"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr((folder_ / "state").string()));
  EXPECT_EQ(json_string(run.last_line(), "status"), "error");
}

TEST_F(CliRun, FullDisk_EndsTheRunWithAnError) {
  const auto disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=200k") != 0) GTEST_SKIP() << "needs the right to mount";
  file("big.jsonl", R"({"text": ")" + std::string(400'000, 'x') + "\"}\n");
  const CommandResult run =
      praxis({"run", "--json", "--journal", "disk/j.db", "--model", "script:big.jsonl", "Hi"});
  umount2(disk.c_str(), MNT_DETACH);
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(json_string(run.last_line(), "status"), "error");
}

/// A command on a terminal, which `script` provides.
class CliTerminal : public CliRun {
 protected:
  CliTerminal() {
    file("evil.jsonl", R"({"text": "Gr\u00fc\u00dfe \u001b]0;owned\u0007", "delay_ms": 300})"
                       "\n");
  }
  CommandResult on_terminal(const std::string& settings) const {
    return shell("export " + settings + "; script -qec 'praxis run --model script:evil.jsonl Hi' /dev/null");
  }
  void SetUp() override {
    if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
  }
};

TEST_F(CliTerminal, Terminal_ShowsALiveLineAndTheSanitisedAnswerOnce) {
  const CommandResult run = on_terminal("TERM=xterm NO_COLOR=");
  EXPECT_EQ(run.status, 0) << run.out;
  const std::string answer = "Gr\u00fc\u00dfe \u241b]0;owned\u2407\r\n";
  const auto at = run.out.find(answer);
  ASSERT_NE(at, std::string::npos) << run.out;
  EXPECT_EQ(run.out.find(answer, at + 1), std::string::npos) << "shown twice";
  EXPECT_THAT(run.out, HasSubstr("\x1b[2mstep "));
}

TEST_F(CliTerminal, NoColorAndDumbTerminals_AreHonoured) {
  EXPECT_THAT(on_terminal("TERM=xterm NO_COLOR=1").out, Not(HasSubstr("\x1b[2m")));
  EXPECT_THAT(on_terminal("TERM=dumb").out, Not(HasSubstr("\x1b")));
}

// ---- approvals --------------------------------------------------------------------------------------------

TEST_F(CliRun, ParkedRun_ExitsWith3AndThePrintedCommandResumesIt) {
  notes_agent();
  const CommandResult run = praxis({"run", "notes", "Note it", "--json"});
  EXPECT_EQ(run.status, 3) << run.err;
  EXPECT_EQ(json_string(run.last_line(), "status"), "awaiting_user");
  const auto at = run.err.find("praxis resume ");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string typed = run.err.substr(at, run.err.find('\n', at) - at);
  EXPECT_THAT(typed, HasSubstr("--allow p1"));

  EXPECT_EQ(praxis({"resume", "last"}).status, 3) << "the step is still undecided";
  const CommandResult resumed = shell("cd / && " + typed);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Noted.\n");
  EXPECT_THAT(resumed.err, HasSubstr("step 1: kv ("))
      << "the call is named, though another process parked it";
}

TEST_F(CliRun, Deny_GivesTheModelTheReason) {
  notes_agent();
  ASSERT_EQ(praxis({"run", "notes", "Note it"}).status, 3);
  const CommandResult resumed = praxis({"resume", "last", "--deny", "p1", "-m", "red is ugly", "--json"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("red is ugly"));
}

TEST_F(CliRun, Edit_RunsTheCallWithOtherArguments) {
  notes_agent();
  file("blue.json", R"({"op": "put", "key": "color", "value": "blue"})");
  ASSERT_EQ(praxis({"run", "notes", "Note it"}).status, 3);
  EXPECT_EQ(praxis({"resume", "last", "--edit", "p1=blue.json"}).status, 0);
  EXPECT_THAT(praxis({"show", "last", "--json"}).out, HasSubstr("blue"));
}

TEST_F(CliRun, ResumeWithADecisionAndAPrompt_DecidesThenSendsThePrompt) {
  notes_agent();
  file("notes.jsonl", std::string(kNotesScript) + "{\"text\": \"Sent.\"}\n");
  ASSERT_EQ(praxis({"run", "notes", "Note it"}).status, 3);
  const CommandResult refused = praxis({"resume", "last", "Now send it", "--allow", "p7"});
  EXPECT_EQ(refused.status, 2) << "a decision on nothing";
  EXPECT_THAT(refused.err, HasSubstr("the prompt was not sent"));
  const CommandResult resumed = praxis({"resume", "last", "Now send it", "--allow", "p1"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Noted.\nSent.\n");
  const std::string log = praxis({"show", "last"}).out;
  EXPECT_LT(log.find("Noted."), log.find("Now send it"));
}

TEST_F(CliRun, ResumeWithADecisionAndAPrompt_KeepsThePromptWhileTheTurnWaits) {
  notes_agent();
  const std::string call = R"({"name": "kv", "arguments": {"op": "put", "key": "a", "value": "1"}})";
  file("notes.jsonl", R"({"tool_calls": [)" + call + ", " + call + "]}\n{\"text\": \"Noted.\"}\n");
  ASSERT_EQ(praxis({"run", "notes", "Note both"}).status, 3);
  const CommandResult resumed = praxis({"resume", "last", "Now send it", "--allow", "p1"});
  EXPECT_EQ(resumed.status, 3) << resumed.err;
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("p2 waits"), HasSubstr("the prompt was not sent")));
  EXPECT_THAT(praxis({"show", "last"}).out, Not(HasSubstr("Now send it")));
}

TEST_F(CliRun, DecisionWithoutAParkedStep_IsRefused) {
  notes_agent();
  ASSERT_EQ(praxis({"run", "notes", "Note it"}).status, 3);
  const CommandResult resumed = praxis({"resume", "last", "--allow", "p7"});
  EXPECT_EQ(resumed.status, 2);
  EXPECT_THAT(resumed.err, HasSubstr("p7"));
  EXPECT_EQ(praxis({"resume", "last", "--allow", "p1"}).status, 0) << "and the run is still parked";
}

TEST_F(CliRun, MissingAgentFile_IsRequested) {
  notes_agent();
  ASSERT_EQ(praxis({"run", "notes", "Note it"}).status, 3);
  std::filesystem::rename(folder_ / "config/praxis/agents/notes.toml", folder_ / "moved.toml");
  const CommandResult gone = praxis({"resume", "last", "--allow", "p1"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("--agent FILE"));
  EXPECT_EQ(praxis({"resume", "last", "--allow", "p1", "--agent", "moved.toml"}).status, 0);
}

TEST_F(CliRun, ResumeWithAPrompt_ContinuesTheConversation) {
  file("two.jsonl", "{\"text\": \"One.\"}\n{\"text\": \"Two.\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:two.jsonl", "Count"}).status, 0);
  EXPECT_EQ(praxis({"resume", "last"}).status, 2) << "nothing is left to resume";
  const CommandResult more = praxis({"resume", "last", "Go on"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_EQ(more.out, "Two.\n");
}

// ---- crashes and signals ----------------------------------------------------------------------------------

class CliInterrupted : public CliRun {
 protected:
  CliInterrupted() {
    file("slow.toml", "model = \"script:slow.jsonl\"\n[tools.kv]\n");
    write_script(60'000);
  }
  void write_script(int delay) const {
    const std::string call = kNotesScript;
    file("slow.jsonl", call.substr(0, call.find('\n') + 1) + R"({"text": "Done.", "delay_ms": )" +
                           std::to_string(delay) + "}\n");
  }
  /// Returns when the model is working on its second answer.
  void reach_second_call(Process& run) const {
    ASSERT_TRUE(run.prints(R"("event":"tool.completed")")) << run.output << run.errors;
    ASSERT_TRUE(run.prints(R"("step":2)"));
  }
};

TEST_F(CliInterrupted, ResumeAfterKill_RepeatsNoSettledEffect) {
  Process run(command({"run", "slow.toml", "Note it", "--json"}), options_);
  reach_second_call(run);
  run.signal(SIGKILL);
  EXPECT_EQ(run.finish(), 128 + SIGKILL);
  write_script(0);
  const CommandResult changed = praxis({"resume", "last", "--json"});
  EXPECT_EQ(changed.status, 2) << changed.out;
  const CommandResult resumed = praxis({"resume", "last", "--json", "--accept-agent", digest_in(changed)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(json_string(resumed.last_line(), "result"), "Done.");
  EXPECT_THAT(resumed.out, Not(HasSubstr("tool.started")));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(CliInterrupted, Signal_SettlesTheRunAndDeterminesTheExitStatus) {
  for (const auto& [number, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    Process run(command({"run", "slow.toml", "Note it", "--json"}), options_);
    reach_second_call(run);
    run.signal(number);
    EXPECT_EQ(run.finish(), status) << run.errors;
    EXPECT_THAT(run.output, HasSubstr(R"("termination":"cancelled")"));
    EXPECT_EQ(praxis({"replay", "last"}).status, 0);
  }
}

TEST_F(CliInterrupted, SignalIgnoredByTheShell_IsHandledAllTheSame) {
  const auto before = std::signal(SIGINT, SIG_IGN);  // inherited, as in a background job of a script
  Process run(command({"run", "slow.toml", "Note it", "--json"}), options_);
  std::signal(SIGINT, before);
  reach_second_call(run);
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130) << run.errors;
}

}  // namespace
}  // namespace praxis::testing
