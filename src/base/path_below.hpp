// Whether one path lies below another, by its text alone.
#pragma once

#include <string_view>

namespace praxis {

/// The part of `path` below `folder`, both normalised: `.` for the folder itself, empty if `path` lies
/// elsewhere. A view of `path`, or of a constant.
constexpr std::string_view path_below(std::string_view folder, std::string_view path) {
  if (path == folder) return ".";
  if (!path.starts_with(folder)) return {};
  path.remove_prefix(folder.size());
  if (path == "/") return ".";
  if (folder.ends_with('/')) return path;
  return path.starts_with('/') ? path.substr(1) : std::string_view();
}

}  // namespace praxis
