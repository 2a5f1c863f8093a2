// The commands that show, fork, export and import runs, and the output that the program generates about
// itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliJournal : public CommandLine {
 protected:
  CliJournal() {
    file("agent.toml", "id = \"notes\"\nmodel = \"script:notes.jsonl\"\n[tools.kv]\n");
    file("notes.jsonl",
         R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "color", "value": "red"}}]})"
         "\n"
         R"({"text": "Noted."})"
         "\n"
         R"({"text": "Again."})"
         "\n");
  }
  std::string noted() const {
    const CommandResult run = praxis({"run", "agent.toml", "Note the color", "--json"});
    EXPECT_EQ(run.status, 0) << run.err;
    return json_string(run.last_line(), "run_id");
  }
};

TEST_F(CliJournal, MissingJournal_HasNoRuns) {
  const CommandResult runs = praxis({"runs"});
  EXPECT_EQ(runs.status, 0) << runs.err;
  EXPECT_THAT(runs.out, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state")) << "a read-only command creates nothing";
}

TEST_F(CliJournal, MemoryJournal_KeepsNothing) {
  EXPECT_EQ(praxis({"run", "agent.toml", "Note it", "--journal", "memory"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
}

TEST_F(CliJournal, RunsThatEnd_LeaveNoLog) {
  file("one.jsonl", "{\"text\": \"Hello.\"}\n");
  for (int round = 0; round < 30; ++round) {
    ASSERT_EQ(praxis({"run", "--model", "script:one.jsonl", "Hello", "--journal", "j"}).status, 0);
    ASSERT_FALSE(std::filesystem::exists(folder_ / "j-wal")) << "round " << round;
  }
}

TEST_F(CliJournal, RunsShowAndLogs_DescribeARun) {
  const std::string id = noted();
  const Json row = praxis({"runs", "--json"}).last_item();
  EXPECT_EQ(json_string(row, "id"), id);
  EXPECT_EQ(json_string(row, "status"), "completed");
  EXPECT_EQ(json_string(row, "title"), "Note the color");
  EXPECT_THAT(praxis({"runs"}).out, HasSubstr(id));

  const CommandResult show = praxis({"show", id.substr(0, 20), "--records"});
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("effect_settled"));
  EXPECT_THAT(show.out, HasSubstr("Noted."));
  EXPECT_EQ(json_string(praxis({"show", id, "--json"}).items().front(), "kind"), "session_created");

  const CommandResult logs = praxis({"logs", id.substr(id.size() - 8), "--json"});
  EXPECT_EQ(logs.status, 0) << logs.err;
  EXPECT_EQ(json_string(logs.last_item(), "event"), "turn.completed");
  EXPECT_THAT(praxis({"logs", "last"}).out, HasSubstr("tool.completed"));
}

TEST_F(CliJournal, Fork_ContinuesFromAStepAndKeepsTheRunUnchanged) {
  const std::string id = noted();
  const std::string before = praxis({"export", id}).out;
  const CommandResult fork = praxis({"fork", id + "@1"});
  EXPECT_EQ(fork.status, 0) << fork.err;
  const std::string branch = fork.out.substr(0, fork.out.find('\n'));
  EXPECT_NE(branch, id);
  EXPECT_THAT(fork.err, HasSubstr("praxis resume " + branch));
  const CommandResult resumed = praxis({"resume", branch});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, "Noted.\n");
  EXPECT_EQ(praxis({"export", id}).out, before);
}

TEST_F(CliJournal, ForkAtAnUnknownStep_IsRefused) {
  const std::string id = noted();
  EXPECT_EQ(praxis({"fork", id + "@9"}).status, 2);
  EXPECT_EQ(praxis({"fork", id + "@x"}).status, 2);
  EXPECT_EQ(praxis({"fork", id, "--seq", "999"}).status, 2);
  EXPECT_EQ(praxis({"fork", id + "@1", "--seq", "2"}).status, 2);
}

TEST_F(CliJournal, Rewind_RemovesATurn) {
  const std::string id = noted();
  ASSERT_EQ(praxis({"resume", id, "And again"}).status, 0);
  const CommandResult rewound = praxis({"rewind", id, "--to", "t2"});
  EXPECT_EQ(rewound.status, 0) << rewound.err;
  EXPECT_EQ(praxis({"rewind", id, "--to", "t9"}).status, 2);
  EXPECT_THAT(praxis({"show", id}).out, HasSubstr("rewind t2"));
}

TEST_F(CliJournal, Replay_IsIdenticalUntilTheAgentChanges) {
  noted();
  const CommandResult same = praxis({"replay", "last", "--json"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_TRUE(json_bool(same.last_line(), "identical"));
  file("other.toml",
       "id = \"notes\"\nmodel = \"script:notes.jsonl\"\ninstructions = \"Be brief.\"\n[tools.kv]\n");
  const CommandResult other = praxis({"replay", "last", "--agent", "other.toml"});
  EXPECT_EQ(other.status, 7) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("diverges at record"));
}

TEST_F(CliJournal, ReplayToARecord_ShowsTheConversationAsItWas) {
  const std::string id = noted();
  const auto records = praxis({"show", id, "--json"}).items();
  const auto called = std::ranges::find(records, "effect_intended",
                                        [](const Json& record) { return json_string(record, "kind"); });
  ASSERT_NE(called, records.end());
  const std::string seq = std::to_string(json_int(*called, "seq"));
  const CommandResult early = praxis({"replay", id, "--to", seq});
  EXPECT_EQ(early.status, 0) << early.out << early.err;
  EXPECT_THAT(early.out, AllOf(HasSubstr("## Turn t1"), Not(HasSubstr("### Assistant")),
                               HasSubstr("record " + seq + " of " + std::to_string(records.size()) +
                                         " (effect_intended): running, in turn t1"),
                               HasSubstr(": identical, " + seq + " records replayed")));
  const Json json = praxis({"replay", id, "--to", seq, "--json"}).last_line();
  EXPECT_EQ(json_string(json, "status"), "running");
  EXPECT_EQ(json_string(json_at(json, "conversation"), "run_id"), id);
  const std::string all = std::to_string(records.size());
  EXPECT_THAT(praxis({"replay", id, "--to", all}).out, HasSubstr(praxis({"show", id}).out));
  const CommandResult beyond = praxis({"replay", id, "--to", std::to_string(records.size() + 1)});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.err, HasSubstr("has " + all + " records but no record"));
}

TEST_F(CliJournal, ExportAndImport_ReproduceTheRun) {
  const std::string id = noted();
  ASSERT_EQ(praxis({"export", id, "-o", "run.jsonl"}).status, 0);
  EXPECT_EQ(mode_of("run.jsonl"), 0600U) << "as the journal";
  const CommandResult imported = praxis({"import", "run.jsonl", "--journal", "other.db"});
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.out, id + "\n");
  EXPECT_EQ(praxis({"export", id, "--journal", "other.db"}).out, contents("run.jsonl"));
  EXPECT_EQ(praxis({"replay", id, "--journal", "other.db"}).status, 0);
  EXPECT_EQ(praxis({"import", "run.jsonl"}).status, 1) << "the run exists already";
  EXPECT_EQ(praxis({"import", "agent.toml"}).status, 2) << "the file is not an export";
}

TEST_F(CliJournal, ImportOfAnExportThatIsCutOrAltered_Warns) {
  const std::string id = noted();
  ASSERT_EQ(praxis({"export", id, "-o", "run.jsonl"}).status, 0);
  const std::string whole = contents("run.jsonl");
  EXPECT_THAT(praxis({"import", "run.jsonl", "--journal", "whole.db"}).err, Not(HasSubstr("warning")));
  file("cut.jsonl", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
  const CommandResult cut = praxis({"import", "cut.jsonl", "--journal", "cut.db", "--json"});
  EXPECT_EQ(cut.status, 0);
  EXPECT_THAT(cut.err, HasSubstr("praxis: warning: cut.jsonl: it is cut off: it has "));
  EXPECT_THAT(json_string(cut.last_line(), "problem"), HasSubstr("it is cut off"));
  const std::string from = "Noted.", to = "Nested";
  std::string changed = whole;
  changed.replace(changed.find(from), from.size(), to);
  file("changed.jsonl", changed);
  EXPECT_THAT(praxis({"import", "changed.jsonl", "--journal", "changed.db"}).err,
              HasSubstr("its records were altered after the export; praxis replay " + id));
  file("old.jsonl", std::regex_replace(changed, std::regex(R"(,"records":\d+,"digest":"\w+")"), ""));
  EXPECT_THAT(praxis({"import", "old.jsonl", "--journal", "old.db"}).err, Not(HasSubstr("warning")))
      << "older exports have no digest";
}

TEST_F(CliJournal, Doctor_NamesConfigurationLayersAndHidesKeys) {
  ProcessOptions options = options_;
  options.env["OPENAI_API_KEY"] = "sk-very-secret";
  options.env["PRAXIS_MODEL"] = "script:notes.jsonl";
  const CommandResult doctor = praxis({"doctor", "--json"}, options);
  EXPECT_EQ(doctor.status, 0) << doctor.out << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("OPENAI_API_KEY is set"));
  EXPECT_THAT(doctor.out, HasSubstr("PRAXIS_MODEL"));
  EXPECT_THAT(doctor.out, Not(HasSubstr("very-secret")));
  EXPECT_EQ(doctor.lines().size(), 1U);
}

TEST_F(CliJournal, Doctor_FindsADamagedJournal) {
  noted();
  file("state/praxis/journal.db", "this is not a database, but long enough to be checked as one");
  const CommandResult doctor = praxis({"doctor"});
  EXPECT_EQ(doctor.status, 2);
  EXPECT_THAT(doctor.out, HasSubstr("failed"));
}

// ---- help, completion and man page ------------------------------------------------------------------------

TEST_F(CliJournal, EveryCommand_HasHelpWithExamples) {
  const CommandResult help = praxis({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit status"));
  for (const char* name : {"run", "resume", "runs", "show", "logs", "fork", "rewind", "replay", "export",
                           "import", "models", "doctor", "completion"}) {
    EXPECT_THAT(help.out, HasSubstr(name));
    const CommandResult one = praxis({name, "--help"});
    EXPECT_EQ(one.status, 0) << name;
    EXPECT_THAT(one.out, HasSubstr("Examples:\n  ")) << name;
  }
  EXPECT_THAT(praxis({"--version"}).out, HasSubstr("praxis 0."));
  EXPECT_EQ(praxis({}).status, 2);
}

TEST_F(CliJournal, Completion_IsAValidScriptOfItsShell) {
  const CommandResult bash = shell("praxis completion bash | bash -n");
  EXPECT_EQ(bash.status, 0) << bash.err;
  const CommandResult completed = shell(
      "source <(praxis completion bash); COMP_WORDS=(praxis run --max-) COMP_CWORD=2; _praxis; echo "
      "${COMPREPLY[@]}");
  EXPECT_EQ(completed.out, "--max-usd --max-steps\n");
  EXPECT_THAT(praxis({"completion", "zsh"}).out, HasSubstr("praxis __complete \"${"));
  EXPECT_THAT(praxis({"completion", "fish"}).out, HasSubstr("praxis __complete $words"));
  EXPECT_EQ(praxis({"completion", "bsh"}).status, 2);
}

TEST_F(CliJournal, ManPage_IsValidTroff) {
  if (shell("command -v groff").status != 0) PRAXIS_MISSING_PART("needs groff");
  const CommandResult page = shell("praxis man | groff -ww -man -Tutf8");
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.err, IsEmpty());
  EXPECT_THAT(page.out, HasSubstr("max"));
  const std::string plain = shell("praxis man | groff -man -Tascii -P-c -P-b -P-u").out;
  for (const char* part : {"\nENVIRONMENT\n", "PRAXIS_JOURNAL", "OPENAI_API_KEY", "\nFILES\n", "journal.db"})
    EXPECT_THAT(plain, HasSubstr(part));
}

}  // namespace
}  // namespace praxis::testing
