// docs/designs.md shows the code that tests/designs runs: each part once, without a difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Without the spaces that all lines have in front.
std::string dedented(const std::string& code) {
  std::size_t margin = std::string::npos;
  std::string line, out;
  for (std::istringstream in(code); std::getline(in, line);)
    if (!line.empty()) margin = std::min(margin, line.find_first_not_of(' '));
  for (std::istringstream in(code); std::getline(in, line);)
    out += line.substr(std::min(margin, line.size())) + '\n';
  return out;
}

/// The parts of a source between `// begin NAME` and `// end NAME`, by `FILE NAME`.
std::map<std::string, std::string> parts_of(const fs::path& file, const std::string& place) {
  std::map<std::string, std::string> parts;
  std::string line, name, code;
  std::ifstream in(file);
  while (std::getline(in, line)) {
    std::smatch found;
    if (std::regex_match(line, found, std::regex(" *// begin ([a-z0-9-]+)"))) {
      name = found[1];
      code.clear();
    } else if (!name.empty() && line.ends_with("// end " + name)) {
      parts[place + ' ' + name] = dedented(code);
      name.clear();
    } else {
      code += line + '\n';
    }
  }
  EXPECT_EQ(name, "") << file << ": no end of this part";
  return parts;
}

/// The blocks of C++ on a page by the mark in front of each, `<!-- FILE NAME -->`.
std::map<std::string, std::string> blocks_of(const std::string& page) {
  const std::string mark = "<!-- ", begin = " -->\n```cpp\n", end = "\n```\n";
  std::map<std::string, std::string> blocks;
  std::size_t fences = 0;
  for (auto at = page.find("```cpp\n"); at != std::string::npos; at = page.find("```cpp\n", at + 1)) ++fences;
  for (auto at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t name = page.rfind(mark, at) + mark.size(), code = at + begin.size();
    blocks[page.substr(name, at - name)] = page.substr(code, page.find(end, code) + 1 - code);
  }
  EXPECT_EQ(blocks.size(), fences) << "a block has no mark, or is shown twice";
  return blocks;
}

TEST(DesignsPage, ShowsExactlyTheCodeThatIsRun) {
  const fs::path root = PRAXIS_SOURCE_DIR;
  std::map<std::string, std::string> run;
  for (const auto& entry : fs::directory_iterator(root / "tests/designs"))
    run.merge(parts_of(entry.path(), fs::relative(entry.path(), root).string()));

  const auto shown = blocks_of(text_of(root / "docs/designs.md"));
  EXPECT_GE(run.size(), 40U);
  for (const auto& [name, code] : run) {
    const auto block = shown.find(name);
    ASSERT_NE(block, shown.end()) << "the page does not show " << name;
    EXPECT_EQ(block->second, code) << name;
  }
  EXPECT_EQ(shown.size(), run.size()) << "the page shows code that no test runs";
}

/// Each section of a design is a heading, so that a reader finds what became of it.
TEST(DesignsPage, HasASectionForEachOfTheDesigns) {
  const std::string page = text_of(fs::path(PRAXIS_SOURCE_DIR) / "docs/designs.md");
  for (int design = 1; design <= 5; ++design) {
    const std::string name = "S" + std::to_string(design);
    EXPECT_TRUE(page.contains("\n## " + name + ' ')) << name;
    EXPECT_TRUE(page.contains("\n### " + name + ", ")) << name;
  }
}

}  // namespace
