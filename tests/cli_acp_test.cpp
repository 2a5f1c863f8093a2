// `praxis acp`: editors talk to agents, and what they see is a projection of the journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CliAcp : public CommandLine {
 protected:
  void agent(const std::string& name, const std::string& script, const std::string& more = "") const {
    const auto lines = file("scripts/" + name + ".jsonl", script);
    file("config/praxis/agents/" + name + ".toml", "model = \"script:" + lines.string() + "\"\n" + more);
  }
  void writer() const {
    agent(
        "writer",
        R"({"reasoning": "Let me see.", "tool_calls": [{"name": "file_write", "arguments": {"path": "note.txt", "content": "new\n"}}]})"
        "\n{\"text\": \"DONE\"}\n{\"text\": \"More.\"}\n",
        "[tools.file]\nread = [\"work\"]\nwrite = [\"work\"]\n[policy]\nask = [\"file_write\"]\n");
    file("work/note.txt", "old\n");
  }
  CommandResult client(const std::string& scenario, const std::string& name) const {
    return run({"python3", PRAXIS_SOURCE_DIR "/tests/acp/client.py", scenario, folder_.string(),
                PRAXIS_BINARY_DIR "/praxis", "acp", name},
               options_);
  }
  /// The updates of one kind.
  static std::vector<Json> updates(const CommandResult& result, const std::string& kind) {
    std::vector<Json> all;
    for (const Json& line : result.lines()) {
      const Json& update = json_at(json_at(line, "params"), "update");
      if (json_string(update, "sessionUpdate") == kind) all.push_back(update);
    }
    return all;
  }
  static std::string text_of(const CommandResult& result, const std::string& kind) {
    std::string text;
    for (const Json& each : updates(result, kind))
      text += json_string(json_at(each, "content"), "text") + '|';
    return text;
  }
  static std::vector<std::string> answers(const CommandResult& result, const std::string& member) {
    std::vector<std::string> all;
    for (const Json& line : result.lines()) {
      const std::string found = json_string(json_at(line, "result"), member);
      if (!found.empty()) all.push_back(found);
    }
    return all;
  }
  static std::vector<Json> questions(const CommandResult& result) {
    std::vector<Json> all;
    for (const Json& line : result.lines()) {
      if (!json_at(line, "id").is_null() && !json_at(line, "method").is_null()) all.push_back(line);
    }
    return all;
  }
};

TEST_F(CliAcp, Conversation_IsARunOfTheJournal) {
  agent("first", "{\"reasoning\": \"Why?\", \"text\": \"Hello.\", \"chunk\": 3}\n");
  agent("other", "{\"text\": \"I am the other.\"}\n{\"text\": \"I am the other.\"}\n");
  const CommandResult talk = client("talk", "first");
  ASSERT_EQ(talk.status, 0) << talk.err << talk.out;
  EXPECT_THAT(talk.out, AllOf(HasSubstr(R"("protocolVersion": 1)"), HasSubstr(R"("loadSession": true)")));
  EXPECT_THAT(text_of(talk, "agent_thought_chunk"), HasSubstr("Why|?"));
  const std::string said = text_of(talk, "agent_message_chunk");
  EXPECT_THAT(said, HasSubstr("Hel|lo.|")) << "in the pieces of the model";
  EXPECT_THAT(said, HasSubstr("|Hello.|")) << "and once more when the session is loaded";
  EXPECT_THAT(text_of(talk, "user_message_chunk"), HasSubstr("Hi|And you?|"));
  EXPECT_THAT(answers(talk, "stopReason"), ElementsAre("end_turn", "end_turn"));
  EXPECT_THAT(talk.out, AllOf(HasSubstr("is not open here"), HasSubstr("no/such/method")));
  std::string listed;
  for (const Json& line : talk.lines()) {
    const Json& sessions = json_at(json_at(line, "result"), "sessions");
    if (sessions.is_array()) listed = to_json_text(sessions);
  }
  const std::string run = answers(talk, "sessionId").front();
  EXPECT_THAT(listed, AllOf(HasSubstr(run), HasSubstr("\"title\":\"Hi\""), HasSubstr(folder_.string())));
  const CommandResult show = praxis({"show", run});
  EXPECT_THAT(show.out, AllOf(HasSubstr("Hello."), HasSubstr("And you?")));
  EXPECT_EQ(praxis({"replay", run}).status, 0);
}

TEST_F(CliAcp, Permission_AllowsOnceOrFromNowOn_AndDenies) {
  writer();
  const CommandResult result = client("allow", "writer");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto asked = questions(result);
  ASSERT_EQ(asked.size(), 3U) << "the fourth call is allowed by the rule that was saved";
  const Json& call = json_at(json_at(asked[0], "params"), "toolCall");
  EXPECT_EQ(json_string(call, "kind"), "edit");
  EXPECT_THAT(to_json_text(call), AllOf(HasSubstr(R"("newText":"new\n","oldText":"old\n")"),
                                        HasSubstr((folder_ / "work/note.txt").string())));
  EXPECT_THAT(to_json_text(asked[2]), HasSubstr("whenever its arguments are exactly these"));
  std::string ends;
  for (const Json& update : updates(result, "tool_call_update")) ends += json_string(update, "status") + ' ';
  EXPECT_EQ(ends, "in_progress completed failed in_progress completed in_progress completed ");
  EXPECT_EQ(contents("work/note.txt"), "new\n");
  EXPECT_THAT(praxis({"logs", "last", "--json"}).out, Not(HasSubstr("step.parked")));
}

TEST_F(CliAcp, Cancel_EndsTheTurnAndWithdrawsTheQuestion) {
  writer();
  const CommandResult result = client("cancel", "writer");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  EXPECT_THAT(answers(result, "stopReason"), ElementsAre("cancelled"));
  EXPECT_THAT(result.out, HasSubstr("$/cancel_request"));
  EXPECT_EQ(contents("work/note.txt"), "old\n");
  EXPECT_THAT(praxis({"logs", "last", "--json"}).out, HasSubstr("turn.cancelled"));
}

TEST_F(CliAcp, LoadAfterAKill_ShowsWhatWasAndAsksAgain) {
  writer();
  const CommandResult result = client("kill", "writer");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  ASSERT_EQ(questions(result).size(), 2U) << "before and after the kill";
  EXPECT_THAT(text_of(result, "user_message_chunk"), "once|");
  EXPECT_THAT(text_of(result, "agent_message_chunk"), "DONE|More.|");
  EXPECT_THAT(answers(result, "stopReason"), ElementsAre("end_turn"));
  EXPECT_EQ(contents("work/note.txt"), "new\n");
}

TEST_F(CliAcp, QuestionOfTheAgent_IsAFormOrIsAnsweredByTheNextPrompt) {
  agent("asker",
        R"({"tool_calls": [{"name": "ask_user", "arguments": {"question": "Which colour?"}}]})"
        "\n{\"text\": \"Thank you.\"}\n",
        "[tools.ask_user]\n");
  const CommandResult by_prompt = client("question", "asker");
  ASSERT_EQ(by_prompt.status, 0) << by_prompt.err << by_prompt.out;
  EXPECT_THAT(text_of(by_prompt, "agent_message_chunk"),
              AllOf(HasSubstr("Which colour?"), HasSubstr("Thank yo|u.")));
  EXPECT_THAT(answers(by_prompt, "stopReason"), ElementsAre("end_turn", "end_turn"));
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("blue"));
  const CommandResult by_form = client("form", "asker");
  ASSERT_EQ(by_form.status, 0) << by_form.err << by_form.out;
  EXPECT_THAT(by_form.out, HasSubstr("elicitation/create"));
  EXPECT_THAT(answers(by_form, "stopReason"), ElementsAre("end_turn"));
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("green"));
}

TEST_F(CliAcp, SkillIsASlashCommand_AndADeletedSessionIsGone) {
  file("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people\n---\nBe kind.\n");
  agent("host", "{\"text\": \"Hello, team.\"}\n", "[tools.skills]\nfolders = [\"skills\"]\n");
  const CommandResult result = client("skills", "host");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto commands = updates(result, "available_commands_update");
  ASSERT_EQ(commands.size(), 1U) << result.out;
  EXPECT_THAT(to_json_text(commands[0]), AllOf(HasSubstr(R"("name":"greet","description":"Greets people")"),
                                               HasSubstr(R"("input":{"hint":)")));
  EXPECT_THAT(result.out, HasSubstr(R"(Use the skill \"greet\".\n\nthe team)")) << "what the model reads";
  EXPECT_THAT(result.out, AllOf(HasSubstr(R"("delete": {})"), HasSubstr("there is no session"),
                                HasSubstr(R"("sessions": [])")));
}

/// The calls of `names`, one for each answer of a scripted model.
std::string script_of(const std::vector<std::string>& calls) {
  std::string script;
  for (const std::string& call : calls) script += "{\"tool_calls\": [" + call + "]}\n";
  return script + "{\"text\": \"DONE\"}\n";
}
constexpr const char* kFileRules = "[tools.file]\nread = [\"work\"]\nwrite = [\"work\"]\ncode = true\n";
constexpr const char* kReadNote = R"({"name": "file_read", "arguments": {"op": "read", "path": "note.txt"}})";
constexpr const char* kEditNote =
    R"({"name": "edit", "arguments": {"path": "note.txt", "edits": [{"old": "unsaved", "replacement": "edited"}]}})";

TEST_F(CliAcp, FilesOfTheEditor_AreReadAndWrittenWithWhatIsNotSaved) {
  file("work/note.txt", "saved\n");
  file("work/other.txt", "other\n");
  file("work/.env", "KEY=1\n");
  file("outside.txt", "no\n");
  agent("coder",
        script_of({kReadNote, kEditNote,
                   R"({"name": "file_write", "arguments": {"path": "other.txt", "content": "new\n"}})",
                   R"({"name": "file_read", "arguments": {"op": "read", "path": ".env"}})",
                   R"({"name": "file_read", "arguments": {"op": "read", "path": "../outside.txt"}})"}),
        kFileRules);
  const CommandResult result = client("files", "coder");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  std::string asked;
  for (const Json& question : questions(result)) {
    const std::string path = json_string(json_at(question, "params"), "path");
    asked += json_string(question, "method") + ' ' + path.substr(path.rfind('/') + 1) + '|';
  }
  EXPECT_EQ(asked,
            "fs/read_text_file note.txt|fs/read_text_file note.txt|fs/write_text_file note.txt|"
            "fs/read_text_file other.txt|")
      << "files that the agent must not read are not asked for";
  EXPECT_THAT(result.out, HasSubstr(R"({"buffer": "edited text\n"})"));
  EXPECT_EQ(contents("work/note.txt"), "saved\n") << "the editor writes its file";
  EXPECT_EQ(contents("work/other.txt"), "new\n") << "a file that the editor does not give is on disk";
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("unsaved text")) << "the result is recorded";
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "and a replay needs no editor";
}

TEST_F(CliAcp, EditorThatOnlyReads_GivesItsTextAndTheToolWritesIt) {
  file("work/note.txt", "saved\n");
  agent("coder", script_of({kEditNote}), kFileRules);
  const CommandResult result = client("only-reads", "coder");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  EXPECT_EQ(questions(result).size(), 1U);
  EXPECT_EQ(contents("work/note.txt"), "edited text\n");
}

TEST_F(CliAcp, KillWhileTheEditorWrites_LeavesTheEditInDoubt) {
  file("work/note.txt", "saved\n");
  agent("coder", script_of({kEditNote}), kFileRules);
  const CommandResult result = client("kill-in-write", "coder");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto asked = questions(result);
  ASSERT_FALSE(asked.empty());
  EXPECT_THAT(to_json_text(asked.back()), HasSubstr("Run it again"));
  EXPECT_EQ(contents("work/note.txt"), "saved\n");
}

}  // namespace
}  // namespace praxis::testing
