// Documents in a memory: how they are split, and what is stored of them, in both places.
#include "praxis/memory/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "memory/ingest_batch.hpp"
#include "memory/testing/store_folder.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::StoreFolder;

constexpr std::string_view kManual =
    "# Kettle\n"
    "\n"
    "## Boiling\n"
    "\n"
    "Fill it with water and switch it on. It boils in three minutes and switches itself off after that.\n"
    "\n"
    "```sh\n"
    "# no heading\n"
    "\n"
    "kettle --on\n"
    "```\n"
    "\n"
    "Descaling\n"
    "---------\n"
    "\n"
    "Use vinegar every month. Rinse it twice before the next use, or the tea tastes of vinegar for a day.\n";

std::vector<std::string> split_lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      lines.push_back(std::move(line));
      line.clear();
    } else {
      line += c;
    }
  }
  lines.push_back(std::move(line));
  return lines;
}

/// A text of `count` paragraphs, each with a number and several lines.
std::string paragraphs(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text += "Paragraph " + number + " begins here,\nhas a second line with the number " + number +
            "\nand ends with its third line.\n\n";
  }
  return text;
}

TEST(Split, Markdown_EndsPiecesAtHeadingsAndKnowsThem) {
  const auto pieces = split_document(kManual, DocumentKind::kMarkdown, {100, 0});
  ASSERT_THAT(pieces, SizeIs(::testing::Ge(2U)));
  EXPECT_EQ(pieces.front().first_line, 1U);
  EXPECT_THAT(pieces.front().heading, HasSubstr("Kettle"));
  EXPECT_EQ(pieces.back().heading, "Kettle > Descaling");
  for (const DocumentPiece& piece : pieces)
    EXPECT_THAT(piece.heading, Not(HasSubstr("no heading"))) << "a line of a fence is no heading";
  const auto descaling = std::ranges::find(pieces, std::size_t{13}, &DocumentPiece::first_line);
  ASSERT_NE(descaling, pieces.end()) << "a section starts a piece";
  EXPECT_THAT(descaling->text, ::testing::StartsWith("Descaling\n---------"));
}

TEST(Split, Pieces_AreTheLinesThatTheyCiteAndMissNone) {
  const std::string text = paragraphs(60);
  const auto lines = split_lines_of(text);
  for (const DocumentKind kind : {DocumentKind::kText, DocumentKind::kMarkdown, DocumentKind::kCode}) {
    std::set<std::size_t> seen;
    for (const DocumentPiece& piece : split_document(text, kind, {400, 80})) {
      EXPECT_LE(piece.text.size(), 400U);
      std::string cited;
      for (std::size_t i = piece.first_line; i <= piece.last_line; ++i) {
        seen.insert(i);
        cited += (cited.empty() ? "" : "\n") + lines.at(i - 1);
      }
      EXPECT_EQ(piece.text, cited);
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_TRUE(lines[i].empty() || seen.contains(i + 1)) << "line " << i + 1;
  }
}

TEST(Split, LongSection_IsCutAtParagraphsAndRepeatsTheLinesBefore) {
  const auto pieces = split_document(paragraphs(20), DocumentKind::kText, {400, 80});
  ASSERT_THAT(pieces, SizeIs(::testing::Gt(2U)));
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    EXPECT_LE(pieces[i].first_line, pieces[i - 1].last_line) << "overlap";
    EXPECT_THAT(pieces[i - 1].text, ::testing::EndsWith("third line."));
  }
  const auto apart = split_document(paragraphs(20), DocumentKind::kText, {400, 0});
  for (std::size_t i = 1; i < apart.size(); ++i) EXPECT_GT(apart[i].first_line, apart[i - 1].last_line);
}

TEST(Split, Code_StartsPiecesAtDefinitions) {
  const std::string body(120, 'x');
  const std::string code = "#include <a>\n\n// Adds.\nint add(int a, int b) {\n\n  return a + b; // " + body +
                           "\n}\n\nclass Tea {\n  // " + body + "\n\n  int cups;\n};\n";
  const auto pieces = split_document(code, DocumentKind::kCode, {200, 50});
  ASSERT_THAT(pieces, SizeIs(2));
  EXPECT_EQ(pieces[1].heading, "class Tea {");
  EXPECT_EQ(pieces[1].first_line, 9U);
  EXPECT_EQ(document_kind_of("src/x.CPP"), DocumentKind::kCode);
  EXPECT_EQ(document_kind_of("a.b/README"), DocumentKind::kText);
}

TEST(Split, Html_KeepsTheVisibleTextWithItsLines) {
  const std::string html =
      "<!DOCTYPE html>\n<html><head><title>Tea &amp; more</title>\n<style>p { color: red }</style></head>\n"
      "<body><h1 id='x'>Green\n tea</h1>\n<p>Steep it <b>three</b> minutes &mdash; at 70&#176;.</p>\n"
      "<script>if (a < b) alert('</p>hidden')</SCRIPT>\n<!-- a > comment -->\n<ul><li>one<li>two</ul>\n3 < 4 "
      "&bogus;\n"
      "<img alt=\"a > b\">last";
  const auto pieces = split_document(html, DocumentKind::kHtml, {1600, 0});
  ASSERT_THAT(pieces, SizeIs(1));
  EXPECT_EQ(pieces[0].text,
            "Tea & more\nGreen tea\nSteep it three minutes — at 70°.\none\ntwo\n3 < 4 &bogus;\nlast");
  EXPECT_EQ(pieces[0].first_line, 2U);
  EXPECT_EQ(pieces[0].last_line, 11U);
  const auto small = split_document(html, DocumentKind::kHtml, {64, 0});
  EXPECT_EQ(small.back().heading, "Green tea");
}

TEST(Split, RunsOfBlankLines_AreShortened) {
  const auto pieces =
      split_document("a\n\n\n\n\nb\n" + std::string(100'000, '\n') + "c", DocumentKind::kText);
  ASSERT_THAT(pieces, SizeIs(1));
  EXPECT_EQ(pieces[0].text, "a\n\n\nb\n\n\nc");
  EXPECT_EQ(pieces[0].last_line, 100'007U);
}

TEST(Split, FormFeeds_AreTheEndsOfPages) {
  const std::string page(90, 'x');
  const auto pieces = split_document("Title\n=====\n\n" + page + "\n\n\fSecond " + page + "\n",
                                     DocumentKind::kText, {100, 0});
  ASSERT_THAT(pieces, SizeIs(::testing::Ge(2U)));
  EXPECT_EQ(pieces.front().heading, "page 1 > Title");
  EXPECT_EQ(pieces.back().heading, "page 2 > Title");
}

TEST(Split, Extremes_EndAndStayWithinTheSize) {
  for (const DocumentKind kind :
       {DocumentKind::kText, DocumentKind::kMarkdown, DocumentKind::kCode, DocumentKind::kHtml}) {
    EXPECT_THAT(split_document("", kind), IsEmpty());
    EXPECT_THAT(split_document("\n \n\t\n", kind), IsEmpty());
    std::string bytes;
    for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>((i * 7919) % 251 + 1);
    const std::string words = [] {
      std::string all;
      for (int i = 0; i < 3000; ++i) all += "wörd" + std::to_string(i) + ' ';
      return all;
    }();
    const std::string headings = "<h1>b\xC3</h1>\n# a\xFF\n";
    const std::string after_blank =
        std::string(43, 'a') + "\n" + std::string(20, 'b') + "\n\n" + std::string(60, 'c') + "\n";
    for (const std::string& text :
         {bytes, words, headings, after_blank, std::string(10'000, '<'), std::string(10'000, '#')}) {
      for (const DocumentPiece& piece : split_document(text, kind, {0, 1000})) {
        EXPECT_LE(piece.text.size(), 64U + 3U);
        EXPECT_FALSE(piece.text.empty());
        EXPECT_TRUE(is_valid_utf8(piece.text) && is_valid_utf8(piece.heading));
      }
    }
    EXPECT_EQ(split_document(words, kind).front().last_line, 1U) << "a long line is cut";
  }
}

enum class DocumentPlace : std::uint8_t { kProcess, kFile };

class Documents : public ::testing::TestWithParam<DocumentPlace> {
 protected:
  DatabaseClient& memory() { return *clients_.database; }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (const Note& note : memory().query("documents").value()) all.push_back(note.key);
    return all;
  }

  StoreFolder folder_;
  MemoryClients clients_ = GetParam() == DocumentPlace::kProcess
                               ? memory_in_process({fixed_environment(1), {}})
                               : sqlite_memory(folder_.file("memory.db")).value();
};

TEST_P(Documents, Search_CitesFileAndLines) {
  ASSERT_EQ(
      ingest(memory(), {"doc/kettle.md", std::string(kManual)}, {"documents", {150, 0}}).value().removed, 0U);
  const auto hits = memory().search("how to descale with vinegar").value();
  ASSERT_THAT(hits, Not(IsEmpty()));
  EXPECT_EQ(hits[0].note.key, "doc/kettle.md:13-16");
  const Json& value = hits[0].note.value;
  EXPECT_EQ(json_string(value, "file"), "doc/kettle.md");
  EXPECT_EQ(json_string(value, "heading"), "Kettle > Descaling");
  EXPECT_EQ(json_at(value, "lines"), Json({13, 16}));
  EXPECT_TRUE(json_at(value, "hash").is_int64());
}

TEST_P(Documents, SecondTime_WritesOnlyWhatChanged) {
  const IngestOptions options{"documents", {400, 80}};
  std::string text = paragraphs(40);
  const IngestReport first = ingest(memory(), {"a.txt", text}, options).value();
  EXPECT_EQ(first, (IngestReport{keys().size(), keys().size(), 0}));
  EXPECT_EQ(ingest(memory(), {"a.txt", text}, options).value(), (IngestReport{first.pieces, 0, 0}));
  ASSERT_TRUE(ingest(memory(), {"a.txt:1", "other document"}, options));
  text.replace(text.find("number 39"), 9, "number XX");
  EXPECT_EQ(ingest(memory(), {"a.txt", text}, options).value(), (IngestReport{first.pieces, 1, 0}));
  EXPECT_THAT(memory().search("XX").value(), SizeIs(1));
  const IngestReport shorter = ingest(memory(), {"a.txt", "canary5523 only"}, options).value();
  EXPECT_EQ(shorter, (IngestReport{1, 1, first.pieces}));
  EXPECT_THAT(keys(), ElementsAre("a.txt:1-1", "a.txt:1:1-1"));
  EXPECT_THAT(document_names(memory(), "a").value(), ElementsAre("a.txt", "a.txt:1"));
  EXPECT_EQ(remove_document(memory(), "a.txt").value(), 1U);
  EXPECT_THAT(keys(), ElementsAre("a.txt:1:1-1"));
  ASSERT_TRUE(memory().purge());
  EXPECT_FALSE(folder_.holds("canary5523")) << "purge leaves nothing of it";
}

TEST_P(Documents, PartsOfALongLine_AreAllKept) {
  std::string line;
  for (int i = 0; i < 2000; ++i) line += "word" + std::to_string(i) + ' ';
  const auto report = ingest(memory(), {"long.txt", line}).value();
  EXPECT_GT(report.pieces, 5U);
  EXPECT_THAT(keys(), SizeIs(report.pieces));
  EXPECT_THAT(memory().search("word1999").value(), Not(IsEmpty()));
  EXPECT_EQ(ingest(memory(), {"long.txt", line}).value().written, 0U);
}

TEST_P(Documents, Batch_StoresWhatEachDocumentAloneWould) {
  std::vector<std::string> reported;
  IngestBatch batch(memory(), {"documents", {400, 80}},
                    [&](const std::string& name, const IngestReport& report) {
                      reported.push_back(name + ' ' + std::to_string(report.written) + ' ' +
                                         std::to_string(report.removed));
                    });
  ASSERT_TRUE(ingest(memory(), {"b.txt", "old text"}, {"documents", {400, 80}}));
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) ASSERT_TRUE(batch.add({name, "one line"}));
  EXPECT_THAT(reported, IsEmpty()) << "nothing is stored yet";
  EXPECT_THAT(keys(), ElementsAre("b.txt:1-1"));
  ASSERT_TRUE(batch.finish());
  EXPECT_THAT(reported, ElementsAre("a.txt 1 0", "b.txt 1 0", "c.txt 1 0"));
  EXPECT_THAT(keys(), ElementsAre("a.txt:1-1", "b.txt:1-1", "c.txt:1-1"));
  ASSERT_TRUE(batch.add({"large.txt", paragraphs(60'000)}));
  EXPECT_THAT(reported, SizeIs(4)) << "much text does not wait";
}

TEST_P(Documents, BatchThatFails_KeepsTheDocumentsBefore) {
  std::vector<std::string> stored;
  IngestBatch batch(memory(), {},
                    [&](const std::string& name, const IngestReport&) { stored.push_back(name); });
  ASSERT_TRUE(batch.add({"a.txt", "one line"}));
  EXPECT_EQ(batch.add({"", "no name"}).error().code, ErrorCode::kInput);
  EXPECT_THAT(stored, ElementsAre("a.txt"));
  clients_ = memory_in_process({fixed_environment(1), {.max_notes = 2}});
  IngestBatch full(memory(), {},
                   [&](const std::string& name, const IngestReport&) { stored.push_back(name); });
  for (const char* name : {"b.txt", "c.txt", "d.txt"}) ASSERT_TRUE(full.add({name, "one line"}));
  EXPECT_EQ(full.finish().error().code, ErrorCode::kLimit);
  EXPECT_THAT(keys(), ElementsAre("b.txt:1-1", "c.txt:1-1"));
  EXPECT_THAT(stored, ElementsAre("a.txt", "b.txt", "c.txt"));
}

TEST_P(Documents, ChangeThatDoesNotFit_ChangesNothing) {
  ASSERT_TRUE(memory().write("c", "a", "old"));
  NoteChanges changes;
  changes.removals = {"a"};
  changes.writes.emplace_back("b", "new");
  changes.writes.emplace_back("c", Json(std::string(std::size_t{5} << 20U, 'x')));
  EXPECT_EQ(memory().change("c", changes).error().code, ErrorCode::kLimit);
  EXPECT_TRUE(memory().read("c", "a").value());
  EXPECT_FALSE(memory().read("c", "b").value());
  EXPECT_EQ(ingest(memory(), {"", "text"}).error().code, ErrorCode::kInput);
  EXPECT_EQ(ingest(memory(), {"a\nb", "text"}).error().code, ErrorCode::kInput);
}

TEST_P(Documents, ChangeWithTheKeyOfAnEffect_IsMadeOnce) {
  for (const char* text : {"first", "second"}) {
    NoteChanges changes;
    changes.writes.emplace_back("k", text);
    ASSERT_TRUE(memory().change("c", std::move(changes), {"session/effect"}));
  }
  EXPECT_EQ(memory().read("c", "k").value()->value, Json("first"));
}

INSTANTIATE_TEST_SUITE_P(Places, Documents, ::testing::Values(DocumentPlace::kProcess, DocumentPlace::kFile),
                         [](const auto& place) {
                           return place.param == DocumentPlace::kProcess ? "Process" : "File";
                         });

}  // namespace
}  // namespace praxis
