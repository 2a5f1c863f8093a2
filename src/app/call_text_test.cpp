#include "app/call_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <random>

#include "app/calls_in_doubt.hpp"
#include "app/pending_steps.hpp"
#include "app/pending_text.hpp"
#include "app/testing/call_screen.hpp"
#include "app/testing/hostile_texts.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::app {
namespace {

using praxis::testing::has_hidden_character;
using praxis::testing::hostile_texts;
using praxis::testing::read_screen;
using praxis::testing::rows_of_terminal;

// ---- 300 hostile calls

/// A call, and what decides about it: names with the first characters of their values.
struct HostileCall {
  std::string tool;
  JsonObject arguments;
  std::vector<std::pair<std::string, std::string>> deciding;
};

class Hostile {
 public:
  explicit Hostile(unsigned seed) : random_(seed) {}

  HostileCall call() {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> kTools{
        {"shell", {"argv"}},         {"shell", {"command"}},         {"file_write", {"path"}},
        {"http", {"method", "url"}}, {"python", {"code"}},           {"kv", {"op", "key"}},
        {"pay", {"to", "amount"}},   {"deploy", {"host", "program"}}};
    const auto& [tool, names] = kTools[below(kTools.size())];
    HostileCall call{tool, {}, {}};
    for (std::size_t i = below(4) == 0 ? 40 : below(4); i > 0; --i) call.arguments[name()] = value(2);
    if (below(2) == 0) call.arguments["stdin"] = long_text();
    if (below(3) == 0) crowd(call.arguments);
    for (const std::string& decides : names) {
      const std::string start = decides == "amount" ? "9" : "/etc/pas";
      call.arguments.erase(decides);
      call.arguments[decides] = deciding_value(decides, start);
      call.deciding.emplace_back(decides, start);
    }
    return call;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  /// Names that also look as if they decided, with long values.
  void crowd(JsonObject& arguments) {
    for (const char* each : {"argv", "command", "program", "method", "url", "host", "path", "file", "source",
                             "destination", "to", "amount", "op", "key", "code"})
      arguments[each] = long_text();
  }
  Json deciding_value(const std::string& decides, const std::string& start) {
    if (decides == "amount") return 9'000'000 + static_cast<std::int64_t>(below(1000));
    const std::string text = start + (below(2) == 0 ? long_text() : some_text());
    if (decides != "argv") return Json(text);
    return JsonArray{Json(text), Json(some_text()), Json("-rf")};
  }
  std::string some_text() { return hostile_texts()[below(hostile_texts().size())]; }
  std::string long_text() {
    std::string text;
    const std::size_t least = std::size_t{1} << below(11);
    while (text.size() < least) text += below(2) == 0 ? some_text() : std::string(below(300), 'A');
    return text;
  }
  std::string name() {
    static const std::vector<std::string> kNames{
        "allow", "call",      "",       "a.b",       "a[0]", "text of 2 lines", ">",          "\\",
        "...",   "resume: x", "\u202E", "\u0430rgv", "ARGV", "key: \"x\"",      "\n  allow:", "x y"};
    return below(3) == 0 ? kNames[below(kNames.size())] : "n" + std::to_string(below(1000));
  }
  Json value(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return Json(some_text());
      case 1:
        return Json(static_cast<std::int64_t>(random_()) - 2'000'000'000);
      case 2:
        return Json(static_cast<double>(below(1000)) / 8);
      case 3:
        return Json(below(2) == 0);
      case 4:
        return nullptr;
      case 5:
        return Json(long_text());
      case 6: {
        JsonArray list;
        for (std::size_t i = below(4); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default: {
        JsonObject object;
        for (std::size_t i = below(4); i > 0; --i) object[name()] = value(depth - 1);
        return object;
      }
    }
  }

  std::mt19937 random_;
};

const std::vector<HostileCall>& hostile_calls() {
  static const std::vector<HostileCall> kCalls = [] {
    std::vector<HostileCall> calls;
    const unsigned count = PRAXIS_SANITIZED ? 50 : 300;
    for (unsigned seed = 1; seed <= count; ++seed) calls.push_back(Hostile(seed).call());
    return calls;
  }();
  return kCalls;
}

ParkedStep step_of(const HostileCall& call) {
  ParkedStep step;
  step.id = ParkId("p1");
  step.session = SessionId("01AAAA0001");
  step.path = "lead/research";
  step.kind = ParkKind::kApproval;
  step.prompt = "The agent's rules require an approval for \"" + call.tool + "\".";
  step.tool = call.tool;
  step.arguments = to_json_text(call.arguments);
  step.digest = digest_of(step.arguments);
  return step;
}

constexpr std::array<std::size_t, 3> kWidths{40, 80, 200};

/// One way in which a surface shows a step.
struct View {
  const char* name;
  std::string (*show)(const ParkedStep& step, std::size_t columns);
};

PendingStep with_node(const ParkedStep& step) {
  PendingStep pending{{}, step};
  pending.node.id = step.session;
  pending.node.path = step.path;
  pending.step.id = ParkId("01AAAA0001/p1");
  return pending;
}
std::string in_list(const ParkedStep& step, std::size_t columns) {
  const PendingStep pending = with_node(step);
  return waiting_text({}, pending.node, pending.step, UnixMillis{0}, columns, Extent::kOverview);
}
std::string whole(const ParkedStep& step, std::size_t columns) {
  const PendingStep pending = with_node(step);
  return waiting_text({}, pending.node, pending.step, UnixMillis{0}, columns, Extent::kWhole);
}
std::string after_run(const ParkedStep& step, std::size_t columns) {
  AgentResult result;
  result.session = step.session;
  result.pending = {step};
  return pending_text({}, result, columns);
}
std::string in_doubt(const ParkedStep& step, std::size_t columns) {
  const PendingStep pending = with_node(step);
  return doubt_text({}, {pending.node, step.session, step.tool, step.arguments}, columns);
}
constexpr std::array<View, 4> kViews{
    {{"list", in_list}, {"whole", whole}, {"after a run", after_run}, {"in doubt", in_doubt}}};

/// A call as one view shows it.
struct Screen {
  const HostileCall* call;
  const View* view;
  std::size_t columns;
  bool is_cut;
  std::string text;
};

std::ostream& operator<<(std::ostream& out, const Screen& screen) {
  return out << screen.view->name << " at " << screen.columns << " columns:\n" << screen.text;
}

/// Every view of every call at every width.
const std::vector<Screen>& screens() {
  static const std::vector<Screen> kScreens = [] {
    std::vector<Screen> made;
    for (const HostileCall& call : hostile_calls()) {
      const ParkedStep step = step_of(call);
      for (const std::size_t columns : kWidths) {
        const bool cut = is_long(step, columns);
        for (const View& view : kViews)
          made.push_back({&call, &view, columns, cut && view.show != whole, view.show(step, columns)});
      }
    }
    return made;
  }();
  return kScreens;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The lines that are ours: those without a prefix of foreign text.
std::vector<std::string> own_lines(const std::string& screen) {
  std::vector<std::string> lines = lines_of(screen);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("  | ") || line == "  | >"; });
  return lines;
}

TEST(HostileCalls, WhatDecidesIsOnTheFirstScreen) {
  for (const Screen& screen : screens()) {
    std::vector<std::string> rows = rows_of_terminal(screen.text, screen.columns);
    if (screen.view->show != whole) rows.resize(std::min<std::size_t>(rows.size(), 24));
    for (const auto& [name, start] : screen.call->deciding) {
      const auto shown = std::ranges::find_if(rows, [&](const std::string& row) {
        return row.starts_with("  | " + name + ": ") || row.starts_with("  | " + name + "[0]: ");
      });
      ASSERT_NE(shown, rows.end()) << screen;
      const bool has_start = shown->contains(": " + start) || shown->contains('"' + start) ||
                             (shown->contains(": text of ") && shown + 1 != rows.end());
      EXPECT_TRUE(has_start) << *shown << '\n' << screen;
    }
  }
}

TEST(HostileCalls, WholeScreenReadsBackAsExactlyTheCall) {
  std::size_t cut = 0;
  for (const Screen& screen : screens()) {
    const auto seen = read_screen(screen.text);
    cut += screen.is_cut ? 1 : 0;
    ASSERT_EQ(seen.has_value(), !screen.is_cut) << screen;
    if (!seen) continue;
    EXPECT_EQ(seen->tool, screen.call->tool);
    ASSERT_EQ(to_canonical_json(seen->arguments), to_canonical_json(screen.call->arguments)) << screen;
  }
  EXPECT_GT(cut, hostile_calls().size()) << "the calls are long enough to be cut";
}

TEST(HostileCalls, CutCallHasNoCommandThatAllowsIt) {
  for (const Screen& screen : screens()) {
    if (screen.view->show == in_doubt) continue;
    const bool allows = std::ranges::any_of(
        own_lines(screen.text), [](const std::string& line) { return line.contains(" --allow"); });
    EXPECT_EQ(allows, !screen.is_cut) << screen;
  }
}

TEST(HostileCalls, NoRowImitatesOursAndNoCharacterIsHidden) {
  for (const Screen& screen : screens()) {
    EXPECT_FALSE(has_hidden_character(screen.text)) << screen;
    HostileCall plain{screen.call->tool, {{"op", "get"}}, {}};
    const std::string expected = screen.view->show(step_of(plain), screen.columns);
    EXPECT_EQ(own_lines(screen.text).size(), own_lines(expected).size()) << screen;
    for (const std::string& line : lines_of(screen.text)) {
      if (!line.starts_with("  | ")) continue;
      EXPECT_EQ(rows_of_terminal(line, screen.columns).size(), 1U) << line;
    }
  }
}

TEST(HostileCalls, LineOfAListFitsItsWidth) {
  for (const HostileCall& call : hostile_calls()) {
    const ParkedStep step = step_of(call);
    for (const std::size_t columns : kWidths) {
      const CallView line = call_line(step.tool, step.arguments, columns);
      EXPECT_FALSE(has_hidden_character(line.text)) << line.text;
      EXPECT_EQ(rows_of_terminal(line.text, columns).size(), 1U) << line.text;
    }
  }
}

// ---- single cases

TEST(CallView, ShowsWhatDecidesBeforeWhatIsLong) {
  const std::string arguments = R"({"stdin":")" + std::string(30000, 'A') + R"(","argv":["rm","-rf","."]})";
  const CallView view = call_view("shell", arguments, 80, kOverviewRows);
  EXPECT_TRUE(view.cut);
  EXPECT_TRUE(view.text.starts_with("  | call shell\n  | argv: [\"rm\",\"-rf\",\".\"]\n  | stdin: \"AAAA"))
      << view.text;
  EXPECT_TRUE(view.text.contains("\n  | ... 30000 bytes, digest ")) << view.text;
  EXPECT_TRUE(view.text.ends_with("AAAA\"\n")) << view.text;
}

TEST(CallView, ShowsTextLineByLine) {
  const CallView view = call_view("file_write", R"({"content":"a\n\n\tb\\n\n","path":"x"})", 80, 0);
  EXPECT_EQ(view.text,
            "  | call file_write\n  | path: \"x\"\n  | content: text of 4 lines, 8 bytes\n"
            "  | > a\n  | >\n  | > \\u0009b\\\\n\n  | >\n");
}

TEST(CallView, ArgumentsThatCannotRunAreShownAsTheyAre) {
  for (const char* arguments : {R"({"argv":["ls"],"argv":["rm"]})", R"({"argv":)", "[1]", "\xff\x1b"}) {
    const CallView view = call_view("shell", arguments, 80, 0);
    EXPECT_TRUE(view.text.contains("  | ! the tool will refuse these arguments: ")) << view.text;
  }
  EXPECT_EQ(call_view("now", "", 80, 0).text, "  | call now\n");
  EXPECT_EQ(call_view("now", " null ", 80, 0).text, "  | call now\n");
}

TEST(PrefixedLines, EachRowHasThePrefix) {
  EXPECT_EQ(prefixed_lines("  - ", "p1 waits\nallow: me", 80, 0), "  - p1 waits\n  - allow: me\n");
  EXPECT_EQ(prefixed_lines("  - ", "one\ntwo\nthree", 80, 2), "  - one\n  - two\\...\n");
  EXPECT_EQ(prefixed_lines("> ", std::string(30, 'x'), 24, 0),
            "> " + std::string(18, 'x') + "\n> " + std::string(12, 'x') + "\n");
}

}  // namespace
}  // namespace praxis::app
