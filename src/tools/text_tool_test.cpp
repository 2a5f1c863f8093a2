#include "praxis/tools/text_tool.hpp"

#include <gtest/gtest.h>

#include "tools/testing/call.hpp"

namespace praxis {
namespace {

const Tool kText = text_tool();

/// The outline of a document: `level heading first-last` for each section.
std::vector<std::string> outline(std::string_view text) {
  std::vector<std::string> result;
  auto output = call_with(kText, {{"op", "sections"}, {"text", text}, {"limit", 1000}});
  EXPECT_TRUE(output) << output.error().message;
  for (const Json& section : output->value.at("sections").get_array()) {
    result.push_back(std::to_string(json_int(section, "level")) + " " + json_string(section, "heading") +
                     " " + std::to_string(json_int(section, "first_line")) + "-" +
                     std::to_string(json_int(section, "last_line")));
  }
  return result;
}
using Outline = std::vector<std::string>;

constexpr std::string_view kMarkdown = R"(# Changelog

All notable changes.

## [2.0.0] - 2024-03-01

### Added

- A new parser ([#12](https://example.com/12)).
- `--json` output.

```sh
# not a heading
make install
```

### Removed

- Support for 1.x files.

## [1.9.1] - 2024-01-15

- Fixed a crash when the file is empty.
)";

TEST(TextTool, Sections_OfMarkdownNestAndSkipCode) {
  EXPECT_EQ(outline(kMarkdown), (Outline{"1 Changelog 1-23", "2 [2.0.0] - 2024-03-01 5-20", "3 Added 7-16",
                                         "3 Removed 17-20", "2 [1.9.1] - 2024-01-15 21-23"}));
}

TEST(TextTool, Sections_ByHeadingReturnTheWholeSectionOnce) {
  auto output = call_with(kText, {{"op", "sections"}, {"text", kMarkdown}, {"heading", "2.0.0"}});
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->text.starts_with("## [2.0.0] - 2024-03-01\n\n### Added\n")) << output->text;
  EXPECT_TRUE(output->text.ends_with("- Support for 1.x files.\n\n")) << output->text;
  ASSERT_EQ(output->value.at("sections").get_array().size(), 1U);
  EXPECT_EQ(json_string(output->value.at("sections").at(0), "text"), output->text);
  EXPECT_EQ(call_with(kText, {{"op", "sections"}, {"text", kMarkdown}, {"heading", "CHANGE"}})
                ->value.at("sections")
                .get_array()
                .size(),
            1U);
  EXPECT_EQ(text_of(call_with(kText, {{"op", "sections"}, {"text", kMarkdown}, {"heading", "3.0"}})),
            "none of the 5 headings contains \"3.0\"");
}

TEST(TextTool, Sections_OfReStructuredTextFollowTheOrderOfUnderlines) {
  EXPECT_EQ(
      outline("=========\nChangelog\n=========\n\nVersion 3.0.3\n-------------\n\nReleased 2024-04-07\n\n-   "
              "Fix a bug.\n\n"
              "Deprecations\n~~~~~~~~~~~~\n\nSome.\n\nVersion 3.0.2\n-------------\n\n-   Another.\n"),
      (Outline{"1 Changelog 2-20", "2 Version 3.0.3 5-16", "3 Deprecations 12-16", "2 Version 3.0.2 17-20"}));
}

TEST(TextTool, Sections_OfADebianChangelogAreItsEntries) {
  EXPECT_EQ(outline("zlib (1:1.2.13.dfsg-1) unstable; urgency=low\n\n  * New upstream release.\n\n"
                    " -- Mark Brown <broonie@example.org>  Sat, 05 Nov 2022 12:23:13 +0000\n\n"
                    "zlib (1:1.2.12.dfsg-1) unstable; urgency=high\n\n  * Fix.\n\n -- M <m@example.org>  "
                    "Fri, 1 Apr 2022 10:00:00 +0000\n"),
            (Outline{"1 zlib (1:1.2.13.dfsg-1) unstable; urgency=low 1-6",
                     "1 zlib (1:1.2.12.dfsg-1) unstable; urgency=high 7-11"}));
}

TEST(TextTool, Sections_RecogniseVersionLinesOfPlainReleaseNotes) {
  for (std::string_view line :
       {"1.2.3 (2024-01-01)", "v1.2.3", "1.2.3", "Version 3.40.1", "Release 2.1 (2020-02-02)",
        "Changes in 1.2.13 (13 Oct 2022)", "Changes with nginx 1.25.3",
        "* Noteworthy changes in release 9.1 (2022-04-15) [stable]",
        "2.31.0 - 2023-05-22:", "[1.0.0-rc.1] 2021-05-05", "What's New in Python 3.12.1",
        "zstd 1.5.5 (Apr 2023)", "NEWS for the Nettle 3.8.1 release",
        "Changes from versions 4.1.* to version 4.2.0:", "2022-11-02  Jane Doe  <jane@example.org>",
        "Version 1.2, 12 May 2020"}) {
    EXPECT_EQ(outline("Intro.\n\n" + std::string(line) + "\n\n- x\n"),
              (Outline{"1 " + std::string(line) + " 3-5"}))
        << line;
  }
  for (std::string_view line :
       {"Upgrade to Boost 1.81", "It needs 1.2.3 or later.", "  1.2.3", "10 files",
        "3.5 is the ratio (see below)", "- 1.2.3", "| 1.2 | 1.3 |", "Released 2024-04-07",
        "Version 1.2 introduced a cache.", "2024-04-07 was a Sunday"}) {
    EXPECT_EQ(outline("Intro.\n\n" + std::string(line) + "\n\n- x\n"), Outline{}) << line;
  }
  EXPECT_EQ(outline("ChangeLog\n=========\n\n1.1 (2024-01-01)\n\n- x\n\n1.0 (2023-01-01)\n\n- y\n"),
            (Outline{"1 ChangeLog 1-10", "2 1.1 (2024-01-01) 4-7", "2 1.0 (2023-01-01) 8-10"}));
}

TEST(TextTool, Sections_IgnoreTableRulesFrontMatterAndBreaks) {
  EXPECT_EQ(outline("---\ntitle: x\n---\ntext\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nlast words of\na "
                    "paragraph\n\n---\n\nmore\n"),
            Outline{});
  EXPECT_EQ(outline("#hashtag\n\n    # indented code\n\n#!/bin/sh\n"), Outline{});
  EXPECT_EQ(outline("## Closed ##\r\ntext\r\n"), (Outline{"2 Closed 1-2"}));
  EXPECT_EQ(text_of(call_with(kText, {{"op", "sections"}, {"text", ""}})), "the text has no headings");
}

TEST(TextTool, Sections_OutlineIsBoundedAndReportsOmissions) {
  EXPECT_EQ(text_of(call_with(kText, {{"op", "sections"}, {"text", kMarkdown}, {"limit", 2}})),
            "Changelog (lines 1-23)\n  [2.0.0] - 2024-03-01 (lines 5-20)\n[3 more]\n");
}

TEST(TextTool, Match_ReturnsLinesWithTheirNumbers) {
  EXPECT_EQ(text_of(call_with(
                kText, {{"op", "match"}, {"text", kMarkdown}, {"pattern", "(?i)^- .*(crash|support)"}})),
            "19: - Support for 1.x files.\n23: - Fixed a crash when the file is empty.\n");
  EXPECT_EQ(text_of(call_with(kText, {{"op", "match"}, {"text", "a\nb"}, {"pattern", "z"}})),
            "no line matches");
  EXPECT_NE(text_of(call_with(kText, {{"op", "match"}, {"text", "a"}, {"pattern", "(?=a)"}}))
                .find("error: /pattern"),
            std::string::npos);
  EXPECT_EQ(text_of(call_with(kText, {{"op", "match"}, {"text", "a"}})),
            "error: /pattern is missing: match needs it");
}

TEST(TextTool, Match_IsLinearOnHostilePatternsAndCutsLongLines) {
  const std::string line(100'000, 'a');
  auto output = call_with(kText, {{"op", "match"}, {"text", line}, {"pattern", "^(a+)+$"}});
  EXPECT_EQ(json_string(output->value.at("matches").at(0), "text").size(), 503U);
  EXPECT_EQ(text_of(call_with(kText, {{"op", "match"}, {"text", line}, {"pattern", "^(a+)+b$"}})),
            "no line matches");
}

TEST(TextTool, Summary_SelectsInformativeSentencesInOrder) {
  constexpr std::string_view kNotes =
      "# Release notes\n\nThe parser reads large files twice as fast. Thanks to everyone.\n\n- The parser "
      "reports the line of "
      "an error.\n- Hello.\n- The new parser needs less memory\n  for large files.\n- Typo.\n";
  auto output = call_with(kText, {{"op", "summary"}, {"text", kNotes}, {"max_sentences", 3}});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->text,
            "The parser reads large files twice as fast.\n- The parser reports the line of an error.\n"
            "- The new parser needs less memory for large files.\n");
  EXPECT_EQ(call_with(kText, {{"op", "summary"}, {"text", kNotes}, {"max_sentences", 3}})->text,
            output->text);
  EXPECT_EQ(text_of(call_with(kText, {{"op", "summary"}, {"text", "# Only a heading\n"}})),
            "the text has no sentences");
}

TEST(TextTool, Extract_ReturnsWholeItemsBelowTheirHeadings) {
  constexpr const char* kNotes =
      "## 2.0\n\n### Added\n\n- New function `a()`\n  for large files.\n- A joke.\n\n### Fixed\n\n- A "
      "leak.\n\n"
      "## 1.0\n\n* New option `-b`\n";
  auto output = call_with(kText, {{"op", "extract"}, {"text", kNotes}, {"pattern", "^New"}});
  ASSERT_TRUE(output);
  EXPECT_EQ(
      output->text,
      "### 2.0\n\n#### Added\n\n- New function `a()` for large files.\n\n### 1.0\n\n- New option `-b`\n");
  EXPECT_EQ(to_json_text(json_at(output->value, "items")),
            R"(["New function `a()` for large files.","New option `-b`"])");
  EXPECT_EQ(
      text_of(call_with(kText, {{"op", "extract"}, {"text", kNotes}, {"pattern", "New"}, {"limit", 1}})),
      "### 2.0\n\n#### Added\n\n- New function `a()` for large files.\n[1 more]\n");
  EXPECT_EQ(text_of(call_with(kText, {{"op", "extract"}, {"text", kNotes}, {"pattern", "Old"}})),
            "no list item below \"2.0\" matches\n");
  EXPECT_EQ(text_of(call_with(kText, {{"op", "extract"}, {"text", kNotes}})),
            "error: /pattern is missing: extract needs it");
}

TEST(TextTool, Sections_IgnoreComments) {
  EXPECT_EQ(text_of(call_with(
                kText, {{"op", "sections"}, {"text", "<!--\n## 0.0\n-->\n## 1.0\n<!-- x -->\n## 0.9\n"}})),
            "  1.0 (lines 4-5)\n  0.9 (lines 6-6)\n");
}

TEST(TextTool, ArgumentErrors_NameThePath) {
  EXPECT_NE(text_of(call(kText, R"({"op":"sections"})")).find("text"), std::string::npos);
  EXPECT_NE(
      text_of(call(kText, R"({"op":"sections","text":"","hedding":"x"})")).find("did you mean \"heading\""),
      std::string::npos)
      << text_of(call(kText, R"({"op":"sections","text":"","hedding":"x"})"));
  EXPECT_TRUE(kText.definition.safe_by_default && kText.definition.idempotent);
}

TEST(TextTool, TextBeyondTheBound_IsRefused) {
  EXPECT_NE(text_of(call_with(kText, {{"op", "summary"}, {"text", std::string(9 * 1024 * 1024, 'a')}}))
                .find("/text is longer"),
            std::string::npos);
}

}  // namespace
}  // namespace praxis
