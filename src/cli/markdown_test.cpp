#include "cli/markdown.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/columns.hpp"

namespace praxis::cli {
namespace {

/// The text without the sequences that style it. Fails for any other control character.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      EXPECT_FALSE(static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\n') << "in " << text;
      out += text[at];
      continue;
    }
    const std::size_t end = text.find('m', at);
    if (end == std::string::npos || text.find_first_not_of("[0123456789", at + 1) != end) {
      ADD_FAILURE() << "not a style: " << text.substr(at, 8);
      return out;
    }
    at = end;
  }
  return out;
}

/// As a stream of pieces of this size.
std::string streamed(const std::string& text, std::size_t columns, std::size_t piece) {
  MarkdownStream stream(columns);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += piece) out += stream.feed(text.substr(at, piece));
  return out + stream.finish();
}

std::string rendered(const std::string& text, std::size_t columns = 80) {
  std::string whole = streamed(text, columns, text.size() + 1);
  EXPECT_EQ(streamed(text, columns, 1), whole) << "piece by piece";
  return whole;
}

TEST(Markdown, InlineStylesBecomeStyles) {
  EXPECT_EQ(rendered("a **bold** *word* and `code`"),
            "a \x1b[1mbold\x1b[0m \x1b[3mword\x1b[0m and \x1b[36mcode\x1b[0m\n");
  EXPECT_EQ(rendered("# Title"), "\x1b[1m\x1b[4mTitle\x1b[0m\n");
  EXPECT_EQ(plain(rendered("2 * 3 * 4 and snake_case_name")), "2 * 3 * 4 and snake_case_name\n");
}

TEST(Markdown, BlocksStandApart) {
  EXPECT_EQ(
      plain(rendered("one\ntwo\n\n- a\n- b\n  1. c\n  2. d\n\n> said\n> so\n\n***\nend")),
      "one two\n\n\u2022 a\n\u2022 b\n  1. c\n  2. d\n\n\u2502 said so\n\n" +
          [] {
            std::string rule;
            for (int i = 0; i < 80; ++i) rule += "\u2500";
            return rule;
          }() +
          "\n\nend\n");
  EXPECT_EQ(plain(rendered("3. third\n4. fourth\n\n- [x] done\n- [ ] open")),
            "3. third\n4. fourth\n\n[x] done\n[ ] open\n");
}

TEST(Markdown, CodeIsKeptAsItIs) {
  EXPECT_EQ(plain(rendered("before\n```cpp\nint  x;\n\n  return **x**;\n```\nafter")),
            "before\n\n    int  x;\n\n      return **x**;\n\nafter\n");
  EXPECT_EQ(plain(rendered("````\n```\n````")), "    ```\n");
  EXPECT_EQ(plain(rendered("- item\n\n  ```\n  code\n  ```")), "\u2022 item\n\n      code\n");
  EXPECT_EQ(plain(rendered("```\nnever closed")), "    never closed\n");
}

TEST(Markdown, LinesFitTheScreen) {
  const std::string text =
      "A paragraph with some words, "
      "\u65E5\u672C\u8A9E\u306E\u6587\u7AE0\u306F\u7A7A\u767D\u304C\u306A\u3044, "
      "e\u0301l\u00E8ve and averyveryverylongwordwithoutanyspaceinitatall\n\n"
      "> - a quoted list item that is longer than the screen is wide\n\n"
      "| name | what it is |\n|---|---:|\n| \u65E5\u672C | a country |\n| x | y |\n";
  for (const std::size_t columns : {20U, 40U, 80U}) {
    std::istringstream lines(plain(rendered(text, columns)));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), columns) << line;
  }
}

TEST(Markdown, TablesLineUpOrGoRowByRow) {
  const std::string table = "| name | count |\n|---|---:|\n| \u65E5\u672C | 7 |\n| plain | 12 |\n";
  EXPECT_EQ(plain(rendered(table)),
            "name   count\n\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n"
            "\u65E5\u672C       7\nplain     12\n");
  EXPECT_EQ(plain(rendered("| a | b |\n|---|---|\n| a long cell | another one |\n", 20)),
            "a: a long cell\nb: another one\n");
}

TEST(Markdown, LinksShowWhereTheyLead) {
  EXPECT_EQ(plain(rendered("[your bank](https://evil.example) <https://a.example>")),
            "your bank (https://evil.example) https://a.example\n");
  EXPECT_EQ(plain(rendered("![a chart](chart.png)")), "[image: a chart] (chart.png)\n");
}

TEST(Markdown, HostileTextStaysVisible) {
  EXPECT_EQ(plain(rendered("a\x1b]0;title\x07 **b\x1b[2J**")), "a\u241B]0;title\u2407 b\u241B[2J\n");
  EXPECT_EQ(plain(rendered("&#27;[2J &#x1b;c <b>html</b> <!-- hidden -->")),
            "&#27;[2J &#x1b;c <b>html</b> <!-- hidden -->\n");
  EXPECT_EQ(plain(rendered("x\u202Ey\rz")), "x\\u202ey\u240Dz\n");
  EXPECT_EQ(plain(rendered("```\n\x1b[31mred\n```")), "    \u241B[31mred\n");
  EXPECT_EQ(plain(rendered("bad \xFF byte")), "bad \uFFFD byte\n");
  const std::string deep = std::string(2000, '>') + " deep";
  EXPECT_NE(plain(rendered(deep)).find("deep"), std::string::npos);
}

TEST(Markdown, StreamShowsABlockWhenItIsComplete) {
  MarkdownStream stream(80);
  EXPECT_EQ(stream.feed("first\nline"), "");
  EXPECT_EQ(stream.feed("\n\n"), "");
  EXPECT_EQ(stream.feed("next\n"), "first line\n");
  EXPECT_EQ(plain(stream.feed("\n```\ncode\n")), "\nnext\n\n    code\n") << "code comes line by line";
  EXPECT_EQ(stream.feed("```\n"), "");
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace praxis::cli
