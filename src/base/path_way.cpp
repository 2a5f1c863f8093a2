#include "base/path_way.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>

namespace praxis {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLinks = 40;  ///< as many as the kernel follows

/// Puts the components of `path` on a stack, the first one on top.
void push_parts(std::vector<fs::path>& stack, const fs::path& path) {
  for (auto part = path.end(); part != path.begin();) {
    --part;
    if (!part->empty() && *part != "." && *part != "/") stack.push_back(*part);
  }
}

}  // namespace

PathWay way_of(const std::string& path) {
  PathWay way;
  fs::path at = "/";
  std::vector<fs::path> rest;
  push_parts(rest, path);
  while (!rest.empty()) {
    const fs::path part = rest.back();
    rest.pop_back();
    if (part == "..") {
      if (at.has_relative_path()) way.folders.push_back(at);
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / part;
    std::error_code is_none;
    const fs::path target = way.links.size() < kMostLinks ? fs::read_symlink(next, is_none) : fs::path();
    if (is_none || target.empty()) {
      at = next;
      continue;
    }
    way.links.push_back(next);
    if (target.is_absolute()) at = "/";
    push_parts(rest, target);
  }
  way.end = at;
  return way;
}

}  // namespace praxis
