// A person decides where the run asks: whole dialogues at a pseudo-terminal.
#include <gmock/gmock.h>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMenu = "[y]es once  [a]lways  [n]o  [e]dit  [l]ater:";

class CliDialog : public CommandLine {
 protected:
  CliDialog() {
    options_.env["EDITOR"] = "false";
    options_.env["VISUAL"] = "";
    file("notes.toml",
         "id = 'notes'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\nask = ['kv']\n");
    model_calls({put("a"), put("a"), put("b")});
  }

  static std::string put(const std::string& key, const std::string& value = "1") {
    return to_json_text(JsonObject{{"op", "put"}, {"key", key}, {"value", value}});
  }
  /// One call of `kv` per step, then an answer.
  void model_calls(const std::vector<std::string>& arguments) const {
    std::string script;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Json call{{"id", "c" + std::to_string(i)}, {"name", "kv"}, {"arguments", arguments[i]}};
      script += to_json_text({{"tool_calls", JsonArray{call}}}) + '\n';
    }
    file("notes.jsonl", script + "{\"text\": \"Noted.\"}\n");
  }
  std::unique_ptr<TerminalSession> at_terminal(const std::vector<std::string>& arguments,
                                               TerminalShape shape = {}) const {
    return std::make_unique<TerminalSession>(command(arguments), options_, shape);
  }
  std::string shown() const { return praxis({"show", "last"}).out; }
};

TEST_F(CliDialog, ApprovalsAreAskedWhereTheRunIs) {
  model_calls({put("a"), put("b")});
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->shows("notes wants to run:\n  - The agent's rules require an approval for \"kv\".\n  | call kv\n");
  run->answer(kMenu, "maybe\n");
  run->shows("type one of the letters in brackets");
  run->answer(kMenu, "Y\n");
  run->shows("key: \"b\"");
  run->answer(kMenu, "no, not today\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_THAT(run->screen(), HasSubstr("Noted."));
  EXPECT_THAT(shown(), AllOf(HasSubstr("not today"), HasSubstr("**Result** of `kv` (c0, ")));
}

TEST_F(CliDialog, RejectionAsksForItsReason) {
  model_calls({put("a")});
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "n\n");
  run->answer("reason, for the model (may be empty):", "wrong key\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_THAT(shown(), HasSubstr("wrong key"));
}

TEST_F(CliDialog, AlwaysShowsTheRuleAndAsksNoSecondTime) {
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "a\n");
  run->shows("Allow \"kv\" without asking whenever its arguments are exactly these:");
  run->answer("Save this rule? [y]es  [e]dit it first  [N]o:", "n\n");
  run->answer(kMenu, "always\n");
  run->answer("Save this rule? [y]es  [e]dit it first  [N]o:", "y\n");
  run->shows("key: \"b\"");  // the second call has the same arguments
  run->answer(kMenu, "y\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_THAT(contents("config/praxis/allowed.jsonl"), HasSubstr("\"key\":\"a\""));
  EXPECT_THAT(contents("config/praxis/allowed.jsonl"), Not(HasSubstr("\"key\":\"b\"")));
}

TEST_F(CliDialog, RuleIsEditedBeforeItIsSaved) {
  const std::string save = "Save this rule? [y]es  [e]dit it first  [N]o:";
  const auto edit_with = [&](const std::string& script) {
    file("edit", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder_ / "edit", std::filesystem::perms::owner_all);
  };
  options_.env["EDITOR"] = (folder_ / "edit").string();
  edit_with("cp \"$1\" seen.json; sed -i 's/\"a\"/\"other\"/' \"$1\"");
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "a\n");
  run->answer(save, "e\n");
  run->shows("the rule would not allow this call, so it was not changed");
  EXPECT_THAT(contents("seen.json"), AllOf(HasSubstr("\"key\": \"a\""), HasSubstr("\"any_ending\": false")));
  edit_with("echo '{\"tool\": \"kv\"' > \"$1\"");
  run->answer(save, "e\n");
  run->shows("praxis: error: invalid JSON at line ");
  edit_with(R"(echo '{"tool":"kv","arguments":{"value":"1","key":"a","op":"put"}}' > "$1")");
  run->answer(save, "e\n");
  run->shows("Allow \"kv\" without asking whenever its arguments are exactly these:");
  run->answer(save, "y\n");
  run->shows("key: \"b\"");  // the second call has the arguments of the rule
  run->answer(kMenu, "n no\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_THAT(contents("config/praxis/allowed.jsonl"),
              AllOf(HasSubstr("\"key\":\"a\""), Not(HasSubstr("other"))));
}

TEST_F(CliDialog, EditOpensTheArgumentsInTheEditor) {
  model_calls({put("a")});
  file("edit", "#!/bin/sh\ncp \"$1\" seen.json\nsed -i 's/\"a\"/\"changed\"/' \"$1\"\n");
  std::filesystem::permissions(folder_ / "edit", std::filesystem::perms::owner_all);
  options_.env["EDITOR"] = (folder_ / "edit").string();
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "e\n");
  EXPECT_EQ(run->finish(), 0);
  EXPECT_EQ(contents("seen.json"), "{\n  \"op\": \"put\",\n  \"key\": \"a\",\n  \"value\": \"1\"\n}\n");
  EXPECT_THAT(shown(), HasSubstr("changed"));
}

TEST_F(CliDialog, EditorThatFailsOrChangesNothingDecidesNothing) {
  model_calls({put("a")});
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "e\n");
  run->shows("the editor \"false\" failed");
  run->answer(kMenu, "l\n");
  EXPECT_EQ(run->finish(), 3);
  options_.env["EDITOR"] = "true";
  const auto approve = at_terminal({"approve"});
  approve->answer(kMenu, "e\n");
  approve->shows("nothing was changed");
  approve->answer(kMenu, "y\n");
  EXPECT_EQ(approve->finish(), 0);
}

TEST_F(CliDialog, ResumeWithoutAnIdSearchesTheRuns) {
  ASSERT_EQ(praxis({"run", "notes.toml", "First"}).status, 3);
  ASSERT_EQ(praxis({"run", "notes.toml", "Second"}).status, 3);
  const auto resume = at_terminal({"resume"});
  resume->shows("Resume which run?  (2)");
  resume->type("frst");
  resume->shows("(1 of 2)");
  resume->type("\r");
  EXPECT_EQ(resume->finish(), 3);
  const Json older = praxis({"runs", "--json"}).items().back();
  EXPECT_THAT(resume->screen(), AllOf(HasSubstr("praxis resume " + json_string(older, "id") + " --allow p1"),
                                      Not(HasSubstr("Resume which run?"))));
  const auto none = at_terminal({"resume"});
  none->shows("Resume which run?");
  none->type("\x1b");
  EXPECT_EQ(none->finish(), 2);
}

TEST_F(CliDialog, ResumeWithoutAnIdAsksWhichRun) {
  options_.env["TERM"] = "dumb";
  ASSERT_EQ(praxis({"run", "notes.toml", "First"}).status, 3);
  ASSERT_EQ(praxis({"run", "notes.toml", "Second"}).status, 3);
  const auto resume = at_terminal({"resume"});
  resume->shows("awaiting_user");
  resume->answer("Which run? [1-2, Enter: none]", "3\n");
  resume->answer("Which run? [1-2, Enter: none]", "2\n");
  EXPECT_EQ(resume->finish(), 3);
  EXPECT_THAT(resume->screen(), HasSubstr("1  awaiting_user")) << "the newest is the first";
  const Json older = praxis({"runs", "--json"}).items().back();
  EXPECT_THAT(resume->screen(), HasSubstr("praxis resume " + json_string(older, "id") + " --allow p1"));
  const auto none = at_terminal({"resume"});
  none->answer("Which run? [1-2, Enter: none]", "\n");
  EXPECT_EQ(none->finish(), 2);
  const auto piped = praxis({"resume"});
  EXPECT_EQ(piped.status, 2);
  EXPECT_THAT(piped.err, HasSubstr("which run? Name it by its id, its name or as last"));
}

TEST_F(CliDialog, LaterLeavesTheStepWithTheCommands) {
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "l\n");
  EXPECT_EQ(run->finish(), 3);
  EXPECT_THAT(run->screen(), HasSubstr("allow:   praxis resume " + last_run() + " --allow p1"));
}

TEST_F(CliDialog, LongCallIsAllowedOnlyAfterAllOfItWasShown) {
  model_calls({put("a", std::string(3000, 'x') + "THE END")});
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  const std::string menu = "[s]how all of it  [n]o  [e]dit  [l]ater:";
  run->answer(menu, "y\n");
  run->shows("longer than what was shown: type s first");
  run->answer(menu, "s\n");
  run->answer("Enter, or q to leave --", "q\n");
  run->answer(menu, "s\n");
  run->answer("Enter, or q to leave --", "\n");
  run->answer("Enter, or q to leave --", "\n");
  run->answer(kMenu, "y\n");
  EXPECT_EQ(run->finish(), 0);
}

TEST_F(CliDialog, CallThatChangesAFileShowsWhatWouldChange) {
  file("writes.toml",
       "id = 'writes'\nmodel = 'script:writes.jsonl'\n[tools.file]\nread = ['files']\nwrite = "
       "['files']\ncode = "
       "true\n[policy]\nask = ['file_write', 'edit']\n");
  file("files/a.txt", "one\ntwo\n");
  std::string many;
  for (int i = 0; i < 60; ++i) many += "line " + std::to_string(i) + "\\n";
  file(
      "writes.jsonl",
      R"({"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","edits":[{"old":"two","replacement":"2\u001b[2J"}]}}]})"
      "\n"
      R"({"tool_calls":[{"name":"edit","arguments":{"path":"a.txt","edits":[{"old":"three","replacement":"3"}]}}]})"
      "\n"
      R"({"tool_calls":[{"name":"file_write","arguments":{"path":"b.txt","content":")" +
          many +
          R"("}}]})"
          "\n"
          R"({"text":"Done."})"
          "\n");
  const auto run = at_terminal({"run", "writes.toml", "Change it"});
  const std::string menu = "[y]es once  [a]lways  [n]o  [e]dit  [l]ater:";
  run->shows("/files/a.txt\" (+1 -1)\n  # @@ -1,2 +1,2 @@\n  #  one\n  # -two\n  # +2\\u001b[2J\n");
  run->answer(menu, "l\n");
  EXPECT_EQ(run->finish(), 3);
  const std::string step = praxis({"approve", "p1"}).out;
  EXPECT_THAT(step, HasSubstr("  # -two\n  # +2\\u001b[2J\n  allow:   praxis approve"));
  file("files/a.txt", "zero\ntwo\n");
  const auto approve = at_terminal({"approve"}, {.columns = 80, .rows = 200});
  approve->shows("  #  zero\n  # -two\n");  // as the file is now
  approve->answer(menu, "y\n");
  approve->shows("  # would fail now: /edits/0/old does not occur in the file");
  approve->answer(menu, "n no\n");
  approve->shows("b.txt\" (+60)");
  approve->shows("  # ... 43 more lines of the change\n");
  approve->answer("[s]how all of it  [n]o  [e]dit  [l]ater:", "s\n");
  approve->shows("  # +line 59");
  approve->answer(menu, "l\n");
  EXPECT_EQ(approve->finish(), 3);
  EXPECT_EQ(contents("files/a.txt"), "zero\n2\x1b[2J\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "files/b.txt"));
}

TEST_F(CliDialog, NoInputAsksNothing) {
  const auto run = at_terminal({"run", "notes.toml", "Note it", "--no-input"});
  EXPECT_EQ(run->finish(), 3);
  EXPECT_THAT(run->screen(), AllOf(HasSubstr("p1 waits (approval)"), Not(HasSubstr("[y]es"))));
  const auto approve = at_terminal({"approve", "--no-input"});
  EXPECT_EQ(approve->finish(), 0);
  EXPECT_THAT(approve->screen(), AllOf(HasSubstr("allow:   praxis approve"), Not(HasSubstr("[y]es"))));
}

TEST_F(CliDialog, ApproveWalksThroughAllRuns) {
  model_calls({put("a")});
  ASSERT_EQ(praxis({"run", "notes.toml", "first"}).status, 3);
  ASSERT_EQ(praxis({"run", "notes.toml", "second"}).status, 3);
  ASSERT_EQ(praxis({"run", "notes.toml", "third"}).status, 3);
  const auto approve = at_terminal({"approve"});
  approve->shows("1 of 3: ");
  approve->answer(kMenu, "y\n");
  approve->shows("2 of 3: ");
  approve->answer(kMenu, "l\n");
  approve->shows("3 of 3: ");
  approve->answer(kMenu, "n\n");
  approve->answer("(may be empty):", "\n");
  EXPECT_EQ(approve->finish(), 3) << "one step is left";
  EXPECT_EQ(praxis({"approve", "--json"}).items().size(), 1U);
  const std::string runs = praxis({"runs", "--json"}).out;
  EXPECT_THAT(runs, HasSubstr("awaiting_user"));
}

TEST_F(CliDialog, CtrlCEndsTheQuestionAndTheRun) {
  const auto run = at_terminal({"run", "notes.toml", "Note it"});
  run->answer(kMenu, "\x03");
  EXPECT_EQ(run->finish(), 130);
  EXPECT_THAT(praxis({"runs", "--json"}).out, HasSubstr("cancelled"));
}

}  // namespace
}  // namespace praxis::testing
