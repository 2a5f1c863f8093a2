// Visits the files below a folder that a project does not leave out.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include "tools/file_roots.hpp"
#include "tools/ignore_rules.hpp"

namespace praxis {

/// Calls `each` with the path of every regular file, relative to the start and in order of the names, until
/// it returns false. Enters neither `.git` nor links, and leaves out what `.gitignore` files say and what the
/// tool must not read.
class FileWalk {
 public:
  using Visit = std::function<bool(const std::string& below)>;

  /// The roots and the place must outlive it.
  FileWalk(const FileRoots& roots, const FilePlace& place, std::stop_token stop)
      : roots_(roots), place_(place), stop_(std::move(stop)) {}

  /// False if it ended before all files were visited: by a bound, a stop, or `each`.
  bool run(const Visit& each);
  /// The path of a visited file below the root.
  std::string path_of(const std::string& below) const;

 private:
  bool enter(const std::string& below, std::size_t depth, const Visit& each);
  void read_rules(const std::string& folder);

  const FileRoots& roots_;
  const FilePlace& place_;
  const std::stop_token stop_;
  IgnoreRules rules_;  ///< of paths below the root
  std::size_t seen_ = 0;
};

}  // namespace praxis
