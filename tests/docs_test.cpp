// The documentation against the tree it describes: the programs it shows, the tests and names that
// docs/requirements.md cites, the events and hooks of docs/events.md, links between pages, the shape of
// tables, and words that do not belong in the project: those of one machine, and those of no engineer's
// vocabulary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
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
    const bool wanted = it->is_regular_file() && name != ".git" && name.ends_with(suffix);
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

// A marked block looks like this: <!-- examples/chat.cpp -->, then ```cpp on a line of its own. Programs in C
// and Python are `c` and `python`.
TEST(Docs, MarkedCodeBlocks_AreTheExamplesThemselves) {
  const std::string begin = "<!-- examples/", end = "```\n";
  const std::map<std::string, std::string> languages{{".cpp", "cpp"}, {".c", "c"}, {".py", "python"}};
  std::size_t blocks = 0;
  for (const fs::path& page : text_files(".md")) {
    const std::string text = read(page);
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
      const std::string file = text.substr(at + 5, text.find(" -->", at) - at - 5);
      const std::string middle = " -->\n```" + languages.at(fs::path(file).extension()) + '\n';
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

/// The tests of all sources, as `Suite.Name`.
Names known_tests() {
  static const std::regex test(R"(\b(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  Names known;
  for (const fs::path& file : text_files("_test.cpp")) {
    const std::string source = read(file);
    for (auto it = std::sregex_iterator(source.begin(), source.end(), test); it != std::sregex_iterator();
         ++it) {
      known.insert((*it)[1].str() + '.' + (*it)[2].str());
    }
  }
  return known;
}

TEST(Docs, TestsNamedByRequirements_Exist) {
  const Names known = known_tests();
  for (const Requirement& row : requirements()) {
    for (const std::string& name : row.tests)
      EXPECT_TRUE(known.contains(name)) << row.id << " names " << name;
  }
  // Also those in the rows about what holds in part, which have no column for tests.
  for (const std::string& name :
       matches(read(kRoot / "docs/requirements.md"), R"(`([A-Z]\w+\.[A-Z]\w*_\w+)`)"))
    EXPECT_TRUE(known.contains(name)) << name;
}

TEST(Docs, TestsThatFindMutations_Exist) {
  const std::string page = read(kRoot / "docs/reliability.md");
  const Names named = matches(page.substr(page.find("### Mutations of the driver")), R"(\| `(\w+\.\w+)`)");
  const Names known = known_tests();
  EXPECT_GE(named.size(), 20U);
  for (const std::string& name : named) EXPECT_TRUE(name.ends_with("pp") || known.contains(name)) << name;
}

TEST(Docs, WayOfOneMessage_IsShort) {
  const std::string way = section(read(kRoot / "docs/architecture.md"), "The way of one message");
  const Names files = matches(way, R"(\| `(src/[\w/]+\.cpp)` \|)");
  const Names step = matches(way, R"(\| `(src/[\w/]+\.cpp)` \| yes \|)");
  for (const std::string& file : files) EXPECT_TRUE(fs::exists(kRoot / file)) << file;
  EXPECT_GE(step.size(), 10U);
  EXPECT_LE(step.size(), 15U);
  EXPECT_LE(files.size(), 25U);
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

/// The names by which a link reaches the headings of a page: lower case, blanks as hyphens, without other
/// signs.
Names anchors_of(const std::string& page) {
  Names anchors;
  for (const std::string& heading : matches(page, "^#+ (.*)$")) {
    std::string anchor;
    for (const char c : heading) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80)
        anchor += static_cast<char>(std::tolower(byte));
      if (c == ' ') anchor += '-';
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Docs, Links_LeadSomewhere) {
  for (const fs::path& page : text_files(".md")) {
    for (const std::string& link : matches(read(page), R"(\]\(([^)\s]+)\))")) {
      const std::string target = link.substr(0, link.find('#'));
      if (target.contains("://")) continue;
      const fs::path file = target.empty() ? page : page.parent_path() / target;
      EXPECT_TRUE(fs::exists(file)) << page << " links to " << link;
      if (!link.contains('#') || file.extension() != ".md") continue;
      EXPECT_TRUE(anchors_of(read(file)).contains(link.substr(target.size() + 1)))
          << page << " links to " << link;
    }
  }
}

TEST(Docs, ListForModels_HasEachPageOnce) {
  const std::string list = read(kRoot / "docs/llms.txt");
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = read(entry.path()), file = entry.path().filename();
    const std::string line = "- [" + text.substr(2, text.find('\n') - 2) + "](" + file + "): ";
    EXPECT_TRUE(list.contains('\n' + line)) << line;
    ++pages;
  }
  EXPECT_EQ(matches(list, R"(^(- \[.*))").size(), pages);
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

// ---- tables -----------------------------------------------------------------------------------------------

/// The number of cells of a table's row; 0 when the row has no end.
std::size_t cells_of(std::string_view row) {
  if (row.size() < 2 || !row.ends_with('|') || row[row.size() - 2] == '\\') return 0;
  std::size_t bars = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    bars += row[i] == '|' && (i == 0 || row[i - 1] != '\\') ? 1 : 0;
  return bars - 1;
}

bool is_separator(const std::string& row) {
  static const std::regex separator(R"(\|( *:?-+:? *\|)+)");
  return std::regex_match(row, separator);
}

/// Checks the rows of one table; `first` is the line number of the first one.
void check_table(const std::vector<std::string>& rows, std::size_t first, std::vector<std::string>& broken) {
  const auto at = [&](std::size_t row) { return "line " + std::to_string(first + row) + ": "; };
  if (rows.size() < 2 || !is_separator(rows[1])) {
    broken.push_back(at(0) + "rows without a header and a separator");
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (cells_of(rows[i]) != cells_of(rows[0])) {
      broken.push_back(at(i) + std::to_string(cells_of(rows[i])) + " cells, the header has " +
                       std::to_string(cells_of(rows[0])));
    }
  }
}

/// What is wrong with the tables of a page. A blank line within a table leaves rows without a header.
std::vector<std::string> broken_tables(const std::string& page) {
  std::vector<std::string> broken, rows;
  std::istringstream in(page);
  std::size_t number = 0;
  bool in_code = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line.compare(begin, 3, "```") == 0) in_code = !in_code;
    if (!in_code && begin != std::string::npos && line[begin] == '|') {
      rows.push_back(line.substr(begin, line.find_last_not_of(' ') + 1 - begin));
    } else if (!rows.empty()) {
      check_table(rows, number - rows.size(), broken);
      rows.clear();
    }
  }
  if (!rows.empty()) check_table(rows, number + 1 - rows.size(), broken);
  return broken;
}

TEST(Docs, BrokenTables_AreSeen) {
  const std::string head = "| a | b |\n|---|:-:|\n";
  EXPECT_THAT(broken_tables("Text.\n\n" + head + "| 1 | 2 |\n| 3 \\| 4 | |\n\nText.\n"), IsEmpty());
  EXPECT_THAT(broken_tables("```\n| no table |\n```\n" + head), IsEmpty());
  EXPECT_THAT(broken_tables(head + "| 1 | 2 | 3 |\n| 4 | 5 |\n"),
              ElementsAre("line 3: 3 cells, the header has 2"));
  EXPECT_THAT(broken_tables(head + "| 1 |\n"), ElementsAre("line 3: 1 cells, the header has 2"));
  EXPECT_THAT(broken_tables(head + "| 1 | 2\n"), ElementsAre("line 3: 0 cells, the header has 2"));
  EXPECT_THAT(broken_tables("| a | b |\n|---|\n"), ElementsAre("line 2: 1 cells, the header has 2"));
  EXPECT_THAT(broken_tables(head + "| 1 | 2 |\n\n| 3 | 4 |\n"),
              ElementsAre("line 5: rows without a header and a separator"));
  EXPECT_THAT(broken_tables("| 1 | 2 |\n| 3 | 4 |"),
              ElementsAre("line 1: rows without a header and a separator"));
}

TEST(Docs, Tables_AreWhole) {
  for (const fs::path& page : text_files(".md")) EXPECT_THAT(broken_tables(read(page)), IsEmpty()) << page;
}

// ---- words ------------------------------------------------------------------------------------------------

/// Words and phrases that a reader from outside stumbles over, in lower case.
constexpr std::array<std::string_view, 25> kPrivateWords{
    "whoever",    "whatever",  "somebody",      "nobody",           "told", "is none", "are none",
    "mend",       "mends",     "mended",        "mending",          "anew", "goes on", "carry on",
    "carries on", "as it is",  "be it",         "the one who",      "dear", "dearer",  "dearest",
    "beside",     "stands by", "what there is", "of its own making"};

/// What people read in a file: one string for each comment, literal, paragraph or page.
using Prose = std::vector<std::string>;

/// The end of a literal in quotes that begins at `at`.
std::size_t end_of_literal(std::string_view code, std::size_t at) {
  const char quote = code[at];
  for (++at; at < code.size() && code[at] != quote && code[at] != '\n'; ++at) at += code[at] == '\\' ? 1 : 0;
  return std::min(at + 1, code.size());
}

/// The end of the raw literal whose first quote is at `at`.
std::size_t end_of_raw_literal(std::string_view code, std::size_t at) {
  const std::string end = ")" + std::string(code.substr(at + 1, code.find('(', at) - at - 1)) + "\"";
  const std::size_t found = code.find(end, at);
  return found == code.npos ? code.size() : found + end.size();
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The comments and string literals of C++ code. Line comments below each other are one.
Prose prose_of_code(std::string_view code) {
  Prose prose;
  std::size_t comment_end = 0;  // where the last line comment ended
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at + 1;
    if (code.substr(at, 2) == "//") {
      end = std::min(code.find('\n', at), code.size());
      std::string line(code.substr(std::min(code.find_first_not_of("/<", at), end), end));
      line.resize(std::min(line.size(), line.find('\n')));
      const bool continues = comment_end != 0 &&
                             code.substr(comment_end, at - comment_end).find_first_not_of(" \n") == code.npos;
      if (continues) {
        prose.back() += ' ' + line;
      } else {
        prose.push_back(line);
      }
      comment_end = end;
    } else if (code.substr(at, 2) == "/*") {
      end = std::min(code.find("*/", at), code.size() - 2) + 2;
      prose.emplace_back(code.substr(at, end - at));
    } else if (code[at] == '"') {
      end = at > 0 && code[at - 1] == 'R' ? end_of_raw_literal(code, at) : end_of_literal(code, at);
      prose.emplace_back(code.substr(at, end - at));
    } else if (code[at] == '\'' && (at == 0 || !is_word_char(code[at - 1]))) {  // no separator of digits
      end = end_of_literal(code, at);
    }
    at = end;
  }
  return prose;
}

/// The comment lines of a script or a settings file.
Prose prose_of_script(const std::string& script) {
  Prose prose;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] == '#') prose.push_back(line.substr(begin));
  }
  return prose;
}

Prose prose_of(const std::string& name, const std::string& text) {
  if (name.ends_with(".cpp") || name.ends_with(".hpp")) return prose_of_code(text);
  return name.ends_with(".md") ? Prose{text} : prose_of_script(text);
}

/// In lower case, with one space for any white space.
std::string flat(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (space && out.ends_with(' ')) continue;
    out += space ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::size_t count_words(std::string_view text) {
  std::size_t words = 0, length = 0;
  for (const char c : text) {
    length = std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '\'' ? length + 1 : 0;
    words += length == 2 ? 1 : 0;  // what has one letter is no word
  }
  return words;
}

/// Where `text`, which is flat, has private words: each with what stands around it.
std::vector<std::string> private_words(const std::string& text) {
  constexpr std::size_t kAround = 40;
  std::vector<std::string> found;
  for (const std::string_view word : kPrivateWords) {
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size(), begin = at - std::min(at, kAround);
      if ((at > 0 && is_word_char(text[at - 1])) || (end < text.size() && is_word_char(text[end]))) continue;
      found.push_back(std::string(word) + ": ..." + text.substr(begin, end + kAround - begin));
    }
  }
  return found;
}

TEST(Docs, PrivateWords_AreSeen) {
  const auto seen = [](const std::string& name, const std::string& text) {
    std::vector<std::string> words;
    for (const std::string& piece : prose_of(name, text)) {
      for (const std::string& found : private_words(flat(piece)))
        words.push_back(found.substr(0, found.find(':')));
    }
    return words;
  };
  EXPECT_THAT(seen("a.md", "Nobody knows.\nIt is the one\nwho was told."),
              ElementsAre("nobody", "told", "the one who"));
  EXPECT_THAT(seen("a.cpp", "int told = 1'000'0;  // Nobody.\nauto t = \"anew\";\nchar q = '\"';  // mended"),
              ElementsAre("nobody", "anew", "mended"));
  EXPECT_THAT(seen("a.hpp", "/// The one\n/// who waits.\n/* dearer */ auto r = R\"x(be it \")\" told)x\";"),
              ElementsAre("the one who", "dearer", "told", "be it"));
  EXPECT_THAT(seen("a.cpp", "// The one\nint a;\n// who \"nobody_\", retold, besides."), IsEmpty());
  EXPECT_THAT(seen("script", "told\n  # told\necho told # told\n"), ElementsAre("told"));
  EXPECT_EQ(count_words("It isn't a \"word\" (x), 12."), 3U);
}

/// What others wrote, or what tests compare byte for byte.
bool is_foreign(const std::string& path) {
  constexpr std::array<std::string_view, 8> kFolders{
      "fuzz/corpus", "tests/provider_cases", "tests/cassettes", "tests/fixtures", "share/", "LICENSE",
      "tests/sdk",   "tests/docs_test.cpp"};
  return std::ranges::any_of(kFolders, [&](std::string_view folder) { return path.starts_with(folder); });
}

TEST(Docs, PrivateWords_AreRare) {
  constexpr double kMostIn10000 = 2;
  std::size_t words = 0, found = 0;
  std::string places;
  for (const fs::path& file : text_files()) {
    const std::string path = fs::relative(file, kRoot).generic_string();
    if (is_foreign(path)) continue;
    for (const std::string& piece : prose_of(path, read(file))) {
      const std::string text = flat(piece);
      words += count_words(text);
      for (const std::string& place : private_words(text)) {
        ++found;
        places += path + ": " + place + '\n';
      }
    }
  }
  ASSERT_GT(words, 50'000U);
  const double rate = 1e4 * static_cast<double>(found) / static_cast<double>(words);
  EXPECT_LE(rate, kMostIn10000) << found << " in " << words << " words:\n" << places;
}

}  // namespace
