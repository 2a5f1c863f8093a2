#include "base/path_way.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

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

std::vector<PathWay> ways_of(const std::vector<std::string>& paths) {
  std::vector<PathWay> ways;
  std::map<std::string, PathWay> of_folders;
  for (const std::string& path : paths) {
    const std::size_t start = path.rfind('/') + 1;
    const std::string name = path.substr(start);
    const auto [found, is_new] = of_folders.try_emplace(path.substr(0, start));
    if (is_new) found->second = way_of(found->first);
    PathWay way = found->second;
    const fs::path end = fs::path(way.end) / name;
    std::error_code is_none;
    const bool leads_on = name.empty() || name == "." || name == ".." || fs::is_symlink(end, is_none);
    way.end = end;
    ways.push_back(leads_on ? way_of(path) : std::move(way));
  }
  return ways;
}

}  // namespace praxis
