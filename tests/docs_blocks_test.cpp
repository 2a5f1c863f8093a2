// The blocks of every page: each says in a comment before it how it is checked, and the commands and files
// that pages show are run here, page by page, in a folder of their own.
//
//   <!-- examples/NAME.cpp -->        is this file (docs_test.cpp), which the tests run; so are
//   examples/c/NAME.c and
//                                     examples/python/NAME.py
//   <!-- part of examples/NAME.cpp -->  its lines stand in this file
//   <!-- file: NAME -->               is written as this file for the blocks after it
//   <!-- file: NAME, for: COMMAND --> likewise; then this command must end with status 0
//   <!-- run -->                      is run; of a console block the output must be as shown
//   <!-- checked by Suite.Test -->    another test runs it
//   <!-- not run: WHY -->
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "command_line.hpp"
#include "shown_output.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const fs::path kSource = PRAXIS_SOURCE_DIR;

struct PageBlock {
  std::string place;  ///< page:line
  std::string language;
  std::string mark;  ///< the comment before it
  std::string text;
};

std::vector<fs::path> pages() {
  std::vector<fs::path> found{"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(kSource / "docs")) {
    if (entry.path().extension() == ".md") found.push_back("docs" / entry.path().filename());
  }
  std::ranges::sort(found);
  return found;
}

/// The text between the ends of a comment; empty if the line is not a comment.
std::string comment_in(const std::string& line) {
  const std::string begin = "<!-- ", end = " -->";
  if (!line.starts_with(begin) || !line.ends_with(end)) return {};
  return line.substr(begin.size(), line.size() - begin.size() - end.size());
}

std::vector<PageBlock> blocks_of(const fs::path& page) {
  std::ifstream in(kSource / page);
  std::vector<PageBlock> blocks;
  std::string line, before;
  for (int number = 1; std::getline(in, line); ++number, before = line) {
    if (!line.starts_with("```")) continue;
    PageBlock block{page.string() + ':' + std::to_string(number), line.substr(3), comment_in(before), {}};
    for (++number; std::getline(in, line) && line != "```"; ++number) block.text += line + '\n';
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::string with_name(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// The lines without the spaces around them.
std::vector<std::string> trimmed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) lines.push_back(line.substr(begin));
  }
  return lines;
}

TEST(DocsBlocks, EachSaysHowItIsChecked) {
  const std::string known =
      "examples/[a-z_]+\\.cpp|examples/(c|python)/[a-z_]+\\.(c|py)|part of examples/[a-z_]+\\.cpp|file: "
      ".+|run|checked by [A-Za-z]+\\.[A-Za-z_]+|"
      "not run: .+|tests/designs/[a-z0-9_]+\\.cpp [a-z0-9-]+";
  for (const fs::path& page : pages()) {
    for (const PageBlock& block : blocks_of(page)) {
      if (block.language.empty()) continue;  // a drawing or the form of a text
      EXPECT_THAT(block.mark, MatchesRegex(known)) << block.place;
    }
  }
}

TEST(DocsBlocks, PartsOfExamples_StandThere) {
  const std::string prefix = "part of ";
  for (const fs::path& page : pages()) {
    for (const PageBlock& block : blocks_of(page)) {
      if (!block.mark.starts_with(prefix)) continue;
      std::ifstream file(kSource / block.mark.substr(prefix.size()));
      const std::string source{std::istreambuf_iterator<char>(file), {}};
      const auto all = trimmed_lines(source), part = trimmed_lines(block.text);
      EXPECT_FALSE(std::ranges::search(all, part).empty()) << block.place;
    }
  }
}

class DocsPage : public CommandLine, public ::testing::WithParamInterface<fs::path> {
 protected:
  DocsPage() {
    options_.env["PRAXIS_MODEL"] = "script:" + (folder_ / "answers.jsonl").string();
    options_.env["PATH"] = PRAXIS_BINARY_DIR ":" + std::string(std::getenv("PATH"));
    std::string answers;
    for (int i = 0; i < 20; ++i) answers += "{\"text\": \"Hello there.\"}\n";
    file("answers.jsonl", answers);
    fs::create_directories(folder_ / "src");
    fs::create_directories(folder_ / "include");
  }

  CommandResult typed(const std::string& line) const {
    return run({"bash", "-c", "{ " + line + "\n} 2>&1"}, options_);
  }

  std::string as_written(std::string text) const {
    text = with_name(std::move(text), (folder_ / "config/praxis/config.toml").string(), "FILE");
    text = with_name(std::move(text), (folder_ / "config/praxis/profiles/dry.toml").string(), "PROFILE");
    return without_chance(with_name(std::move(text), folder_.string(), "FOLDER"));
  }

  void check_console(const PageBlock& block) const {
    std::istringstream lines(block.text);
    std::string expected, found;
    for (std::string line; std::getline(lines, line);) {
      expected += line + '\n';
      if (line.starts_with("$ ")) found += line + '\n' + typed(line.substr(2)).out;
    }
    EXPECT_EQ(as_written(found), as_written(expected)) << block.place;
  }

  void check(const PageBlock& block) const {
    const std::string is_file = "file: ", then = ", for: ";
    if (block.mark.starts_with(is_file)) {
      const auto at = block.mark.find(then);
      file(block.mark.substr(is_file.size(), at - is_file.size()), block.text);
      if (at == std::string::npos) return;
      const CommandResult result = typed(block.mark.substr(at + then.size()));
      EXPECT_EQ(result.status, 0) << block.place << '\n' << result.out;
    }
    if (block.mark != "run") return;
    if (block.language == "console") return check_console(block);
    const CommandResult result = typed("set -e\n" + block.text);
    EXPECT_EQ(result.status, 0) << block.place << '\n' << result.out;
  }
};

TEST_P(DocsPage, BlocksRunAsShown) {
  for (const PageBlock& block : blocks_of(GetParam())) check(block);
}

INSTANTIATE_TEST_SUITE_P(Docs, DocsPage, ::testing::ValuesIn(pages()), [](const auto& page) {
  std::string name = page.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace praxis::testing
