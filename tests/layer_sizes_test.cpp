// Checks the sizes of files and functions, and that docs/architecture.md and the build agree with the
// folders. Each rule is also run on a small tree that breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "files.hpp"
#include "function_sizes.hpp"
#include "source_tree.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kMaxFileLines = 500, kMaxFunctionLines = 60;

/// All C++ files of a tree, sorted.
std::vector<fs::path> cpp_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const char* top : {"include", "src", "tests", "bench", "fuzz", "examples"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

Violations size_violations(const fs::path& root) {
  Violations out;
  for (const fs::path& path : cpp_files(root)) {
    const std::string text = content_of(path), name = fs::relative(path, root).string();
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (lines > kMaxFileLines) out.push_back(name + ": " + std::to_string(lines) + " lines, at most 500");
    for (const FunctionSize& function : function_sizes(text)) {
      if (function.lines <= kMaxFunctionLines) continue;
      out.push_back(name + ":" + std::to_string(function.first_line) + ": " + std::to_string(function.lines) +
                    " lines in a function, at most 60: " + function.head);
    }
  }
  return out;
}

/// The rooms that have sources.
std::set<std::string> rooms_of(const fs::path& root) {
  std::set<std::string> rooms;
  for (const char* top : {"include/praxis", "src"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::directory_iterator(root / top)) {
      if (entry.is_directory() && !fs::is_empty(entry)) rooms.insert(entry.path().filename().string());
    }
  }
  return rooms;
}

/// Compares the table of rooms in docs/architecture.md with the folders and with `kFloors`. Rooms in italics
/// are planned and have no folder.
Violations table_violations(const fs::path& root) {
  static const std::regex row(R"(^\| (\d+) \| ([^|]+) \|)"), room(R"((\*?)`([a-z]+)/`)");
  Violations out;
  std::set<std::string> listed;
  const std::set<std::string> folders = rooms_of(root);
  std::istringstream lines(content_of(root / "docs/architecture.md"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch cells;
    if (!std::regex_search(line, cells, row)) continue;
    const std::string names = cells[2];
    for (std::sregex_iterator match(names.begin(), names.end(), room), end; match != end; ++match) {
      const std::string name = (*match)[2];
      const auto floor = kFloors.find(name);
      listed.insert(name);
      if (floor == kFloors.end() || std::to_string(floor->second) != cells[1])
        out.push_back(name + ": not on floor " + cells[1].str());
      if ((*match)[1].length() != 0 && folders.contains(name))
        out.push_back(name + ": is there, but in italics");
      if ((*match)[1].length() == 0 && !folders.contains(name)) out.push_back(name + ": has no folder");
    }
  }
  for (const std::string& folder : folders) {
    if (!listed.contains(folder)) out.push_back(folder + ": not in the table of rooms");
  }
  for (const auto& [name, floor] : kFloors) {
    if (!listed.contains(name)) out.push_back(name + ": not in the table of rooms");
  }
  return out;
}

// ---- what the build links or embeds

struct Command {
  std::string name;
  std::vector<std::string> words;
};

/// The commands of CMakeLists.txt and cmake/*.cmake, in this order, without quotes and comments.
std::vector<Command> build_commands(const fs::path& root) {
  static const std::regex comment(R"(#[^\n]*)"), command(R"re((\w+)\s*\(((?:"[^"]*"|[^()"])*)\))re"),
      word(R"re("([^"]*)"|[^\s"]+)re");
  std::vector<fs::path> files{root / "CMakeLists.txt"};
  if (fs::exists(root / "cmake")) {
    for (const auto& entry : fs::directory_iterator(root / "cmake")) {
      if (entry.path().extension() == ".cmake") files.push_back(entry.path());
    }
  }
  std::sort(files.begin() + 1, files.end());
  std::vector<Command> out;
  for (const fs::path& path : files) {
    const std::string text = std::regex_replace(content_of(path), comment, "");
    for (std::sregex_iterator match(text.begin(), text.end(), command), end; match != end; ++match) {
      Command found{(*match)[1], {}};
      const std::string words = (*match)[2];
      for (std::sregex_iterator one(words.begin(), words.end(), word); one != end; ++one) {
        found.words.push_back((*one)[1].matched ? (*one)[1].str() : one->str());
      }
      out.push_back(std::move(found));
    }
  }
  return out;
}

/// The rooms whose folders `word` contains; all of them if it names the folder of sources.
std::set<std::string> rooms_in(const std::string& word, const std::set<std::string>& all) {
  static const std::regex folder(R"((?:^|[/;])(?:src|include/praxis)/([a-z]+)/)");
  if (word == "src/*.cpp") return all;
  std::set<std::string> rooms;
  for (std::sregex_iterator match(word.begin(), word.end(), folder), end; match != end; ++match) {
    rooms.insert((*match)[1]);
  }
  return rooms;
}

int top_floor(const std::set<std::string>& rooms) {
  int top = -1;
  for (const std::string& room : rooms) {
    if (const auto floor = kFloors.find(room); floor != kFloors.end()) top = std::max(top, floor->second);
  }
  return top;
}

/// The arrows of the build between rooms: a target takes in what it links and whose bytes its sources embed.
class BuildArrows {
 public:
  explicit BuildArrows(const fs::path& root) : all_(rooms_of(root)) {
    all_.erase("cli");  // the library is all rooms below the surfaces
    for (const Command& command : build_commands(root)) read(command);
  }
  Violations found() const { return found_; }

 private:
  void read(const Command& command) {
    if (command.words.empty()) return;
    const std::string& first = command.words.front();
    if (command.name == "file" && command.words.size() > 1) return take(command.words[1], command.words);
    if (command.name == "add_library" || command.name == "add_executable") return take(first, command.words);
    if (command.name == "target_link_libraries") {
      check(first, rooms_[first], command.words, 1);
      if (command.words[1] == "INTERFACE") take(first, command.words);
      return;
    }
    if (command.name != "set_source_files_properties") return;
    const auto embedded = std::ranges::find(command.words, "OBJECT_DEPENDS");
    if (embedded == command.words.end()) return;
    check(first, rooms_in(first, all_), command.words,
          static_cast<std::size_t>(embedded - command.words.begin()) + 1);
  }

  /// Adds to a list or target the rooms of its sources, which may themselves be lists `${name}`.
  void take(const std::string& name, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      rooms_[name].merge(rooms_in(word, all_));
      rooms_[name].merge(rooms_behind(word));
    }
  }

  /// The rooms of a target or list that `word` names by `name`, `${name}` or a path that ends in it.
  std::set<std::string> rooms_behind(const std::string& word) const {
    std::string name = word.substr(word.find_last_of('/') + 1);
    if (name.starts_with("${") && name.ends_with("}")) name = name.substr(2, name.size() - 3);
    const auto known = rooms_.find(name);
    return known == rooms_.end() ? std::set<std::string>{} : known->second;
  }

  void check(const std::string& from, const std::set<std::string>& rooms,
             const std::vector<std::string>& words, std::size_t first) {
    if (rooms.empty()) return;
    for (std::size_t i = first; i < words.size(); ++i) {
      std::set<std::string> targets = rooms_in(words[i], all_);
      targets.merge(rooms_behind(words[i]));
      for (const std::string& target : targets) {
        if (rooms.contains(target) || top_floor({target}) < top_floor(rooms)) continue;
        found_.push_back(from + ": the build takes in " + words[i] + " of the room " + target);
        break;
      }
    }
  }

  std::set<std::string> all_;
  std::map<std::string, std::set<std::string>> rooms_;
  Violations found_;
};

Violations arrow_violations(const fs::path& root) { return BuildArrows(root).found(); }

TEST(Layers, FilesAndFunctionsAreSmall) {
  const fs::path root(PRAXIS_SOURCE_DIR);
  EXPECT_GT(cpp_files(root).size(), 400U) << "the test does not see the sources";
  EXPECT_GT(function_sizes(content_of(root / "tests/layer_sizes_test.cpp")).size(), 10U)
      << "nor the functions";
  EXPECT_THAT(size_violations(root), IsEmpty());
}
TEST(Layers, TableOfRooms_IsTheTree) { EXPECT_THAT(table_violations(PRAXIS_SOURCE_DIR), IsEmpty()); }
TEST(Layers, ArrowsOfTheBuild_PointDown) {
  EXPECT_GT(build_commands(PRAXIS_SOURCE_DIR).size(), 50U) << "the test does not see the build";
  EXPECT_THAT(arrow_violations(PRAXIS_SOURCE_DIR), IsEmpty());
}

class LayerSizes : public SourceTreeTest {};

std::string lines(std::size_t count, const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line + "\n";
  return text;
}

TEST_F(LayerSizes, LongFile_IsFound) {
  file("src/base/a.cpp", lines(499, "int x;"));
  file("tests/b_test.cpp", lines(500, "int x;"));
  EXPECT_THAT(size_violations(root()), ElementsAre(HasSubstr("tests/b_test.cpp: 501 lines")));
}

TEST_F(LayerSizes, LongFunction_IsFoundWhereverItStands) {
  const std::string fits = lines(58, "  f(\"}\");"), over = lines(59, "  if (c == '{') g(R\"({)\");  // }");
  file("src/base/a.cpp", "namespace a {\nvoid fits(int x = 1) {\n" + fits + "}\n}  // namespace a");
  file("src/base/b.hpp", "struct B : A {\n  B(int x)\n      : A{x}, b_{x} {\n" + over + "  }\n  int b_;\n};");
  file("src/base/c.cpp", "MACRO(x)\nnamespace {\n#define M {\nbool operator==(A a, B b) {\n" + over + "}\n}");
  file("tests/d_test.cpp", "TEST_F(A, B) {\n  const auto f = [] {\n" + over + "  };\n}");
  file("tests/table.cpp", "const std::vector<int> kTable{\n" + lines(100, "    f(1), g({2}),") + "};");
  EXPECT_THAT(size_violations(root()),
              ElementsAre(HasSubstr("b.hpp:2: 62 lines"), HasSubstr("c.cpp:4: 61 lines"),
                          HasSubstr("d_test.cpp:1: 63 lines")));
}

TEST_F(LayerSizes, TableOfRoomsThatDiffersFromTheTree_IsReported) {
  std::string table;
  for (const auto& [name, floor] : kFloors) {
    if (name != "core" && name != "net") {
      file("src/" + name + "/a.cpp", "");
      table += "| " + std::to_string(floor) + " | `" + name + "/` | things |\n";
    }
  }
  file("src/attic/a.cpp", "");
  file("src/net/a.cpp", "");
  file("docs/architecture.md",
       table + "| 4 | `core/` | wrong floor, no folder |\n| 2 | *`net/`* | planned |");
  EXPECT_THAT(table_violations(root()),
              ElementsAre("core: not on floor 4", "core: has no folder", "net: is there, but in italics",
                          "attic: not in the table of rooms"));
}

TEST_F(LayerSizes, BuildThatLinksOrEmbedsUpwards_IsReported) {
  for (const char* room : {"base", "process", "tools", "app", "cli"})
    file("src/" + std::string(room) + "/a.cpp", "");
  file("CMakeLists.txt", R"(
file(GLOB_RECURSE praxis_sources src/*.cpp)
add_library(praxis_library ${praxis_sources})
target_link_libraries(praxis_core INTERFACE praxis_library)
target_link_libraries(praxis INTERFACE praxis_core)
set_source_files_properties(src/process/image.cpp PROPERTIES OBJECT_DEPENDS "${DIR}/helper;src/base/a.txt")
set_source_files_properties(src/process/early.cpp PROPERTIES OBJECT_DEPENDS "src/base/a.txt;src/tools/bridge.py")
add_executable(praxis_cli src/cli/main.cpp)
target_link_libraries(praxis_cli PRIVATE praxis))");
  file("cmake/helper.cmake", R"(
file(GLOB helper_sources src/tools/helper/*.cpp)  # not (in) the room
add_executable(helper ${helper_sources})
add_executable(watcher src/process/watcher.cpp)
target_link_libraries(watcher PRIVATE praxis)
set_source_files_properties(src/base/image.cpp PROPERTIES OBJECT_DEPENDS ${DIR}/helper))");
  EXPECT_THAT(
      arrow_violations(root()),
      ElementsAre(HasSubstr("src/process/early.cpp: the build takes in src/base/a.txt;src/tools/bridge.py"),
                  HasSubstr("watcher: the build takes in praxis"),
                  HasSubstr("src/base/image.cpp: the build takes in ${DIR}/helper of the room tools")));
}

}  // namespace
}  // namespace praxis::testing
