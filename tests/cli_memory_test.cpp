// `praxis memory`, and agents that remember between runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "memory/testing/redis_server.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kRemembers =
    R"({"tool_calls": [{"name": "remember", "arguments": {"text": "Anna prefers green tea.", "key": "anna"}}]}
{"text": "Noted."}
)";
constexpr const char* kRecalls = R"({"tool_calls": [{"name": "recall", "arguments": {"query": "which tea"}}]}
{"text": "Green."}
)";

class CliMemory : public CommandLine {
 protected:
  /// Whether any file of the state folder contains the text.
  bool is_kept(const std::string& text) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "state")) {
      if (entry.is_regular_file() &&
          contents(std::filesystem::relative(entry.path(), folder_)).find(text) != std::string::npos)
        return true;
    }
    return false;
  }
};

TEST_F(CliMemory, NoteThatIsAdded_IsFoundShownAndForgotten) {
  EXPECT_EQ(praxis({"memory", "add", "Anna prefers green tea.", "--key", "anna", "--tag", "people"}).out,
            "anna\n");
  const std::string made = praxis({"memory", "add", "Bob drinks canary7788 juice."}).out;
  EXPECT_EQ(made.size(), 27U) << "an id";
  EXPECT_THAT(praxis({"memory", "list"}).out, HasSubstr("2 notes"));
  const CommandResult found = praxis({"memory", "search", "teas"});
  EXPECT_THAT(found.out,
              AllOf(HasSubstr("anna"), HasSubstr("matches teas; words #1"), Not(HasSubstr("Bob"))));
  EXPECT_THAT(praxis({"memory", "search", "drinks prefers", "--tag", "people"}).out, Not(HasSubstr("Bob")));
  EXPECT_THAT(praxis({"memory", "list", "-c", "notes", "--filter", R"({"exists": "tags"})"}).out,
              AllOf(HasSubstr("Anna"), Not(HasSubstr("Bob"))));
  EXPECT_EQ(praxis({"memory", "show", "anna"}).out, "Anna prefers green tea.\n");
  EXPECT_TRUE(is_kept("canary7788"));
  EXPECT_EQ(praxis({"memory", "forget", made.substr(0, 26)}).status, 0);
  EXPECT_FALSE(is_kept("canary7788"));
  const CommandResult again = praxis({"memory", "forget", made.substr(0, 26)});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("no note"));
  EXPECT_EQ(praxis({"memory", "forget", "--all", "-c", "notes"}).status, 0);
  EXPECT_THAT(praxis({"memory", "list"}).err, HasSubstr("the memory is empty"));
}

TEST_F(CliMemory, ExportAndImport_CarryEverything) {
  for (int i = 0; i < 120; ++i) {
    if (i % 40 == 0) {
      ASSERT_EQ(
          praxis({"memory", "add", "note \"" + std::to_string(i) + "\" ü", "-c", "c'" + std::to_string(i)})
              .status,
          0);
    }
  }
  const std::string lines = praxis({"memory", "export"}).out;
  EXPECT_EQ(std::ranges::count(lines, '\n'), 3);
  file("lines.jsonl", lines);
  EXPECT_EQ(praxis({"memory", "import", "lines.jsonl", "--memory", "other.db"}).status, 0);
  EXPECT_EQ(mode_of("other.db"), 0600U);
  const auto values = [](const std::string& text) {
    std::string out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      Json note = parse_json(line).value();
      note.get_object().erase("written");
      out += to_json_text(note) + "\n";
    }
    return out;
  };
  EXPECT_EQ(values(praxis({"memory", "export", "--memory", "other.db"}).out), values(lines));
  file("bad.jsonl", lines + "{\"key\": 1}\n");
  const CommandResult bad = praxis({"memory", "import", "bad.jsonl", "--memory", "third.db"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("line 4 is not a note"));
  EXPECT_THAT(praxis({"memory", "export", "--memory", "third.db"}).out, IsEmpty()) << "nothing is written";
}

TEST_F(CliMemory, AgentFile_RemembersBetweenRuns) {
  file("writer.toml", "model = 'script:remembers.jsonl'\n[tools.memory]\nwrite = true\n");
  file("reader.toml", "model = 'script:recalls.jsonl'\n[tools.memory]\n");
  file("remembers.jsonl", kRemembers);
  file("recalls.jsonl", kRecalls);
  const CommandResult denied = praxis({"run", "reader.toml", "Note it", "--model", "script:remembers.jsonl"});
  EXPECT_THAT(praxis({"memory", "list"}).out, IsEmpty()) << denied.out << denied.err;
  ASSERT_EQ(praxis({"run", "writer.toml", "Note it"}).status, 0);
  ASSERT_EQ(praxis({"run", "reader.toml", "Which tea?"}).status, 0);
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("Anna prefers green tea."));
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
  EXPECT_THAT(praxis({"memory", "show", "anna", "--json"}).last_line().at("note").at("value").as_object(),
              SizeIs(3))
      << "text, agent and session";
}

TEST_F(CliMemory, Redis_KeepsWhatAgentsAndCommandsWrite) {
  PRAXIS_NEED_REDIS();
  file("config/praxis/config.toml", "memory = \"" + RedisServer::shared()->new_database() + "\"\n");
  file("writer.toml", "model = 'script:remembers.jsonl'\n[tools.memory]\nwrite = true\n");
  file("remembers.jsonl", kRemembers);
  ASSERT_EQ(praxis({"run", "writer.toml", "Note it"}).status, 0);
  EXPECT_EQ(praxis({"memory", "add", "Bob drinks juice.", "--key", "bob"}).out, "bob\n");
  EXPECT_THAT(praxis({"memory", "search", "teas"}).out, AllOf(HasSubstr("anna"), Not(HasSubstr("bob"))));
  EXPECT_THAT(praxis({"memory", "list"}).out, HasSubstr("2 notes"));
  EXPECT_EQ(praxis({"memory", "forget", "bob"}).status, 0);
  EXPECT_THAT(praxis({"memory", "list"}).out, HasSubstr("1 note"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state/praxis/memory.db"));
  file("config/praxis/config.toml",
       "memory = 'redis://localhost'\n[encryption]\njournal_key = 'env:NOT_ASKED'\n");
  const CommandResult refused = praxis({"memory", "list"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("a memory in Redis is not sealed"));
}

TEST_F(CliMemory, PasswordOfRedis_IsNeverShown) {
  const std::string address = "redis://ann:canary2211@127.0.0.1:1/0";
  for (const auto& [status, words] : std::vector<std::pair<int, std::vector<std::string>>>{
           {0, {"config", "set", "memory", address}},
           {0, {"config"}},
           {0, {"config", "explain", "memory"}},
           {0, {"doctor", "--json"}},
           {1, {"memory", "list"}},
           {2, {"memory", "list", "--memory", "redis://ann:canary2211"}},
           {2, {"memory", "list", "--memory", "redis://ann:canary/2211@host?canary2211"}}}) {
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, status) << words.back() << result.out << result.err;
    EXPECT_THAT(result.out + result.err, AllOf(Not(HasSubstr("canary")), Not(HasSubstr("2211"))));
  }
}

TEST_F(CliMemory, Tools_DoNotReachTheFile) {
  file("a.toml", "model = 'script:reads.jsonl'\n[tools.file]\nread = ['state']\n");
  file("reads.jsonl",
       R"({"tool_calls": [{"name": "file_read", "arguments": {"path": "state/praxis/memory.db"}}]}
{"text": "Done."}
)");
  ASSERT_EQ(praxis({"memory", "add", "canary5511"}).status, 0);
  ASSERT_EQ(praxis({"run", "a.toml", "Read"}).status, 0);
  EXPECT_THAT(praxis({"show", "last"}).out, AllOf(Not(HasSubstr("canary5511")), HasSubstr("memory.db")));
}

TEST_F(CliMemory, Documents_AreAddedWhenTheyChangeAndCited) {
  std::filesystem::create_directories(folder_ / "docs/.hidden");
  file("docs/kettle.md", "# Kettle\n\nDescale it with canary6611 vinegar.\n");
  file("docs/.hidden/secret.md", "vinegar in a hidden folder");
  file("docs/binary.bin", std::string("vinegar\0", 8));
  file("notes.txt", "Vinegar is in the cupboard.");
  const CommandResult first = praxis({"memory", "add", "--files", "docs", "notes.txt"});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err,
              AllOf(HasSubstr("binary.bin is skipped: it is not text"),
                    HasSubstr("documents: 2, pieces: 2 (2 written, 0 removed), skipped files: 1")));
  const CommandResult found = praxis({"memory", "search", "descale"});
  EXPECT_THAT(found.out, HasSubstr((folder_ / "docs/kettle.md").string() + ":1-3 "));
  EXPECT_THAT(praxis({"memory", "search", "vinegar"}).out, Not(HasSubstr("hidden")));
  EXPECT_THAT(praxis({"memory", "add", "--files", "docs/", "notes.txt"}).err,
              HasSubstr("(0 written, 0 removed)"));
  std::filesystem::remove(folder_ / "docs/kettle.md");
  EXPECT_THAT(praxis({"memory", "add", "--files", "docs"}).err, HasSubstr("(0 written, 1 removed)"));
  EXPECT_FALSE(is_kept("canary6611"));
  EXPECT_THAT(praxis({"memory", "search", "cupboard"}).out, HasSubstr("notes.txt:1-1"))
      << "it is in no folder that was given";
}

TEST_F(CliMemory, Pdf_IsReadInTheSandbox) {
  if (!std::filesystem::exists("/usr/bin/pdftotext")) PRAXIS_MISSING_PART("pdftotext");
  if (!probe_sandbox().full()) PRAXIS_MISSING_PART(probe_sandbox().reason());
  const std::string drawn = "BT /F1 24 Tf 72 720 Td (Descale the kettle with vinegar) Tj ET";
  file("a.pdf",
       "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
       "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
       "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
       "/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
       "4 0 obj<</Length " +
           std::to_string(drawn.size()) + ">>stream\n" + drawn +
           "\nendstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
           "trailer<</Root 1 0 R>>\n%%EOF\n");
  file("broken.pdf", "%PDF-1.4 and nothing else");
  const CommandResult added = praxis({"memory", "add", "--files", "a.pdf", "broken.pdf"});
  EXPECT_THAT(added.err, AllOf(HasSubstr("broken.pdf is skipped: pdftotext cannot read it"),
                               HasSubstr("documents: 1, pieces: 1")));
  const CommandResult found = praxis({"memory", "search", "descaling", "--json"});
  EXPECT_THAT(found.out, AllOf(HasSubstr("a.pdf:1-1"), HasSubstr("\"heading\":\"page 1\"")));
}

TEST_F(CliMemory, Sweep_ForgetsTheOldest) {
  for (const char* key : {"c", "a", "b"})
    ASSERT_EQ(praxis({"memory", "add", "canary77" + std::string(key), "--key", key}).status, 0);
  EXPECT_EQ(praxis({"memory", "sweep", "--max-notes", "1"}).err, "removed notes: 2 (42 bytes)\n");
  EXPECT_THAT(praxis({"memory", "list", "-c", "notes"}).out,
              AllOf(HasSubstr("canary77b"), Not(HasSubstr("canary77a")), Not(HasSubstr("canary77c"))));
  EXPECT_FALSE(is_kept("canary77c"));
  EXPECT_EQ(praxis({"memory", "sweep", "--max-age", "1d"}).err, "removed notes: 0 (0 bytes)\n");
  EXPECT_THAT(praxis({"memory", "sweep", "--max-bytes", "0"}).err, HasSubstr("removed notes: 1"));
}

TEST_F(CliMemory, AgentWithDocuments_GetsThemWithTheMessageAndCitesThem) {
  file("docs/tea.md", "# Tea\n\nGreen tea steeps for two minutes.\n");
  ASSERT_EQ(praxis({"memory", "add", "--files", "docs"}).status, 0);
  file("a.toml",
       "model = 'script:answers.jsonl'\n[tools.memory]\ndocuments = 'documents'\nautomatic = true\n");
  file("answers.jsonl", R"({"tool_calls": [{"name": "recall", "arguments": {"query": "minutes"}}]})"
                        "\n{\"text\": \"Two.\"}\n");
  ASSERT_EQ(praxis({"run", "a.toml", "How long does tea steep?"}).status, 0);
  const std::string shown = praxis({"show", "last", "--json"}).out;
  const std::string cited = (folder_ / "docs/tea.md").string() + ":1-3, ";
  EXPECT_THAT(shown, HasSubstr("<recalled>"));
  const auto first = shown.find(cited);
  ASSERT_NE(first, std::string::npos) << shown;
  EXPECT_NE(shown.find(cited, first + 1), std::string::npos) << "in the message and in the result";
  ASSERT_EQ(praxis({"memory", "forget", "--all", "-c", "documents"}).status, 0);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "a replay needs no memory";
}

TEST_F(CliMemory, Mistakes_AreNamed) {
  const auto mistake = [this](std::vector<std::string> words) {
    words.insert(words.begin(), "memory");
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 2) << words[1];
    return result.err;
  };
  EXPECT_THAT(mistake({"search"}), HasSubstr("the text is missing"));
  EXPECT_THAT(mistake({"forget"}), HasSubstr("the key of a note, or --all"));
  EXPECT_THAT(mistake({"forget", "--all"}), HasSubstr("needs the collection"));
  EXPECT_THAT(mistake({"list", "-c", "x", "--filter", "{"}), HasSubstr("--filter is not JSON"));
  EXPECT_THAT(mistake({"list", "-c", "x", "--filter", "{\"like\": 1}"}), HasSubstr("no operator \"like\""));
  EXPECT_THAT(mistake({"export", "--json"}), HasSubstr("needs -o FILE"));
  EXPECT_THAT(mistake({"show", "nothing"}), HasSubstr("no note \"nothing\" in the collection \"notes\""));
  EXPECT_THAT(mistake({"lists"}), HasSubstr("lists"));
  EXPECT_THAT(mistake({"show", "a", "b"}), HasSubstr("a word too many: \"b\""));
  EXPECT_THAT(mistake({"show", "--files", "a"}), HasSubstr("only add takes --files"));
  EXPECT_THAT(mistake({"add", "--files"}), HasSubstr("needs files or folders"));
  EXPECT_THAT(mistake({"add", "--files", "a", "--key", "k"}), HasSubstr("--key and --tag are of a text"));
  EXPECT_THAT(mistake({"add", "--files", "missing"}), HasSubstr("cannot read \"missing\": No such file"));
  EXPECT_THAT(mistake({"sweep"}), HasSubstr("needs a bound"));
  EXPECT_THAT(mistake({"sweep", "--max-age", "soon"}), HasSubstr("--max-age"));
  EXPECT_THAT(mistake({"sweep", "--max-notes", "-1"}), HasSubstr("not a number"));
  file("not.db", "not a memory");
  EXPECT_THAT(praxis({"memory", "list", "--memory", "not.db"}).err, HasSubstr("not a Praxis memory"));
}

}  // namespace
}  // namespace praxis::testing
