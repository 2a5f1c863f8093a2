// 300 hostile calls that wait in one run, as each surface shows them at terminals of 40, 80 and 200 columns.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

#include "app/testing/call_screen.hpp"
#include "app/testing/hostile_texts.hpp"
#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kCalls = 300;
const std::vector<std::size_t> kWidths =
    PRAXIS_SANITIZED ? std::vector<std::size_t>{40} : std::vector<std::size_t>{40, 80, 200};

std::vector<std::string> lines_of_output(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class CliHostileCalls : public CommandLine {
 protected:
  struct Call {
    std::string tool, decides;
    JsonObject arguments;
  };

  void SetUp() override {
    if (shell("command -v script").status != 0) PRAXIS_MISSING_PART("needs script");
    file("agent.toml",
         "id = 'a'\nmodel = 'script:calls.jsonl'\n[limits]\nmax_parallel_tools = 300\n[tools.kv]\n"
         "[tools.ask_user]\n[tools.file]\nwrite = ['.']\n[policy]\nallow = ['kv', 'file_write']\n"
         "ask = ['kv', 'file_write']\n");
    JsonArray called;
    for (std::size_t i = 0; i < kCalls; ++i) {
      calls_.push_back(hostile_call());
      called.push_back(JsonObject{{"name", calls_.back().tool}, {"arguments", calls_.back().arguments}});
    }
    file("calls.jsonl", to_json_text({{"tool_calls", called}}) + "\n");
  }

  std::string hostile_text() {
    std::string text;
    const std::size_t least = std::size_t{1} << (random_() % 12);
    while (text.size() < least) text += hostile_texts()[random_() % hostile_texts().size()];
    return text;
  }
  Call hostile_call() {
    if (random_() % 2 == 0) {
      return {"kv", "key", {{"value", hostile_text()}, {"key", "/etc/pas" + hostile_text()}, {"op", "put"}}};
    }
    return {"file_write", "path", {{"content", hostile_text()}, {"path", "/etc/pas" + hostile_text()}}};
  }

  /// What a terminal of that width shows of a command.
  std::string at_terminal(std::size_t columns, const std::string& words, const std::string& keys = "") const {
    ProcessOptions options = options_;
    options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
    options.env["TERM"] = "dumb";
    options.input = keys;
    const std::string line = "stty -echo rows 24 cols " + std::to_string(columns) + "; " + words;
    std::string seen = run({"script", "-qec", line, "/dev/null"}, options).out;
    std::erase(seen, '\r');
    return seen;
  }

  /// The blocks of foreign lines on a screen, and the lines that are ours.
  struct Seen {
    std::vector<std::string> blocks, own;
  };
  static Seen read(const std::string& screen) {
    Seen seen;
    bool inside = false;
    for (const std::string& line : lines_of_output(screen)) {
      const bool foreign = line.starts_with("  | ") || line == "  | >";
      if (foreign && !inside) seen.blocks.emplace_back();
      if (foreign) seen.blocks.back() += line + '\n';
      if (!foreign) seen.own.push_back(line);
      inside = foreign;
    }
    return seen;
  }

  const Call* call_of(const ScreenCall& shown) const {
    const auto found = std::ranges::find_if(calls_, [&](const Call& call) {
      return call.tool == shown.tool &&
             to_canonical_json(call.arguments) == to_canonical_json(shown.arguments);
    });
    return found == calls_.end() ? nullptr : &*found;
  }

  /// Checks a screen on which each call is shown, whole or cut.
  void expect_all_calls(const std::string& screen, std::size_t columns) const {
    EXPECT_FALSE(has_hidden_character(screen));
    const Seen seen = read(screen);
    ASSERT_EQ(seen.blocks.size(), kCalls);
    std::size_t whole = 0;
    for (const std::string& block : seen.blocks) {
      const bool is_kv = block.starts_with("  | call kv\n");
      std::vector<std::string> rows = rows_of_terminal(block, columns);
      rows.resize(std::min<std::size_t>(rows.size(), 24));
      const auto decides = std::ranges::find_if(
          rows, [&](const std::string& row) { return row.starts_with(is_kv ? "  | key: " : "  | path: "); });
      EXPECT_NE(decides, rows.end()) << block;
      const auto shown = read_screen(block);
      if (!shown) continue;
      ++whole;
      EXPECT_NE(call_of(*shown), nullptr) << block;
    }
    EXPECT_GT(whole, 30U) << "some are short enough";
    EXPECT_LT(whole, kCalls) << "and some are not";
    for (const std::string& line : seen.own) {
      EXPECT_THAT(line, Not(HasSubstr("01AAAA0001"))) << "forged";
      EXPECT_THAT(line, Not(HasSubstr("harmless"))) << "forged";
    }
  }

  std::vector<Call> calls_;
  std::mt19937 random_{17};
};

TEST_F(CliHostileCalls, EverySurface_ShowsWhatDecidesAndNothingForged) {
  const CommandResult run = praxis({"run", "agent.toml", "go"});
  ASSERT_EQ(run.status, 3) << run.err.substr(0, 2000);
  for (const std::size_t columns : kWidths) {
    expect_all_calls(at_terminal(columns, "praxis approve --no-input"), columns);
    expect_all_calls(at_terminal(columns, "praxis resume last --no-input"), columns);
    const std::string tree = at_terminal(columns, "praxis tree");
    EXPECT_FALSE(has_hidden_character(tree));
    EXPECT_THAT(tree, Not(HasSubstr("01AAAA0001"))) << "a call takes one line of the tree";
    for (const std::size_t number : {1U, 77U, 300U}) {
      const std::string shown = at_terminal(columns, "praxis approve --no-input p" + std::to_string(number));
      const auto call = read_screen(shown);
      ASSERT_TRUE(call) << shown;
      EXPECT_NE(call_of(*call), nullptr) << shown;
    }
  }
}

TEST_F(CliHostileCalls, QuestionAtATerminal_ImitatesNothing) {
  std::string question;
  for (const std::string& text : hostile_texts()) question += text + '\n';
  const Json ask{
      {"name", "ask_user"},
      {"arguments", {{"question", question}, {"choices", {hostile_texts()[0], "\u202Eno", "yes"}}}}};
  file("calls.jsonl", to_json_text({{"tool_calls", JsonArray{ask}}}) + "\n{\"text\": \"Done.\"}\n");
  for (const std::size_t columns : kWidths) {
    const std::string screen = at_terminal(columns, "praxis run agent.toml go", "yes\n");
    EXPECT_THAT(screen, HasSubstr("answer (empty to decline"));
    EXPECT_THAT(screen, HasSubstr("Done."));
    EXPECT_FALSE(has_hidden_character(screen)) << screen;
    for (const std::string& line : lines_of_output(screen)) {
      if (!line.contains("01AAAA0001") && !line.contains("p2 waits")) continue;
      const bool marked = line.starts_with("  | ") || line.starts_with("  1  ") || line.starts_with("step ");
      EXPECT_TRUE(marked) << line;
    }
  }
}

}  // namespace
}  // namespace praxis::testing
