// `praxis replay` with changes, as its users see it (docs/replay.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "command_line.hpp"
#include "published_schema.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CliReplay : public CommandLine {
 protected:
  CliReplay() {
    file("note.txt", "The parser is slow.\n");
    file("reader.jsonl",
         "{\"tool_calls\": [{\"name\": \"file_read\", \"arguments\": {\"op\": \"read\", \"path\": "
         "\"note.txt\"}}]}\n"
         "{\"text\": \"It is the parser.\"}\n");
    file("reader.toml", "model = \"script:reader.jsonl\"\n[tools.file]\nread = [\".\"]\n[tools.kv]\n");
  }
  void SetUp() override {
    ASSERT_EQ(praxis({"run", "reader.toml", "What does the note say?"}).status, 0);
    run_ = last_run();
    recorded_ = exported();
  }
  /// No test changes the recorded run.
  void TearDown() override { EXPECT_EQ(exported(), recorded_); }

  std::string exported() const { return praxis({"export", run_}).out; }
  std::size_t runs() const { return praxis({"runs", "--json", "-n", "0"}).items().size(); }
  CommandResult replay(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"replay", run_, "--json"};
    all.insert(all.end(), words.begin(), words.end());
    return praxis(all);
  }
  /// The differences of the n-th step, as `field: recorded -> now`.
  static std::vector<std::string> differences(const CommandResult& result, std::size_t index) {
    std::vector<std::string> found;
    const Json item = result.items().at(index);
    for (const Json& each : json_at(item, "differences").get_array()) {
      found.push_back(json_string(each, "field") + ": " + json_string(each, "recorded") + " -> " +
                      json_string(each, "now"));
    }
    return found;
  }

  std::string run_;       ///< the recorded run
  std::string recorded_;  ///< its export
};

TEST_F(CliReplay, RecordedResults_NeedNeitherToolNorModel) {
  std::filesystem::remove(folder_ / "note.txt");
  const CommandResult same = replay({"--tool", "file_read=recorded"});
  EXPECT_EQ(same.status, 0) << same.err;
  ASSERT_THAT(same.items(), SizeIs(2));
  EXPECT_THAT(differences(same, 0), IsEmpty());
  EXPECT_THAT(differences(same, 1), IsEmpty());
  EXPECT_EQ(json_int(same.last_line(), "differing_steps"), 0);
  EXPECT_EQ(json_int(same.last_line().at("now"), "recorded_answers"), 2);
}

TEST_F(CliReplay, ToolThatFails_ShowsTheStepThatDiffers) {
  const CommandResult changed = replay({"--tool", "file_read=fail"});
  EXPECT_EQ(changed.status, 0) << changed.err;
  ASSERT_THAT(changed.items(), SizeIs(2));
  ASSERT_THAT(differences(changed, 0), SizeIs(1));
  EXPECT_THAT(differences(changed, 0).front(), HasSubstr("result: The parser is slow."));
  EXPECT_THAT(differences(changed, 0).front(), HasSubstr(" -> the tool failed"));
  EXPECT_EQ(json_int(changed.last_line().at("now"), "recorded_answers"), 1)
      << "the model is asked about the conversation that is new";
  const std::string made = json_string(changed.last_line(), "changed_run_id");
  EXPECT_THAT(praxis({"show", made}).out, HasSubstr("the tool failed"));
  EXPECT_THAT(praxis({"runs", "--tag", "counterfactual", "--json"}).items(), SizeIs(1));
  const PublishedSchema schema;
  for (const Json& line : changed.lines()) schema.check(line, "replay with changes");
}

TEST_F(CliReplay, StaticAndLiveResults_ReplaceTheRecordedOnes) {
  file("other.txt", "The lexer is slow.");
  EXPECT_THAT(differences(replay({"--tool", "file_read=static:other.txt"}), 0).front(),
              HasSubstr("-> The lexer is slow."));
  file("note.txt", "The linker is slow.\n");
  EXPECT_THAT(differences(replay({"--tool", "file_read=live"}), 0).front(),
              HasSubstr("-> The linker is slow."));
}

TEST_F(CliReplay, ModelAndPrompt_AreReplaced) {
  file("blunt.jsonl", "{\"text\": \"No.\"}\n");
  const CommandResult model = replay({"--model", "script:blunt.jsonl"});
  EXPECT_EQ(model.status, 0) << model.err;
  EXPECT_THAT(differences(model, 0).front(), HasSubstr("text:  -> No."));
  EXPECT_THAT(differences(model, 1).front(), HasSubstr("step: It is the parser. -> ")) << "step 2 is gone";
  const CommandResult prompt = replay({"--prompt", "Read it aloud"});
  EXPECT_EQ(json_int(prompt.last_line().at("now"), "recorded_answers"), 0);
  const std::string made = json_string(prompt.last_line(), "changed_run_id");
  EXPECT_THAT(praxis({"show", made}).out, HasSubstr("Read it aloud"));
}

TEST_F(CliReplay, From_KeepsWhatIsBefore) {
  file("blunt.jsonl", "{\"text\": \"unused\"}\n{\"text\": \"No.\"}\n");
  const CommandResult second = replay({"--from", "2", "--model", "script:blunt.jsonl"});
  EXPECT_EQ(second.status, 0) << second.err;
  ASSERT_THAT(second.items(), SizeIs(1));
  EXPECT_THAT(differences(second, 0).front(), HasSubstr("text: It is the parser. -> No."));
  EXPECT_EQ(replay({"--from", "2", "--prompt", "x"}).status, 2);
  EXPECT_EQ(replay({"--from", "t9"}).status, 2);
  EXPECT_EQ(replay({"--from", "x"}).status, 2);
  EXPECT_EQ(replay({"--tool", "file_read"}).status, 2);
  const CommandResult gone = replay({"--tool", "file_read=static:none.txt"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("error: cannot read \"none.txt\": No such file"));
}

TEST_F(CliReplay, SeveralTurns_AreSentAgain) {
  file("two.jsonl", "{\"text\": \"One.\"}\n{\"text\": \"Two.\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:two.jsonl", "First"}).status, 0);
  const std::string two = last_run();
  ASSERT_EQ(praxis({"resume", two, "Second"}).status, 0);
  const CommandResult all = praxis({"replay", two, "--from", "t1", "--json"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.items(), SizeIs(2));
  EXPECT_EQ(json_int(all.last_line(), "differing_steps"), 0);
  EXPECT_EQ(json_int(all.last_line().at("now"), "recorded_answers"), 2);
}

TEST_F(CliReplay, LiveToolThatNeedsApproval_WaitsAlthoughTheRecordHasOne) {
  file("notes.jsonl",
       "{\"tool_calls\": [{\"name\": \"kv\", \"arguments\": {\"op\": \"put\", \"key\": \"k\", \"value\": "
       "\"v\"}}]}\n{\"text\": \"Noted.\"}\n");
  file("notes.toml", "model = \"script:notes.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "notes.toml", "Note it"}).status, 3);
  const std::string notes = last_run();
  ASSERT_EQ(praxis({"resume", notes, "--allow", "p1"}).status, 0);
  const CommandResult recorded = praxis({"replay", notes, "--from", "t1", "--json"});
  EXPECT_EQ(recorded.status, 0) << recorded.out << recorded.err;
  EXPECT_EQ(json_int(recorded.last_line(), "differing_steps"), 0);
  const CommandResult live = praxis({"replay", notes, "--tool", "kv=live", "--json"});
  EXPECT_EQ(live.status, 3) << live.out << live.err;
  EXPECT_TRUE(live.last_line().at("now").at("termination").is_null());
}

TEST_F(CliReplay, LogThatDiverges_IsNotChanged) {
  std::string edited = recorded_;
  const auto at = edited.find("The parser is slow.");
  ASSERT_NE(at, std::string::npos);
  edited.replace(at, 10, "The lexer ");
  file("edited.jsonl", edited);
  ASSERT_EQ(praxis({"import", "edited.jsonl", "--journal", "other.db"}).status, 0);
  const CommandResult refused =
      praxis({"replay", "last", "--journal", "other.db", "--tool", "file_read=fail", "--json"});
  EXPECT_EQ(refused.status, 7) << refused.err;
  EXPECT_FALSE(json_bool(refused.last_line(), "identical"));
  EXPECT_TRUE(refused.last_line().at("changed_run_id").is_null());
  EXPECT_THAT(praxis({"runs", "--journal", "other.db", "--json"}).items(), SizeIs(1));
}

TEST_F(CliReplay, AgentThatNowDeniesTheCall_IsNotTheSameUnchanged) {
  file("reader.toml",
       "model = \"script:reader.jsonl\"\n[tools.file]\nread = [\".\"]\n[tools.kv]\n[policy]\ndeny = "
       "[\"file_read\"]\n");
  const std::vector<std::string> words{"replay", run_, "--tool", "file_read=fail"};
  const CommandResult asks = praxis(words);
  EXPECT_EQ(asks.status, 2) << "files of the agent changed";
  const CommandResult refused = replay({"--tool", "file_read=fail", "--accept-agent", digest_in(asks)});
  EXPECT_EQ(refused.status, 7) << refused.err;
  EXPECT_FALSE(json_bool(refused.last_line(), "identical"));
  EXPECT_THAT(differences(refused, 0).front(), HasSubstr("result: The parser is slow."));
  EXPECT_THAT(refused.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(runs(), 1U);
}

}  // namespace
}  // namespace praxis::testing
