// Checks the floor plan of docs/architecture.md against the includes of every source file. Each rule is also
// run on a small tree that violates it, so that a check that finds nothing is noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "source_tree.hpp"

namespace {

namespace fs = std::filesystem;
using praxis::testing::kFloors;
using praxis::testing::Violations;

constexpr int kSurfaces = 13;
constexpr std::size_t kMaxAsioFiles = 4;

struct Include {
  std::string path;
  bool quoted = false;
};

/// A source file: its path (relative to the tree), its room and its content.
struct Source {
  std::string path;
  std::string room;
  bool is_public = false;
  bool is_test = false;
  std::vector<Include> includes;
  bool prints = false;

  bool is_unit() const { return path.ends_with(".cpp"); }
};

/// Returns the room of an include or a file (both without `include/` and `src/`). `praxis/praxis.hpp` belongs
/// to the app. Empty for the standard library and third parties.
std::string room_of(std::string_view path, bool quoted) {
  const bool is_public = path.starts_with("praxis/");
  if (is_public) path.remove_prefix(7);
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return is_public ? "app" : "";
  return is_public || quoted ? std::string(path.substr(0, slash)) : "";
}

Source parse(const fs::path& root, const fs::path& file) {
  static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  static const std::regex printing(R"(\b(v?f?printf|f?puts|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b)");
  Source source;
  source.path = fs::relative(file, root).generic_string();
  source.is_public = source.path.starts_with("include/");
  source.is_test = source.path.ends_with("_test.cpp") || source.path.contains("/testing/");
  source.room = room_of(source.path.substr(source.path.find('/') + 1), true);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (std::smatch match; std::regex_search(line, match, include_line)) {
      source.includes.push_back({match[2], match[1] == "\""});
    }
    source.prints |= std::regex_search(line.substr(0, line.find("//")), printing);
  }
  return source;
}

std::vector<Source> read_tree(const fs::path& root) {
  std::vector<Source> sources;
  for (const char* top : {"include/praxis", "src"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".hpp" || extension == ".cpp") sources.push_back(parse(root, entry.path()));
    }
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

bool is_json(std::string_view include) {
  return include == "boost/json.hpp" || include.starts_with("boost/json/") || include == "boost/json_fwd.hpp";
}
/// Standard headers of C++ have neither folder nor extension.
bool is_standard(std::string_view include) { return include.find_first_of("/.") == std::string_view::npos; }

/// Checks that a room includes only itself and lower floors: neither other rooms of its own floor nor higher
/// floors.
void check_floors(const Source& source, Violations& out) {
  const auto floor = kFloors.find(source.room);
  if (floor == kFloors.end()) {
    out.push_back(source.path + ": unknown room '" + source.room + "'");
    return;
  }
  for (const auto& [path, quoted] : source.includes) {
    const auto room = room_of(path, quoted);
    if (room.empty()) {
      if (quoted) out.push_back(source.path + ": \"" + path + "\" must be named with its room");
      continue;
    }
    const auto target = kFloors.find(room);
    if (target == kFloors.end()) {
      out.push_back(source.path + ": \"" + path + "\" is in an unknown room");
    } else if (room != source.room && target->second >= floor->second) {
      out.push_back(source.path + ": " + source.room + " must not include " + path);
    }
  }
}

void check_public_header(const Source& source, Violations& out) {
  for (const auto& [path, quoted] : source.includes) {
    if (!path.starts_with("praxis/") && !is_json(path) && (quoted || !is_standard(path))) {
      out.push_back(source.path + ": a public header must not include " + path);
    }
  }
}

void check_silence(const Source& source, Violations& out) {
  const bool streams =
      std::ranges::any_of(source.includes, [](const Include& i) { return i.path == "iostream"; });
  if (streams || source.prints) out.push_back(source.path + ": the library must not print");
}

/// Checks that the core has no side effects.
void check_purity(const Source& source, Violations& out) {
  static const std::set<std::string_view> impure{"atomic",
                                                 "condition_variable",
                                                 "filesystem",
                                                 "fstream",
                                                 "future",
                                                 "mutex",
                                                 "random",
                                                 "thread",
                                                 "praxis/base/environment.hpp",
                                                 "praxis/base/executor.hpp",
                                                 "praxis/net/http_client.hpp"};
  for (const auto& include : source.includes) {
    if (impure.contains(include.path)) {
      out.push_back(source.path + ": " + source.room + " is pure and must not include " + include.path);
    }
  }
}

/// Asio and Beast are expensive to compile: counts the translation units that include them, directly or
/// through our own headers.
void check_asio(const std::vector<Source>& sources, Violations& out) {
  std::map<std::string, const Source*, std::less<>> by_include;
  for (const auto& source : sources) by_include[source.path.substr(source.path.find('/') + 1)] = &source;

  std::string users;
  std::size_t count = 0;
  for (const auto& unit : sources) {
    if (!unit.is_unit() || unit.is_test) continue;
    std::set<const Source*> seen{&unit};
    std::vector<const Source*> open{&unit};
    bool reached = false;
    while (!open.empty() && !reached) {
      const auto* source = open.back();
      open.pop_back();
      for (const auto& include : source->includes) {
        reached |= include.path.starts_with("boost/asio") || include.path.starts_with("boost/beast");
        const auto next = by_include.find(include.path);
        if (next != by_include.end() && seen.insert(next->second).second) open.push_back(next->second);
      }
    }
    if (!reached) continue;
    ++count;
    users += " " + unit.path;
  }
  if (count > kMaxAsioFiles) {
    out.push_back("Asio and Beast in " + std::to_string(count) + " files, at most " +
                  std::to_string(kMaxAsioFiles) + " allowed:" + users);
  }
}

Violations violations(const fs::path& root) {
  Violations out;
  const auto sources = read_tree(root);
  for (const auto& source : sources) {
    check_floors(source, out);
    if (source.is_public) check_public_header(source, out);
    const auto floor = kFloors.find(source.room);
    if (!source.is_test && floor != kFloors.end() && floor->second < kSurfaces) check_silence(source, out);
    static const std::set<std::string_view> pure{"core", "domain", "driver"};
    if (!source.is_test && pure.contains(source.room)) check_purity(source, out);
  }
  check_asio(sources, out);
  return out;
}

class LayerCheck : public praxis::testing::SourceTreeTest {
 protected:
  Violations found() const { return violations(root()); }
};

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Layers, HoldInThisSourceTree) {
  const fs::path root(PRAXIS_SOURCE_DIR);
  EXPECT_GT(read_tree(root).size(), 20U) << "the checker does not find the sources";
  EXPECT_THAT(violations(root), IsEmpty());
}

TEST_F(LayerCheck, AcceptsATidyTree) {
  file("include/praxis/json/json.hpp", "#include <string>\n#include <boost/json.hpp>");
  file("include/praxis/praxis.hpp",
       "#include \"praxis/runtime/runtime.hpp\"\n#include \"praxis/models/model.hpp\"");
  file("src/models/wire.cpp",
       "#include \"models/wire.hpp\"\n#include \"praxis/json/json.hpp\"\n#include <zlib.h>");
  file("src/models/wire_test.cpp", "#include <gtest/gtest.h>\n#include <iostream>");
  file("src/cli/main.cpp",
       "#include <iostream>\n#include \"praxis/praxis.hpp\"\nint main() { std::puts(\"\"); }");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LayerCheck, FindsAnUpwardInclude) {
  file("src/core/next.cpp", "#include \"praxis/journal/journal.hpp\"");
  file("include/praxis/base/ids.hpp", "#  include <praxis/domain/message.hpp>");
  file("src/planners/loop.cpp", "#include \"praxis/praxis.hpp\"");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("base must not include praxis/domain/message.hpp"),
                                   HasSubstr("core must not include praxis/journal/journal.hpp"),
                                   HasSubstr("planners must not include praxis/praxis.hpp")));
}

TEST_F(LayerCheck, FindsASidewaysInclude) {
  file("src/tools/shell.cpp", "#include \"policy/rules.hpp\"");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("tools must not include policy/rules.hpp")));
}

TEST_F(LayerCheck, FindsAnUnknownRoom) {
  file("src/attic/box.cpp", "");
  file("src/base/text.cpp", "#include \"attic/box.hpp\"");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("unknown room 'attic'"),
                                   HasSubstr("\"attic/box.hpp\" is in an unknown")));
}

TEST_F(LayerCheck, FindsAnIncludeWithoutItsRoom) {
  file("src/base/text.cpp", "#include \"text.hpp\"");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("\"text.hpp\" must be named with its room")));
}

TEST_F(LayerCheck, FindsAFifthAsioFile) {
  file("src/base/net.hpp", "#include <boost/asio/io_context.hpp>");
  for (const char* unit : {"a", "b", "c", "d"}) {
    file("src/base/" + std::string(unit) + ".cpp", "#include \"base/net.hpp\"");
  }
  EXPECT_THAT(found(), IsEmpty());
  file("src/tools/e.cpp", "#include <boost/beast/http.hpp>");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("Asio and Beast in 5 files")));
}

TEST_F(LayerCheck, FindsPrinting) {
  file("include/praxis/base/a.hpp", "#include <iostream>");
  file("src/base/b.cpp", "void f() { std::printf(\"x\"); }");
  file("src/base/c.cpp",
       "void f(char* s) { std::snprintf(s, 1, \"x\"); }  // unlike printf(), prints nothing");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("a.hpp: the library must not print"),
                                   HasSubstr("b.cpp: the library must not print")));
}

TEST_F(LayerCheck, FindsAThirdPartyInAPublicHeader) {
  file("include/praxis/base/a.hpp", "#include <sqlite3.h>");
  file("include/praxis/base/b.hpp", "#include <boost/asio.hpp>");
  file("include/praxis/base/c.hpp", "#include \"base/private.hpp\"");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("a.hpp: a public header must not include sqlite3.h"),
                                   HasSubstr("b.hpp: a public header must not include boost/asio.hpp"),
                                   HasSubstr("c.hpp: a public header must not include base/private.hpp")));
}

TEST_F(LayerCheck, FindsAnImpureCore) {
  file("src/core/next.cpp", "#include <thread>\n#include \"praxis/base/environment.hpp\"");
  EXPECT_THAT(found(),
              ElementsAre(HasSubstr("core is pure and must not include thread"),
                          HasSubstr("core is pure and must not include praxis/base/environment.hpp")));
}

}  // namespace
