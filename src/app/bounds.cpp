#include "app/bounds.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "app/plain_text.hpp"
#include "tools/file_roots.hpp"

namespace praxis::app {

namespace fs = std::filesystem;

std::string why_outside(const std::string& folder, const std::string& path) {
  if (folder.empty()) return {};
  // The slash at the end keeps "." of the folder itself and drops that of others.
  std::string below = fs::path(path).lexically_normal().lexically_relative(folder).string();
  if (below.ends_with('/')) below.pop_back();
  if (below.empty() || below == ".." || below.starts_with("../")) {
    return in_quotes(path) + " is outside of " + in_quotes(folder) + ", and this agent must stay in there";
  }
  const FileDescriptor root(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  // By steps: openat2 refuses O_PATH together with the flags that keep other opens from blocking.
  const auto opened = open_beneath_by_steps(root.get(), below, O_PATH);
  struct stat about = {};
  const bool is_link = opened && (fstat(opened->get(), &about) != 0 || S_ISLNK(about.st_mode));
  if (!is_link && (opened || opened.error() == ENOENT)) return {};
  return in_quotes(path) +
         " is or goes through a link or something that is no folder, and this agent must stay in " +
         in_quotes(folder);
}

}  // namespace praxis::app
