// The documentation against the tree it describes: the programs it shows, the tests and names that
// docs/requirements.md cites, the events and hooks of docs/events.md, links between pages, and words that
// belong to one machine only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Not;
using Names = std::set<std::string>;

const fs::path kRoot = PRAXIS_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// All text files below the root whose names end in `suffix`, without what is built or belongs to version
/// control.
std::vector<fs::path> text_files(std::string_view suffix = "") {
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(kRoot); it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename();
    if (it.depth() == 0 && (name == "build" || name == ".git" || name == ".cache"))
      it.disable_recursion_pending();
    const bool wanted = it->is_regular_file() && name.ends_with(suffix);
    if (wanted && !read(it->path()).contains('\0')) files.push_back(it->path());
  }
  return files;
}

/// What the first group of `pattern` matches, everywhere in `text`.
Names matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern, std::regex::ECMAScript | std::regex::multiline);
  Names found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

/// The text from one heading to the next of the same level.
std::string section(const std::string& text, const std::string& heading) {
  const auto begin = text.find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << "no section " << heading;
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

/// A row of docs/requirements.md.
struct Requirement {
  std::string id;
  Names names;  ///< public names and the headers that declare them
  Names tests;
  bool untested;  ///< marked as having no test
};

std::vector<Requirement> requirements() {
  static const std::regex row(R"(^\| ([STU]\d*-?\d+) \| .* \| (.*) \| (.*) \|$)",
                              std::regex::ECMAScript | std::regex::multiline);
  const std::string quoted = "`([^`]+)`";
  const std::string text = read(kRoot / "docs/requirements.md");
  std::vector<Requirement> rows;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), row); it != std::sregex_iterator(); ++it) {
    rows.push_back({(*it)[1], matches((*it)[2], quoted), matches((*it)[3], quoted), (*it)[3] == "—"});
  }
  return rows;
}

// A marked block looks like this: <!-- examples/chat.cpp -->, then ```cpp on a line of its own.
TEST(Docs, MarkedCodeBlocks_AreTheExamplesThemselves) {
  const std::string begin = "<!-- examples/", middle = " -->\n```cpp\n", end = "```\n";
  std::size_t blocks = 0;
  for (const fs::path& page : text_files(".md")) {
    const std::string text = read(page);
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
      const std::string file = text.substr(at + 5, text.find(" -->", at) - at - 5);
      const auto code = at + 5 + file.size() + middle.size();
      ASSERT_EQ(text.substr(at + 5 + file.size(), middle.size()), middle)
          << page << ": no code follows " << file;
      const std::string source = read(kRoot / file);
      EXPECT_FALSE(source.empty()) << page << " shows " << file << ", which is not there";
      EXPECT_EQ(text.substr(code, text.find(end, code) - code), source)
          << page << " and " << file << " differ";
      ++blocks;
    }
  }
  EXPECT_GE(blocks, 5U);
}

TEST(Docs, Requirements_AreListedOnceWithATestOrAMark) {
  Names ids;
  for (const Requirement& row : requirements()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is listed twice";
    EXPECT_NE(row.tests.empty(), !row.untested) << row.id << " names no test and is not marked, or both";
  }
  EXPECT_THAT(ids, Not(IsEmpty()));
}

TEST(Docs, TestsNamedByRequirements_Exist) {
  static const std::regex test(R"(\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  Names known;
  for (const fs::path& file : text_files("_test.cpp")) {
    const std::string source = read(file);
    for (auto it = std::sregex_iterator(source.begin(), source.end(), test); it != std::sregex_iterator();
         ++it) {
      known.insert((*it)[1].str() + '.' + (*it)[2].str());
    }
  }
  for (const Requirement& row : requirements()) {
    for (const std::string& name : row.tests)
      EXPECT_TRUE(known.contains(name)) << row.id << " names " << name;
  }
}

TEST(Docs, NamesThatServeRequirements_StandInTheirHeaders) {
  for (const Requirement& row : requirements()) {
    std::string declared;
    for (const std::string& name : row.names) {
      if (!name.ends_with(".hpp")) continue;
      EXPECT_TRUE(fs::exists(kRoot / "include" / name)) << row.id << " names " << name;
      declared += read(kRoot / "include" / name);
    }
    for (const std::string& name : row.names) {
      if (name.ends_with(".hpp")) continue;
      const std::regex last("\\b" + name.substr(name.rfind(':') + 1) + "\\b");
      EXPECT_TRUE(std::regex_search(declared, last)) << row.id << " names " << name;
    }
  }
}

TEST(Docs, Events_AreThoseOfTheCode) {
  const Names code = matches(read(kRoot / "src/core/event.cpp"), R"re(return "([a-z_]+\.[a-z_]+)")re");
  const Names docs =
      matches(section(read(kRoot / "docs/events.md"), "Events"), R"(^\| `([a-z_]+\.[a-z_]+)` \|)");
  EXPECT_THAT(code, Not(IsEmpty()));
  EXPECT_EQ(code, docs);
}

TEST(Docs, Hooks_AreThoseOfTheCode) {
  const Names code =
      matches(read(kRoot / "include/praxis/runtime/hooks.hpp"), R"(^  std::vector<.*> (\w+);)");
  const Names docs = matches(section(read(kRoot / "docs/events.md"), "Hooks"), R"(^\| `(\w+)` \|)");
  EXPECT_THAT(code, Not(IsEmpty()));
  EXPECT_EQ(code, docs);
}

TEST(Docs, Providers_AreThoseThatThereAre) {
  const Names table = matches(read(kRoot / "share/praxis/providers.jsonl"), R"re(^\{"id":"([^"]+)")re");
  const std::string page = read(kRoot / "docs/providers.md");
  const Names docs = matches(page.substr(0, page.find("\n## ")), R"(^\| `([a-z0-9-]+)` \|)");
  EXPECT_THAT(table, Not(IsEmpty()));
  EXPECT_EQ(table, docs);
}

TEST(Docs, Links_LeadSomewhere) {
  for (const fs::path& page : text_files(".md")) {
    for (const std::string& link : matches(read(page), R"(\]\(([^)\s]+)\))")) {
      const std::string target = link.substr(0, link.find('#'));
      if (target.empty() || target.contains("://")) continue;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << link;
    }
  }
}

TEST(Docs, NoFile_SpeaksOfTheMachineItWasMadeOn) {
  // In two pieces each, so that this file has none of them.
  constexpr std::array<std::array<std::string_view, 2>, 7> kWords{{{"/wo", "rk/"},
                                                                   {"/tmp", "/w/"},
                                                                   {"/ro", "ot/"},
                                                                   {"npmjs", ".org"},
                                                                   {"pypi", ".org"},
                                                                   {"deb.debian", ".org"},
                                                                   {"proxy.golang", ".org"}}};
  for (const fs::path& file : text_files()) {
    const std::string text = read(file);
    for (const auto& [head, tail] : kWords) {
      const std::string word = std::string(head) + std::string(tail);
      EXPECT_FALSE(text.contains(word)) << file << " says " << word;
    }
  }
}

}  // namespace
