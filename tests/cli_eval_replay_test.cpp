// `praxis eval --replay` as its users see it (docs/evals.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "mcp_agent.hpp"
#include "net/testing/test_server.hpp"
#include "published_schema.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kNotesTape = "cassette:" PRAXIS_SOURCE_DIR "/tests/cassettes/notes";

/// An answer of a server that calls `file_read`, or that says the text.
std::string chat_answer(bool calls) {
  const Json message =
      calls ? Json(JsonObject{
                  {"content", nullptr},
                  {"tool_calls",
                   JsonArray{JsonObject{
                       {"id", "c1"},
                       {"type", "function"},
                       {"function", JsonObject{{"name", "file_read"},
                                               {"arguments", R"({"op": "read", "path": "note.txt"})"}}}}}}})
            : Json(JsonObject{{"content", "It is the parser."}});
  return to_json_text(JsonObject{
      {"id", "r"},
      {"model", "demo-1"},
      {"choices", JsonArray{JsonObject{
                      {"index", 0}, {"message", message}, {"finish_reason", calls ? "tool_calls" : "stop"}}}},
      {"usage", JsonObject{{"prompt_tokens", 100}, {"completion_tokens", 10}}}});
}

class EvalReplay : public CliMcp {
 protected:
  EvalReplay() {
    options_.env["LLAMACPP_BASE_URL"] = server_.url("/v1");
    file("note.txt", "The parser is slow.\n");
    agent_file();
    suite("{ contains = \"parser\" }, { tools = [\"file_read\"], order = \"exactly\" }");
  }
  void agent_file(const std::string& more = "", const std::string& first = "") const {
    file("reader.toml", first + "[tools.file]\nread = [\".\"]\n" + more);
  }
  void suite(const std::string& checks, const std::string& prompt = "What does the note say?",
             const std::string& more = "") const {
    file("suite.toml",
         "[[variants]]\nname = \"reader\"\nagent = \"reader.toml\"\nmodel = \"llamacpp:demo-1\"\n"
         "[[cases]]\nid = \"note\"\nprompt = \"" +
             prompt + "\"\nchecks = [" + checks +
             "]\n"
             "[[cases]]\nid = \"wrong\"\nprompt = \"What is it?\"\nchecks = [{ contains = \"lexer\" }]\n" +
             more);
  }
  CommandResult eval(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"eval", "suite.toml", "--json", "-j", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return praxis(words);
  }
  /// The runs with what a replay must keep: all members but whether the journal had them.
  static std::string verdicts(const CommandResult& result) {
    std::string all;
    for (Json item : result.items()) {
      item.as_object().erase("from_journal");
      all += to_json_text(item) + '\n';
    }
    return all;
  }
  static std::string problem(const CommandResult& result, std::size_t index = 0) {
    const Json item = result.items().at(index);
    const JsonArray& problems = json_at(item, "problems").get_array();
    return json_string(item, "verdict") + (problems.empty() ? "" : ": " + to_plain_text(problems.front()));
  }
  std::string journal() const {
    std::string all;
    for (const Json& run : praxis({"runs", "--json", "-n", "0"}).items())
      all += praxis({"export", json_string(run, "run_id")}).out;
    return all;
  }

  /// Each session of the journal that an evaluation made, with the number of its records.
  std::vector<std::string> sizes() const {
    std::vector<std::string> all;
    for (const Json& run : praxis({"runs", "--tag", "eval", "--json", "-n", "0"}).items()) {
      const std::string id = json_string(run, "run_id");
      all.push_back(id + ' ' + std::to_string(praxis({"logs", id, "--json"}).items().size()));
    }
    return all;
  }

  std::atomic<int> asked_ = 0;
  TestServer server_{[this](const TestRequest& request, TestConnection& to) {
    ++asked_;
    to.write(http_reply(200, chat_answer(!request.body.contains("\"tool\""))));
  }};
};

TEST_F(EvalReplay, VerdictsAreTheSame_WithoutModelsToolsOrNewRecords) {
  const CommandResult first = eval();
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(problem(first, 0), "passed");
  EXPECT_THAT(problem(first, 1), HasSubstr("failed"));
  EXPECT_EQ(asked_, 4);
  std::filesystem::remove(folder_ / "note.txt");
  const std::string before = journal();
  const CommandResult again = eval({"--replay"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(verdicts(again), verdicts(first)) << "with steps, usage, cost and duration";
  EXPECT_EQ(asked_, 4) << "no model is asked";
  EXPECT_EQ(journal(), before);
  const PublishedSchema schema;
  for (const Json& line : again.lines()) schema.check(line, "eval --replay");
}

TEST_F(EvalReplay, ChangedCheck_JudgesTheRecordedAnswer) {
  ASSERT_EQ(eval().status, 0);
  suite("{ contains = \"linker\" }");
  const CommandResult again = eval({"--replay", "--threshold", "0.5"});
  EXPECT_EQ(again.status, 8) << again.err;
  EXPECT_THAT(problem(again), HasSubstr("failed: "));
  suite("{ max_steps = 2 }");
  EXPECT_EQ(problem(eval({"--replay"})), "passed");
  EXPECT_EQ(asked_, 4);
}

TEST_F(EvalReplay, RequestThatDiffers_FailsWithItsStepAndWhy) {
  ASSERT_EQ(eval().status, 0);
  const auto differs = [&](const std::string& what) {
    const CommandResult again = eval({"--replay", "--threshold", "0"});
    EXPECT_EQ(again.status, 7) << what;
    EXPECT_THAT(problem(again), AllOf(HasSubstr("error: step "), HasSubstr(what)));
    EXPECT_THAT(again.err, HasSubstr("runs are not as recorded"));
  };
  suite("{ max_steps = 2 }", "What did the note say?");
  differs("step 1 asks the model something else");
  differs("the prompt differs");
  suite("{ max_steps = 2 }");
  agent_file("", "instructions = \"Be brief.\"\n");
  differs("the instructions differ");
  agent_file("[tools.kv]\n");
  differs("the tool \"kv\" is new");
  agent_file("[options]\ntemperature = 0.5\n");
  differs("the options of the model differ");
  agent_file("[policy]\ndeny = [\"file_read\"]\n");
  differs("step 2 asks the model something else");
  agent_file();
  EXPECT_EQ(eval({"--replay"}).status, 0);
  EXPECT_EQ(asked_, 4);
}

TEST_F(EvalReplay, CallWithoutARecordedResult_IsNamed) {
  agent_file("[policy]\ndeny = [\"file_read\"]\n");
  ASSERT_EQ(eval().status, 0);
  agent_file();
  const CommandResult again = eval({"--replay"});
  EXPECT_EQ(again.status, 7);
  EXPECT_THAT(problem(again), AllOf(HasSubstr("step 1 calls \"file_read\""), HasSubstr("has no result")));
}

TEST_F(EvalReplay, LimitsCount_AndTheNewestRunOfTheCaseIsTaken) {
  ASSERT_EQ(eval().status, 0);
  agent_file("[limits]\nmax_steps = 1\n");
  const CommandResult shorter = eval({"--replay"});
  EXPECT_EQ(shorter.status, 0) << shorter.err;
  EXPECT_THAT(problem(shorter), HasSubstr("failed: the run ended by max_steps"));
  agent_file("[limits]\nmax_steps = 9\n");
  EXPECT_EQ(problem(eval({"--replay"})), "passed");
  EXPECT_EQ(asked_, 4);
}

TEST_F(EvalReplay, CaseThatNeverRan_HasNoVerdict) {
  const CommandResult none = eval({"--replay"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(problem(none), HasSubstr("error: no run of this case is recorded"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(EvalReplay, RunThatWaits_StillWaits) {
  agent_file("[policy]\nask = [\"file_read\"]\n");
  const CommandResult first = eval();
  EXPECT_THAT(problem(first), HasSubstr("waiting"));
  EXPECT_EQ(verdicts(eval({"--replay"})), verdicts(eval()));
}

TEST_F(EvalReplay, JudgeOfAProvider_OnlyGivesWhatItSaid) {
  const auto judged = [&](const std::string& rubric, const std::string& judge) {
    suite("{ judge = \"" + rubric + "\" }", "What does the note say?",
          "[judge]\nmodel = \"" + judge + "\"\n");
  };
  file("judge.jsonl", R"({"text": "{\"reason\": \"so\", \"pass\": true}"})");
  judged("It names a part.", "script:judge.jsonl");
  ASSERT_EQ(problem(eval()), "passed");
  EXPECT_EQ(problem(eval({"--replay"})), "passed") << "the judgement is recorded";
  judged("It names the slow part.", "llamacpp:demo-1");
  const int asked = asked_;
  const CommandResult unjudged = eval({"--replay"});
  EXPECT_EQ(unjudged.status, 1);
  EXPECT_THAT(problem(unjudged), HasSubstr("no judgement of this answer by this rubric is recorded"));
  EXPECT_EQ(asked_, asked);
  judged("It names the slow part.", "script:judge.jsonl");
  EXPECT_EQ(problem(eval({"--replay"})), "passed") << "a scripted judge needs no network";
}

TEST_F(EvalReplay, JudgeThatIsARoute_OnlyGivesWhatItSaid) {
  ASSERT_EQ(eval().status, 0);
  const int asked = asked_;
  file("judge.jsonl", R"({"text": "{\"reason\": \"so\", \"pass\": true}"})");
  const std::vector<std::string> routes{"llamacpp:demo-1|script:judge.jsonl", "llamacpp:demo-1|" + kNotesTape,
                                        kNotesTape + "|llamacpp:demo-1"};
  for (const std::string& judge : routes) {
    suite("{ judge = \"It names a part.\" }", "What does the note say?",
          "[judge]\nmodel = \"" + judge + "\"\n");
    const CommandResult again = eval({"--replay"});
    EXPECT_EQ(again.status, 1) << judge;
    EXPECT_THAT(problem(again), HasSubstr("no judgement of this answer by this rubric is recorded")) << judge;
  }
  EXPECT_EQ(asked_, asked);
}

TEST_F(EvalReplay, ScriptedJudge_LeavesTheJournalAsItIs) {
  file("labels.jsonl", R"({"case": "note", "answer": "It is the lexer.", "pass": false})");
  file("judge.jsonl", R"({"text": "{\"reason\": \"vague\", \"pass\": false}"})");
  const auto judged = [&](const std::string& rubric) {
    suite("{ judge = \"" + rubric + "\" }", "What does the note say?",
          "[judge]\nmodel = \"script:judge.jsonl\"\nlabels = \"labels.jsonl\"\n");
  };
  judged("It names a part.");
  const CommandResult first = eval();
  ASSERT_THAT(problem(first), HasSubstr("failed: judge: vague (run "));
  const std::vector<std::string> before = sizes();
  ASSERT_THAT(before, SizeIs(4)) << "two runs, the judgement of one, and that of the label";
  EXPECT_EQ(verdicts(eval({"--replay"})), verdicts(first)) << "the judgement is recorded";
  EXPECT_EQ(sizes(), before);
  judged("It names the slow part.");
  const CommandResult again = eval({"--replay"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(problem(again), "failed: judge: vague") << "no run is named, as the journal has none";
  EXPECT_EQ(json_int(json_at(again.last_line(), "judge"), "agreed"), 1);
  EXPECT_EQ(sizes(), before);
}

TEST_F(EvalReplay, RouteWithACassette_IsAnsweredFromTheRecordsOnly) {
  file("suite.toml", "[[variants]]\nname = \"route\"\nmodel = \"" + kNotesTape +
                         "|llamacpp:demo-1\"\n[[cases]]\nid = \"a\"\nprompt = \"I live in "
                         "Lisbon.\"\nchecks = [{ contains = \"Lisbon\" }]\n");
  const CommandResult again = eval({"--replay"});
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_THAT(problem(again), HasSubstr("error: no run of this case is recorded"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(EvalReplay, ServersOfTools_AreNotStarted) {
  agent("usual", calls("echo", R"({"text": "from the server"})"));
  const std::string table = contents("agent.toml");
  const auto at = table.find("command");
  ASSERT_NE(at, std::string::npos) << table;
  file("suite.toml",
       "[[variants]]\nname = \"mcp\"\nagent = \"agent.toml\"\n"
       "[[cases]]\nid = \"a\"\nprompt = \"go\"\nchecks = [{ contains = \"DONE\" }, { tools = [\"fix__echo\"] "
       "}]\n");
  const CommandResult first = eval();
  ASSERT_EQ(problem(first), "passed") << first.err;
  std::filesystem::remove(notes_path());
  const CommandResult again = eval({"--replay"});
  EXPECT_EQ(again.status, 0) << again.err << problem(again);
  EXPECT_EQ(verdicts(again), verdicts(first));
  EXPECT_FALSE(std::filesystem::exists(notes_path()));
}

TEST_F(EvalReplay, Cassette_AnswersAndToolsComeFromTheLog) {
  const auto tape = [&](const std::string& agent) {
    file("suite.toml", "[[variants]]\nname = \"tape\"\n" + agent +
                           "model = \"cassette:" PRAXIS_SOURCE_DIR
                           "/tests/cassettes/notes\"\n[[cases]]\nid = \"a\"\nprompt = \"I live in "
                           "Lisbon.\"\nchecks = [{ contains = \"Lisbon\" }]\n");
  };
  tape("");
  EXPECT_EQ(problem(eval({"--replay"})), "passed") << "no run has to be recorded";
  file("notes.toml", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  tape("agent = \"notes.toml\"\n");
  const CommandResult alone = eval({"--replay"});
  EXPECT_EQ(alone.status, 7) << alone.err;
  EXPECT_THAT(problem(alone), HasSubstr("step 1 calls \"kv\""));
  EXPECT_EQ(problem(eval()), "passed");
  EXPECT_EQ(problem(eval({"--replay"})), "passed");
}

}  // namespace
}  // namespace praxis::testing
