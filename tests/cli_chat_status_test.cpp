// `[chat] status_command`: a program of the user's draws the status line of a chat, judged by an emulator.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>

#include "chat_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ChatStatus : public CliChat {
 protected:
  ChatStatus() { file("talk.jsonl", says("One.") + says("Two.") + says("Three.")); }

  /// The program is `sh` with this script; each run adds a line to `runs`.
  void draws(const std::string& script) {
    file("config/praxis/line.sh", "echo run >> runs\n" + script);
    file("runs", "");
    file("config/praxis/config.toml",
         "[chat]\nstatus_command = ['sh', '" + (folder_ / "config/praxis/line.sh").string() + "']\n");
  }
  std::size_t runs() const { return count(contents("runs"), "run\n"); }
  static std::string last_line(const std::string& screen) {
    const auto end = screen.find_last_not_of('\n');
    return screen.substr(screen.rfind('\n', end) + 1, end - screen.rfind('\n', end));
  }
};

TEST_F(ChatStatus, GetsWhatTheChatKnowsAsJson) {
  draws("cat > input.json\necho drawn by me\n");
  std::filesystem::create_directories(folder_ / ".git");
  file(".git/HEAD", "ref: refs/heads/feature/x\n");
  const auto run = chat({"talk.toml"}, {.columns = 60, .rows = 12});
  run->shows("drawn by me");
  EXPECT_THAT(run->screen(), Not(HasSubstr("script:talk.jsonl"))) << "in place of our own line";
  run->type("A?\r");
  run->shows("1 step");
  run->wait_until([&] {
    const auto input = parse_json(contents("input.json"));
    return input && json_at(*input, "turn").is_null() &&
           json_int(json_at(*input, "context_window"), "total_output_tokens") > 0;
  });
  left(*run);
  const Json input = parse_json(contents("input.json")).value_or(Json());
  EXPECT_EQ(json_string(json_at(input, "model"), "id"), "script:talk.jsonl");
  EXPECT_EQ(json_string(json_at(input, "model"), "display_name"), "talk.jsonl");
  EXPECT_EQ(json_string(input, "cwd"), folder_.string());
  EXPECT_EQ(json_string(json_at(input, "workspace"), "project_dir"), folder_.string());
  EXPECT_EQ(json_string(json_at(input, "workspace"), "branch"), "feature/x");
  EXPECT_FALSE(json_string(input, "session_id").empty());
  EXPECT_EQ(json_int(input, "columns"), 59);
  EXPECT_EQ(json_int(input, "agents_at_work"), 0);
  EXPECT_EQ(json_int(json_at(input, "waiting"), "queued"), 0);
}

TEST_F(ChatStatus, SaysWhatWaits) {
  file("talk.jsonl", says("One.", 600'000));
  draws("cat > input.json\necho drawn\n");
  const auto run = chat({"talk.toml"});
  const auto waits_with = [&](int queued) {
    const auto input = parse_json(contents("input.json"));
    return input && json_int(json_at(*input, "waiting"), "queued") == queued &&
           json_string(json_at(*input, "turn"), "doing") == "waits for the model" &&
           json_int(*input, "agents_at_work") == 1;
  };
  begin(*run);
  run->type("Begin\r");
  EXPECT_TRUE(run->wait_until([&] { return waits_with(0); })) << contents("input.json");
  run->type("then this\x1b\r");
  EXPECT_TRUE(run->wait_until([&] { return waits_with(1); })) << contents("input.json");
}

TEST_F(ChatStatus, NothingOfItReachesTheTerminalButColours) {
  draws(
      R"(printf '\033]0;owned\007\033[31mred\033[2J\033[5;5H\033[?1049h \033]52;c;aGk=\007wide\t\342\200\256%s\nsecond\n' )"
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
  const auto run = chat({"talk.toml"}, {.columns = 40, .rows = 10});
  run->shows("red wide \\u202exxx");
  run->type("typed");
  run->shows("typed");
  EXPECT_EQ(last_line(run->screen()), "red wide \\u202e" + std::string(24, 'x'));
  EXPECT_THAT(run->screen(true), HasSubstr("{red}red wide"));
  EXPECT_THAT(left(*run), Not(HasSubstr("second")));
}

TEST_F(ChatStatus, NoColorTakesItsColours) {
  options_.env["NO_COLOR"] = "1";
  draws("printf '\\033[31mred line\\n'\n");
  const auto run = chat({"talk.toml"});
  run->shows("red line");
  left(*run);
  EXPECT_THAT(run->output(), Not(HasSubstr("\x1b[31m")));
}

TEST_F(ChatStatus, RunsOnceWhileNothingChanges) {
  draws("echo drawn\n");
  const auto run = chat({"talk.toml"});
  run->shows("drawn");
  for (const char* letter : {"a", "b", "c", "d"}) run->type(letter);
  run->shows("abcd");
  left(*run);
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ChatStatus, ManyChangesAreFewRuns) {
  std::string script;
  for (int i = 0; i < 30; ++i) script += puts("k" + std::to_string(i));
  file("notes.jsonl", script + says("Noted."));
  file("free.toml", "id = 'free'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\n");
  draws("echo drawn\n");
  const auto began = std::chrono::steady_clock::now();
  const auto run = chat({"free.toml"});
  run->shows("drawn");
  run->type("Go\r");
  run->shows("Noted.");
  left(*run);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(static_cast<std::int64_t>(runs()), 1 + took / std::chrono::milliseconds(300));
}

TEST_F(ChatStatus, FailureShowsOurOwnLineWithAMark) {
  draws("echo no >&2\nexit 3\n");
  const auto run = chat({"talk.toml"});
  run->shows("[status_command: exit 3]");
  EXPECT_THAT(last_line(run->screen()), HasSubstr("script:talk.jsonl"));
  left(*run);
  draws("true\n");
  const auto silent = chat({"talk.toml"});
  silent->shows("[status_command: printed nothing]");
  left(*silent);
  file("config/praxis/config.toml", "[chat]\nstatus_command = ['./not-there']\n");
  const auto missing = chat({"talk.toml"});
  missing->shows("[status_command: cannot be started]");
  missing->type("A?\r");
  missing->shows("One.");
  left(*missing);
}

TEST_F(ChatStatus, ProgramThatDoesNotEndIsKilledWithWhatItStarted) {
  draws("sleep 600 &\necho $! > child.tmp\nmv child.tmp child\nwait\n");
  const auto run = chat({"talk.toml"});
  run->shows("[status_command: no end within 5 s]");
  run->type("A?\r");
  run->shows("One.");
  const int child = std::stoi(contents("child"));
  EXPECT_TRUE(run->wait_until([&] { return kill(child, 0) != 0; })) << "the child still runs";
  left(*run);
}

TEST_F(ChatStatus, RelativeProgramIsThatNextToTheConfiguration) {
  const auto executable = [&](const std::string& name, const std::string& says) {
    file(name, "#!/bin/sh\necho " + says + '\n');
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  };
  executable("config/praxis/line", "mine");
  executable("line", "of the folder");
  file("config/praxis/config.toml", "[chat]\nstatus_command = ['./line']\n");
  const auto run = chat({"talk.toml"});
  run->shows("mine");
  left(*run);
}

TEST_F(ChatStatus, ProjectCannotSetIt) {
  std::filesystem::create_directories(folder_ / ".git");
  file(".praxis/config.toml", "[chat]\nstatus_command = ['sh', '-c', 'touch owned']\n");
  const std::string digest = json_string(praxis({"trust", "show", "--json"}).last_line(), "digest");
  praxis({"trust", "accept", "--digest", digest});
  const CommandResult shown = praxis({"config", "show"});
  EXPECT_EQ(shown.status, 2);
  EXPECT_THAT(shown.err, HasSubstr("a project must not name a program that runs outside of the sandbox"));
}

}  // namespace
}  // namespace praxis::testing
