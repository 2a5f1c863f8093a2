// What a person sees: commands at three widths, as screens of a terminal emulator with their styles, compared
// with the files in tests/screens. PRAXIS_UPDATE_SCREENS=1 writes these files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "command_line.hpp"
#include "journal/testing/journals.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

struct ScreenCase {
  std::string name;
  std::vector<std::string> words;
  std::map<std::string, std::string> env = {};
};

const std::string kMarkdown =
    "# Tides\n\nThe **moon** pulls at the sea *twice* a day; see `tides(7)`, and [a "
    "page](https://example.org/tides) "
    "about it that is longer than a narrow screen.\n\n1. spring tide\n2. neap tide\n   - at half moon\n\n"
    "> Time and tide wait for no one.\n\n```c\nint  tides = 2;  // a day\n```\n\n"
    "| tide | height |\n|---|---:|\n| spring | 12.5 m |\n| neap | 4 m |\n\n***\n\n- [x] read\n- [ ] "
    "understood\n";
const std::string kWide =
    "\u6F6E\u306E\u6E80\u3061\u5E72\u304D\u306F\u6708\u306E**\u5F15\u529B**\u306B\u3088\u308B\u3002"
    "e\u0301le\u0301phant, \uD55C\uAD6D\uC5B4, \u0E17\u0E35\u0E48\u0E19\u0E35\u0E48, \U0001F30A\U0001F319, "
    "\u2713 \u2014 "
    "\u6F6E\u306E\u6E80\u3061\u5E72\u304D\u306F\u6708\u306E\u5F15\u529B\u306B\u3088\u308B\u3002\n\n"
    "| \u6F6E | height |\n|---|---:|\n| \u5927\u6F6E | 12 |\n| e\u0301 | 4 |\n";
const std::string kHostile =
    "Safe \x1b[2J\x1b]0;owned\x07 text **\x1b[8mhidden** \u202Edrow &#27;[31m <script> \x9B"
    "31m end\r"
    "praxis: error: none\n\n```\n\x1b[1A\x1b[2Kprogress: 100%\n```\n";

std::vector<ScreenCase> cases() {
  const auto run = [](const std::string& script) {
    return std::vector<std::string>{"run", "--model", "script:" + script, "Tides", "--journal", "memory"};
  };
  return {
      {"runs", {"runs", "--journal", "past"}},
      {"runs-all", {"runs", "--all", "--journal", "past"}},
      {"runs-search", {"runs", "colour", "--status", "completed", "--journal", "past"}},
      {"runs-prune", {"runs", "prune", "--older", "365d", "--dry-run", "--journal", "past"}},
      {"runs-wrong", {"runs", "--status", "complete", "--journal", "past"}},
      {"show", {"show", "first", "--journal", "past"}},
      {"show-records", {"show", "first", "--records", "--journal", "past"}},
      {"show-unknown", {"show", "second", "--journal", "past"}},
      {"show-hostile", {"show", "01M835KFQK3YPYHRNN0TBRRB32", "--journal", "past"}},
      {"show-hostile-dumb", {"show", "01M835KFQK3YPYHRNN0TBRRB32", "--journal", "past"}, {{"TERM", "dumb"}}},
      {"logs", {"logs", "first", "--journal", "past"}},
      {"tree", {"tree", "first", "--journal", "past"}},
      {"run-markdown", run("markdown.jsonl")},
      {"run-markdown-no-color", run("markdown.jsonl"), {{"NO_COLOR", "1"}}},
      {"run-markdown-dumb", run("markdown.jsonl"), {{"TERM", "dumb"}}},
      {"run-wide", run("wide.jsonl")},
      {"run-hostile", run("hostile.jsonl")},
      {"run-hostile-dumb", run("hostile.jsonl"), {{"TERM", "dumb"}}},
      {"run-refused", run("refused.jsonl")},
      {"run-tools", {"run", "kv.toml", "Note it", "--journal", "memory"}},
      {"run-no-such-agent", {"run", "agents.toml", "Hi", "--journal", "memory"}},
      {"help-runs", {"runs", "--help"}},
  };
}

class CliScreens : public CommandLine, public ::testing::WithParamInterface<int> {
 protected:
  CliScreens() {
    for (const auto& [name, text] : std::map<std::string, std::string>{
             {"markdown.jsonl", kMarkdown}, {"wide.jsonl", kWide}, {"hostile.jsonl", kHostile}})
      file(name, to_json_text({{"text", text}}) + '\n');
    file("refused.jsonl", R"({"error": {"status": 401, "message": "the key \u001b[31mwas refused"}})");
    file("kv.jsonl",
         to_json_text(
             {{"tool_calls",
               JsonArray{Json{{"id", "c1"},
                              {"name", "kv"},
                              {"arguments", {{"op", "put"}, {"key", "\u6F6E"}, {"value", "\x1b[2J"}}}}}}}) +
             "\n{\"text\": \"Noted.\"}\n");
    file("kv.toml", "id = 'notes'\nmodel = 'script:kv.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\n");
    make_past();
  }

  /// A journal whose ids and durations are always the same: a run with a sub-agent, and copies of it.
  void make_past() const {
    const std::string past = folder_ / "past";
    alter(past, file_bytes(PRAXIS_SOURCE_DIR "/tests/fixtures/journal-4.sql"));
    std::filesystem::permissions(past, std::filesystem::perms(0600));
    const std::string root = "01M835KFQK3YPYHRNN0TBRRB3A";
    std::string exported = praxis({"export", root, "--journal", "past"}).out;
    const std::vector<std::string> titles{
        "\u6F6E\u306E\u6E80\u3061\u5E72\u304D\u306F\u6708\u306E\u5F15\u529B\u306B\u3088\u308B, "
        "\u3068\u8A00\u308F\u308C\u3066\u3044\u308B",
        "A title with e\u0301 and \U0001F30A that is longer than most of the screens on which it is to be "
        "shown",
        "\\u001b[2J\\u001b]0;owned\\u0007 \\u202edrow"};
    for (std::size_t i = 0; i < titles.size(); ++i) {
      std::string copy = exported;
      const std::string id = root.substr(0, 25) + std::to_string(i);
      for (const auto& [from, to] :
           std::map<std::string, std::string>{{root, id}, {"Find the colour", titles[i]}}) {
        for (std::size_t at = 0; (at = copy.find(from, at)) != std::string::npos; at += to.size())
          copy.replace(at, from.size(), to);
      }
      file("copy.jsonl", copy);
      EXPECT_EQ(praxis({"import", "copy.jsonl", "--journal", "past"}).status, 0);
    }
    alter(past, "UPDATE sessions SET updated = updated - created + 1262304000000, created = 1262304000000");
  }

  /// The screen without what differs between two runs: ages, durations and the folder.
  std::string masked(std::string screen) const {
    const std::string folder = folder_.string();
    for (std::size_t at = 0; (at = screen.find(folder, at)) != std::string::npos;)
      screen.replace(at, folder.size(), "DIR");
    screen = std::regex_replace(screen, std::regex(R"(\b\d{4} d\b)"), "NNNN d");
    return screen;
  }
  static std::string without_durations(const std::string& screen) {
    const std::string timeless = std::regex_replace(screen, std::regex(R"(\b\d+(\.\d)? (ms|s)\b)"), "N ms");
    // How long a turn took decides where the line of its end is broken.
    const std::string unbroken =
        std::regex_replace(timeless, std::regex("(finished|model_failed): [^r]*\nrun "), "$1: ...\nrun ");
    return std::regex_replace(unbroken, std::regex("run [0-9A-Z]{26}"), "run ID");
  }
};
INSTANTIATE_TEST_SUITE_P(Widths, CliScreens, ::testing::Values(40, 80, 200),
                         [](const auto& width) { return "Columns" + std::to_string(width.param); });

TEST_P(CliScreens, AreAsBefore) {
  const bool updates = std::getenv("PRAXIS_UPDATE_SCREENS") != nullptr;
  for (const ScreenCase& each : cases()) {
    ProcessOptions options = options_;
    options.env["NO_COLOR"] = "";
    for (const auto& [key, value] : each.env) options.env[key] = value;
    TerminalSession session(command(each.words), options, {GetParam(), 24});
    const int status = session.finish();
    const bool is_run = each.words[0] == "run";
    const std::string screen =
        masked(is_run ? without_durations(session.screen(true)) : session.screen(true)) + "exit status " +
        std::to_string(status) + '\n';
    const std::string path =
        PRAXIS_SOURCE_DIR "/tests/screens/" + each.name + '-' + std::to_string(GetParam()) + ".txt";
    if (updates) {
      std::ofstream(path) << screen;
    } else {
      EXPECT_EQ(screen, file_bytes(path)) << path;
    }
  }
}

}  // namespace
}  // namespace praxis::testing
