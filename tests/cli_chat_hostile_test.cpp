// Hostile strings in one chat: from the model, a tool, names of files, arguments that wait for an approval, a
// command of the user. Only what the chat itself draws reaches the terminal, and an approval shows each
// byte.
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "app/testing/call_screen.hpp"
#include "app/testing/hostile_sequences.hpp"
#include "app/testing/hostile_texts.hpp"
#include "chat_rig.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::testing {
namespace {

constexpr std::size_t kCards = 20;

/// Invalid UTF-8, which files and programs can have, and texts of a model cannot.
const std::vector<std::string> kInvalid{"\x80",
                                        "\xC0\xAF",
                                        "\xC2",
                                        "\xE2\x82",
                                        "\xED\xA0\x80",
                                        "\xF4\x90\x80\x80",
                                        "\xF8\x88\x80\x80\x80",
                                        "\xFF\xFE",
                                        "\x9B"
                                        "2J",
                                        "\x9D"
                                        "0;title\x9C"};

std::vector<std::string> corpus() {
  std::vector<std::string> all = hostile_texts();
  std::ranges::copy(hostile_sequences(), std::back_inserter(all));
  return all;
}

/// The first bytes of a program's output that neither are text nor a sequence with which a chat draws.
std::string foreign_bytes(std::string_view output) {
  while (!output.empty()) {
    const auto at = std::ranges::find_if(output, [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == '\x7f';
    });
    output.remove_prefix(static_cast<std::size_t>(at - output.begin()));
    if (output.empty()) return "";
    if (output.starts_with("\x07\x1b[?2026h")) {  // a card calls, before its frame
      output.remove_prefix(1);
      continue;
    }
    const std::size_t end = output.starts_with("\x1b[") ? output.find_first_not_of("0123456789;?", 2) : 0;
    const std::string sequence(output.substr(0, end == 0 || end == std::string_view::npos ? 1 : end + 1));
    const std::string inner = sequence.size() < 3 ? "" : sequence.substr(2, sequence.size() - 3);
    const char final = sequence.back();
    const bool moves =
        (final == 'A' || final == 'B' || final == 'C') && inner.find_first_of(";?") == std::string::npos;
    const bool erases = (final == 'K' || final == 'J') && inner.empty();
    const bool styles = final == 'm' && !inner.contains('?');
    const bool modes =
        (final == 'h' || final == 'l') &&
        (inner == "?2026" || inner == "?25" || inner == "?7" || inner == "?2004" || inner == "?1004");
    if (sequence.size() < 3 || !(moves || erases || styles || modes))
      return std::string(output.substr(0, 60));
    output.remove_prefix(sequence.size());
  }
  return "";
}

/// The blocks of lines that show a call.
std::vector<std::string> printed_calls(const std::string& screen) {
  std::vector<std::string> blocks;
  std::istringstream in(screen);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_foreign = line.starts_with("  | ") || line == "  |";
    if (is_foreign && (!inside || line.starts_with("  | call "))) blocks.emplace_back();
    if (is_foreign) blocks.back() += line + '\n';
    inside = is_foreign;
  }
  return blocks;
}

/// Characters that no text of the corpus may bring to the screen.
bool is_forbidden(std::uint32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0x200B || c == 0x200E || c == 0x200F ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0x061C || c == 0xFEFF ||
         c == 0x00AD || c == 0x034F;
}

class ChatHostile : public CliChat {
 protected:
  /// The parts of the corpus of which the arguments of one card are made.
  static std::string value_of(std::size_t card) {
    const std::vector<std::string> all = corpus();
    std::string value;
    for (std::size_t i = card; i < all.size(); i += kCards) value += all[i] + '|';
    return value;
  }
  /// Calls that fail or succeed without a question, and name a file of hostile name each.
  static JsonArray file_calls() {
    JsonArray calls;
    std::size_t number = 0;
    for (const std::string& text : corpus()) {
      if (text.size() > 150) continue;
      const std::string name = "n" + std::to_string(++number) + text;
      const bool writes = number % 2 == 0;
      JsonObject arguments{{"path", name}};
      if (writes) arguments["content"] = text;
      calls.push_back(JsonObject{{"name", writes ? "file_write" : "file_read"}, {"arguments", arguments}});
    }
    return calls;
  }
  static JsonArray card_calls() {
    JsonArray calls;
    for (std::size_t i = 0; i < kCards; ++i) {
      const JsonObject arguments{{"op", "put"}, {"key", "k" + std::to_string(i)}, {"value", value_of(i)}};
      calls.push_back(JsonObject{{"name", "kv"}, {"arguments", arguments}});
    }
    return calls;
  }
  /// The bytes that a program may print, and names of files that the user has.
  void write_bytes() const {
    std::string bytes;
    std::size_t number = 0;
    for (const auto& texts : {kInvalid, corpus()}) {
      for (const std::string& text : texts) {
        if (text.size() > 150) continue;
        bytes += text + '\n';
        std::string name = "own" + std::to_string(++number) + text;
        std::ranges::replace(name, '/', '_');
        file(name, "x");
      }
    }
    file("bytes", bytes);
  }

  /// Prints the whole of each card and allows its call.
  static void decide_all(TerminalSession& chat) {
    for (std::size_t i = 0; i < kCards; ++i) {
      const auto has = [&](const char* text) { return chat.screen().contains(text); };
      const auto is_focused = [&] { return has("[y]es once") || has("[s]how all of it"); };
      ASSERT_TRUE(chat.wait_until([&] { return is_focused() || has("Tab decides"); })) << chat.screen();
      if (!is_focused()) chat.type("\t");
      ASSERT_TRUE(chat.wait_until(is_focused)) << chat.screen();
      chat.type("s");
      ASSERT_TRUE(chat.wait_until([&] { return has("[y]es once"); })) << chat.screen();
      chat.type("y");
      ASSERT_TRUE(chat.wait_until([&] { return count(chat.screen(), "allow by ") == i + 1; })) << i;
    }
  }
  /// Looks at all completions of `@own`.
  static void scroll_names(TerminalSession& chat) {
    chat.type("@own");
    chat.shows("own1");
    for (int i = 0; i < 30; ++i) {
      std::string down;
      for (int k = 0; k < 8; ++k) down += "\x1b[B";
      chat.type(down);
      chat.wait_until([looks = 0]() mutable { return ++looks > 1; });
    }
    chat.type("\x1b");
    chat.type("\x15");
  }
};

TEST_F(ChatHostile, CorpusHasAtLeastTwoHundred) { EXPECT_GE(corpus().size() + kInvalid.size(), 200U); }

TEST_F(ChatHostile, OnlyWhatTheChatDrawsReachesTheTerminal) {
  write_bytes();
  std::string answer;
  for (const std::string& text : corpus()) answer += text + "\n\n";
  file(
      "bad.toml",
      "id = 'bad'\nmodel = 'script:bad.jsonl'\n[limits]\nmax_parallel_tools = 300\n[tools.kv]\n[tools.file]\n"
      "write = ['.']\n[policy]\nallow = ['kv', 'file_read', 'file_write']\nask = ['kv']\n");
  file("bad.jsonl", to_json_text({{"text", answer}, {"chunk", 500}}) + '\n' +
                        to_json_text({{"tool_calls", file_calls()}}) + '\n' + says("Written.") +
                        to_json_text({{"tool_calls", card_calls()}}) + '\n' + says("Decided."));
  const auto run = chat({"bad.toml"}, {100, 40});
  begin(*run);
  run->type("Say\r");
  run->shows("- 1 step,");
  run->type("Write\r");
  run->shows("Written.");
  run->type("/diff\r");
  run->shows("files changed, +");
  scroll_names(*run);
  run->type("!cat bytes");
  run->shows("Enter runs this in your shell");
  run->type("\r");
  run->shows("exit 0; the model sees it");
  run->type("Decide\r");
  decide_all(*run);
  run->shows("Decided.");
  const std::string screen = left(*run);

  EXPECT_EQ(foreign_bytes(run->output()), "");
  const std::string& output = run->output();
  EXPECT_EQ(repair_utf8(output), output) << "not valid UTF-8";
  for (const std::uint32_t c : screen::code_points(output)) EXPECT_FALSE(is_forbidden(c)) << c;

  const std::vector<std::string> blocks = printed_calls(screen.substr(screen.rfind("\n> Decide")));
  ASSERT_EQ(blocks.size(), kCards);
  for (std::size_t i = 0; i < kCards; ++i) {
    const auto call = read_screen(blocks[i]);
    ASSERT_TRUE(call) << blocks[i];
    EXPECT_EQ(to_canonical_json(call->arguments), to_canonical_json(card_calls()[i].at("arguments")))
        << blocks[i];
  }
}

}  // namespace
}  // namespace praxis::testing
