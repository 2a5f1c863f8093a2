// Which files a project leaves out, as `.gitignore` files say it, and patterns for paths. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace re2 {
class RE2;
}

namespace praxis {

/// Compiles a pattern for a whole relative path: `*` and `?` within a name, `**` across folders, `[a-z]`,
/// `{a,b}`; `\` quotes. Error `kInput`: the pattern is invalid.
Result<std::shared_ptr<const re2::RE2>> compile_glob(std::string_view pattern);

/// The rules of the `.gitignore` files from a folder down to another, the last that fits decides.
class IgnoreRules {
 public:
  static constexpr std::size_t kMostRules = 5000;

  /// Adds the lines of the `.gitignore` in `folder`, a relative path, empty for the top. Invalid lines and
  /// those beyond the bound are left out.
  void add(std::string_view folder, std::string_view text);
  /// Forgets the rules after the first `count`: those of a folder that was left.
  void keep(std::size_t count);
  std::size_t count() const { return rules_.size(); }
  /// Whether the path, relative to the top, is left out. A folder that is left out is not looked into.
  bool excludes(const std::string& path, bool is_folder) const;

 private:
  struct Rule {
    std::shared_ptr<const re2::RE2> pattern;
    bool includes = false;  ///< begins with `!`
    bool folders_only = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace praxis
