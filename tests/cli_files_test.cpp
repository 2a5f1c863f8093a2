// What a run changed in files, as a user sees it and takes it back: `diff`, `undo`, `rewind --files`, `fork
// --files`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "praxis/process/sandbox.hpp"
#include "published_schema.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliFiles : public CommandLine {
 protected:
  CliFiles() {
    std::filesystem::create_directory(folder_ / "ws");
    file("ws/a.txt", "one\ntwo\nthree\n");
    file("coder.toml",
         "model = \"script:coder.jsonl\"\n[tools.file]\nread = [\"ws\"]\nwrite = [\"ws\"]\ncode = true\n");
  }

  static std::string calls(const std::string& tool, const Json& arguments) {
    return to_json_text(Json(
               JsonObject{{"tool_calls", JsonArray{JsonObject{{"name", tool}, {"arguments", arguments}}}}})) +
           '\n';
  }
  static std::string writes(const std::string& path, const std::string& content) {
    return calls("file_write", {{"path", path}, {"content", content}});
  }
  static std::string edits(const std::string& path, const std::string& old, const std::string& replacement) {
    return calls("edit", {{"path", path},
                          {"edits", JsonArray{JsonObject{{"old", old}, {"replacement", replacement}}}}});
  }
  static std::string says(const std::string& text) { return "{\"text\": \"" + text + "\"}\n"; }

  /// Two turns: the first edits `a.txt`, the second edits it again and makes `new/b.txt`.
  void two_turns() const {
    file("coder.jsonl", edits("a.txt", "two", "zwei") + says("Once.") + edits("a.txt", "three", "drei") +
                            writes("new/b.txt", "b\n") + says("Twice."));
    ASSERT_EQ(praxis({"run", "coder.toml", "go"}).status, 0);
    ASSERT_EQ(praxis({"resume", "last", "again"}).status, 0);
    ASSERT_EQ(contents("ws/a.txt"), "one\nzwei\ndrei\n");
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
};

TEST_F(CliFiles, Diff_ShowsWhatTheRunChanged) {
  two_turns();
  EXPECT_EQ(praxis({"diff", "last"}).out,
            "--- a/ws/a.txt\n+++ b/ws/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+zwei\n+drei\n"
            "--- /dev/null\n+++ b/ws/new/b.txt\n@@ -0,0 +1 @@\n+b\n");
  EXPECT_THAT(praxis({"diff", "last@t1"}).out, AllOf(HasSubstr("-three\n+drei"), Not(HasSubstr("-two"))));
  EXPECT_EQ(praxis({"diff", "last", "--stat"}).out, " ws/a.txt | +2 -2\n ws/new/b.txt | +1 -0, added\n");
  const CommandResult json = praxis({"diff", "last", "--json"});
  EXPECT_EQ(json_string(json.items().at(1), "status"), "added");
  EXPECT_EQ(json_int(json.last_line(), "changed_files"), 2);
  const PublishedSchema schema;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"diff", "last", "--json"}, {"undo", "last", "--dry-run", "--json"}, {"undo", "last", "--json"}}) {
    for (const Json& line : praxis(words).lines()) schema.check(line, words[0]);
  }
}

TEST_F(CliFiles, Diff_OfTwoTurnsCanBeAppliedInReverse) {
  two_turns();
  ASSERT_EQ(shell("praxis diff last | git apply -R").status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");
  EXPECT_FALSE(exists("ws/new/b.txt"));
}

TEST_F(CliFiles, Undo_RestoresAndRedoTakesItBack) {
  two_turns();
  EXPECT_THAT(praxis({"undo", "last", "--dry-run"}).out,
              AllOf(HasSubstr("restore  ws/a.txt"), HasSubstr("remove   ws/new/b.txt")));
  EXPECT_EQ(contents("ws/a.txt"), "one\nzwei\ndrei\n");

  EXPECT_EQ(praxis({"undo", "last", "--to", "t1"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\nzwei\nthree\n");
  EXPECT_FALSE(exists("ws/new"));
  EXPECT_EQ(praxis({"undo", "last"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");

  for (const char* after : {"one\nzwei\nthree\n", "one\nzwei\ndrei\n"}) {
    EXPECT_EQ(praxis({"undo", "last", "--redo"}).status, 0);
    EXPECT_EQ(contents("ws/a.txt"), after);
  }
  EXPECT_EQ(contents("ws/new/b.txt"), "b\n");
  EXPECT_EQ(praxis({"undo", "last", "--redo"}).status, 2);
}

TEST_F(CliFiles, Conflict_IsNamedAndStays) {
  two_turns();
  file("ws/a.txt", "mine\n");
  const CommandResult undone = praxis({"undo", "last"});
  EXPECT_EQ(undone.status, 1);
  EXPECT_THAT(undone.out,
              AllOf(HasSubstr("conflict ws/a.txt: changed since"), HasSubstr("removed  ws/new/b.txt")));
  EXPECT_EQ(contents("ws/a.txt"), "mine\n");
  EXPECT_FALSE(exists("ws/new/b.txt"));
}

TEST_F(CliFiles, RewindAndFork_TakeTheFilesBackToo) {
  two_turns();
  EXPECT_EQ(praxis({"rewind", "last@t2"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\nzwei\ndrei\n") << "without --files they stay";
  EXPECT_EQ(praxis({"rewind", "last@t1", "--files"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");
  ASSERT_EQ(praxis({"undo", "last", "--redo"}).status, 0);

  const CommandResult branch = praxis({"fork", "last@t1", "--files"});
  EXPECT_EQ(branch.status, 0) << branch.err;
  EXPECT_THAT(branch.err, HasSubstr("removed  ws/new/b.txt"));
  EXPECT_EQ(contents("ws/a.txt"), "one\nzwei\nthree\n");
}

TEST_F(CliFiles, ProgramInTheSandbox_IsTakenBack) {
  if (!probe_sandbox().full())
    PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
  file("shell.toml",
       "model = \"script:shell.jsonl\"\n[policy]\nallow = [\"shell\"]\n[tools.shell]\nfolder = \"ws\"\n");
  file(
      "shell.jsonl",
      calls("shell",
            {{"argv", JsonArray{"sh", "-c", "echo x >> a.txt; mkdir sub; echo y > sub/c; chmod +x sub/c"}}}) +
          says("Done."));
  ASSERT_EQ(praxis({"run", "shell.toml", "go"}).status, 0);
  EXPECT_THAT(praxis({"diff", "last"}).out, AllOf(HasSubstr("+x"), HasSubstr("+++ b/ws/sub/c")));
  EXPECT_EQ(praxis({"undo", "last"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");
  EXPECT_FALSE(exists("ws/sub"));
}

TEST_F(CliFiles, SubAgentsChanges_AreThoseOfTheRun) {
  file("lead.toml",
       "id = \"lead\"\nmodel = \"script:lead.jsonl\"\n[policy]\nallow = "
       "[\"file_write\"]\n[agents.helper]\nfile = \"coder.toml\"\ndescription = "
       "\"Helps\"\n");
  file("lead.jsonl", calls("helper", {{"prompt", "go"}}) + says("Led."));
  file("coder.jsonl", writes("a.txt", "by the helper\n") + says("Helped."));
  const CommandResult run = praxis({"run", "lead.toml", "go"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(praxis({"diff", "last"}).out, HasSubstr("+by the helper"));
  EXPECT_EQ(praxis({"undo", "last"}).status, 0);
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");
}

TEST_F(CliFiles, Chat_ShowsTheDiffAndTakesItBackWhenAskedTwice) {
  file("coder.jsonl", edits("a.txt", "two", "zwei") + says("Once."));
  const CommandResult chat =
      shell("printf 'go\\n/diff\\n/undo\\n/undo\\n/undo redo\\n/quit\\n' | praxis chat coder.toml --plain");
  EXPECT_THAT(chat.out, AllOf(HasSubstr("-two\n+zwei\n"), HasSubstr("/undo again changes 1 file"),
                              HasSubstr("restored ws/a.txt"), HasSubstr("/undo redo again changes 1 file")));
  EXPECT_EQ(contents("ws/a.txt"), "one\ntwo\nthree\n");
}

TEST_F(CliFiles, RemovedRuns_LeaveNoContents) {
  two_turns();
  const auto history = folder_ / "state/praxis/journal.db.files";
  ASSERT_TRUE(std::filesystem::exists(history));
  EXPECT_EQ(std::filesystem::status(history).permissions(), std::filesystem::perms(0600));
  ASSERT_EQ(praxis({"runs", "rm", "last", "--yes"}).status, 0);
  EXPECT_EQ(shell("strings state/praxis/journal.db.files* | grep -c zwei || true").out.substr(0, 1), "0");
}

TEST_F(CliFiles, KeepSetToFalse_KeepsNothing) {
  options_.env["PRAXIS_FILES_KEEP"] = "false";
  two_turns();
  EXPECT_FALSE(exists("state/praxis/journal.db.files"));
  const CommandResult nothing = praxis({"diff", "last"});
  EXPECT_EQ(nothing.status, 0);
  EXPECT_EQ(nothing.out, "");
}

// ---- 20 scripted coding runs, each taken back to every step

class CliFilesRuns : public CliFiles, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "ws"))
      all[entry.path().lexically_relative(folder_)] =
          entry.is_directory() ? "/" : contents(entry.path().lexically_relative(folder_));
    return all;
  }
};

TEST_P(CliFilesRuns, FilesAreAsTheyWereAfterEachStep_AndAPersonsFileStays) {
  constexpr int kSteps = 4;
  std::mt19937 random(GetParam());
  std::vector<std::map<std::string, std::string>> points{tree()};
  std::string script;
  for (int step = 0; step < kSteps; ++step) {
    const std::string path = "d" + std::to_string(random() % 2) + "/f" + std::to_string(random() % 2);
    const std::string text = std::to_string(random()) + '\n';
    script += writes(path, text);
    points.push_back(points.back());
    points.back()["ws/" + path.substr(0, 2)] = "/";
    points.back()["ws/" + path] = text;
  }
  file("coder.jsonl", script + says("Done."));
  ASSERT_EQ(praxis({"run", "coder.toml", "go"}).status, 0);
  ASSERT_EQ(tree(), points.back());
  file("ws/mine.txt", "mine");
  for (int step = kSteps - 1; step >= 0; --step) {
    const std::string to = step == 0 ? "last" : "last@" + std::to_string(step);
    const CommandResult undone = praxis({"undo", to});
    ASSERT_EQ(undone.status, 0) << undone.err;
    auto expected = points[static_cast<std::size_t>(step)];
    expected["ws/mine.txt"] = "mine";
    EXPECT_EQ(tree(), expected) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, CliFilesRuns, ::testing::Range(0U, 20U));

}  // namespace
}  // namespace praxis::testing
