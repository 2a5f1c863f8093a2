// A person chooses in a chat: files, commands, runs, branches and steps, at a pseudo-terminal.
#include <gmock/gmock.h>

#include "base/testing/missing_part.hpp"
#include "chat_rig.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(CliChat, CommandsOpenOtherRunsAndBranches) {
  file("talk.jsonl", says("One.") + says("Two.") + says("Three."));
  const auto run = chat({"talk.toml"}, {100, 40});
  begin(*run);
  run->type("A?\r");
  run->shows("One.");
  run->shows("1 step");
  const std::string first = last_run();
  for (const auto& [typed, shown] :
       std::vector<std::pair<std::string, std::string>>{{"/help", "Alt-Enter"},
                                                        {"/tre", "did you mean /tree?"},
                                                        {"/tree", "talk " + first.substr(first.size() - 8)},
                                                        {"/cost", "this run: "},
                                                        {"/context", "user (1 message)"},
                                                        {"/approvals", "nothing waits for you"},
                                                        {"/export chat.md", "written to chat.md"},
                                                        {"/rewind", "stands before t1"},
                                                        {"/fork", "run "},
                                                        {"/resume " + first, "run " + first},
                                                        {"/resume none", "no session is called"}}) {
    run->type(typed + "\r");
    run->shows(shown);
  }
  left(*run);
  EXPECT_THAT(contents("chat.md"), AllOf(HasSubstr("A?"), HasSubstr("One.")));
  EXPECT_EQ(praxis({"runs", "--json"}).items().size(), 2U);
}

TEST_F(CliChat, FilesAreCompletedAndTheirTextGoesWithTheMessage) {
  file(".gitignore", "build/\n");
  file("src/main_window.cpp", "int window;\n");
  file("build/main_window.o", "object");
  file("talk.jsonl", says("Read.") + says("Seen."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("look at @mwin");
  run->shows("> src/main_window.cpp");
  EXPECT_THAT(run->screen(), Not(HasSubstr("main_window.o"))) << "what .gitignore leaves out";
  run->type("\t");
  run->shows("> look at @src/main_window.cpp\n");
  run->type("now\r");
  run->shows("+ src/main_window.cpp (12 bytes)");
  run->shows("Read.");
  run->type("and @missing\r");  // Enter sends what is typed
  run->shows("> and @missing");
  run->shows("Seen.");
  run->type("@srcmain\x1b[A\r");  // after an arrow key Enter takes the marked one
  run->shows("> @src/main_window.cpp\n");
  const std::string screen = left(*run);
  EXPECT_THAT(screen, Not(HasSubstr("int window"))) << "the text of a file is not repeated";
  const std::string sent = praxis({"show", "last", "--json"}).out;
  EXPECT_THAT(sent, AllOf(HasSubstr("int window;"), HasSubstr("path=\\\"src/main_window.cpp\\\"")));
}

TEST_F(CliChat, FileThatCannotBeSentComesBackIntoTheComposer) {
  file(".env", "KEY=1\n");
  file("talk.jsonl", says("Never."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("use @.env\r");
  run->shows("may hold secrets and is not sent");
  run->shows("> use @.env");
  EXPECT_EQ(praxis({"runs", "--json"}).items().size(), 0U);
  left(*run);
}

TEST_F(CliChat, CommandsAreCompleted) {
  file("talk.jsonl", says("Never."));
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("/exp");
  run->shows("> /export");
  run->type("\t");
  run->shows("> /export\n");
  run->type("x.md");
  run->shows("> /export x.md");
  left(*run);
}

TEST_F(CliChat, PromptsOfServersAreCompleted) {
  if (!probe_sandbox().full())
    PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
  const std::string server = PRAXIS_SOURCE_DIR "/tests/mcp";
  file("talk.jsonl", says("Hello."));
  file("served.toml",
       "model = 'script:talk.jsonl'\n[policy]\nallow = ['fix__*']\n[tools.mcp.fix]\ncommand = "
       "['python3', '" +
           server + "/server.py', 'rich', '/dev/null']\nread = ['" + server + "']\n");
  const auto run = chat({"served.toml"});
  begin(*run);
  run->type("/greet");
  run->shows("/fix:greet  who [how]: Greets someone");
  run->type("\t");
  run->shows("> /fix:greet\n");
  run->type("Ada\r");
  run->shows("> Greet Ada\n");
  run->shows("Hello.");
  left(*run);
}

TEST_F(CliChat, RunsAreSearched) {
  file("talk.jsonl", says("One.") + says("Two."));
  for (const char* prompt : {"Paint the house", "Mow the lawn", "Water the plants"})
    ASSERT_EQ(praxis({"run", "talk.toml", prompt}).status, 0);
  const auto run = chat({"talk.toml"});
  begin(*run);
  run->type("/resume\r");
  run->shows("Open which run?  (3)");
  run->type("mwlawn");
  run->shows("(1 of 3)");
  run->type("\r");
  run->shows("> Mow the lawn");  // the conversation of that run
  run->shows(", model script:talk.jsonl");
  run->type("/agent\r");
  run->shows("A new run of which agent?");
  run->type("\x1b");
  EXPECT_TRUE(run->wait_until([&] { return run->screen().find("A new run of which") == std::string::npos; }));
  left(*run);
}

TEST_F(CliChat, SeveralStepsAreAList) {
  const auto put = [](const std::string& key) {
    return JsonObject{{"name", "kv"}, {"arguments", JsonObject{{"op", "put"}, {"key", key}, {"value", "1"}}}};
  };
  file("notes.jsonl",
       to_json_text({{"tool_calls", JsonArray{put("first"), put("second")}}}) + '\n' + says("Noted."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("Note it\r");
  run->shows("2 steps wait for you:");
  run->type("\t");
  run->shows("2 steps wait for you; Up and Down go to another:");
  run->type("\x1b[B");
  run->shows("> notes: kv {\"op\":\"put\",\"key\":\"second\"");
  run->type("nlater\r");
  run->shows("deny by ");
  run->type("\t");
  run->shows("[y]es once");
  run->type("y");
  run->shows("Noted.");
  left(*run);
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("later"));
}

TEST_F(CliChat, RuleForThisChatIsNotSaved) {
  file("notes.jsonl", puts("a") + puts("a") + says("Noted."));
  const auto run = chat({"notes.toml"});
  begin(*run);
  run->type("Note it\r");
  run->shows("Tab decides");
  run->type("\t");
  run->shows("[a]lways");
  run->type("a");
  run->shows("[t]his chat only");
  run->type("t");
  run->shows("Noted.");  // the second call was not asked about
  left(*run);
  EXPECT_THAT(contents("config/praxis/allowed.jsonl"), IsEmpty());
}

}  // namespace
}  // namespace praxis::testing
