// The symbolic links through which a path leads.
#pragma once

#include <string>
#include <vector>

namespace praxis {

/// What must stay as it is so that a path leads where it leads now. Every path in it is absolute, and goes
/// through no link.
struct PathWay {
  std::vector<std::string> links;    ///< each link that is followed, in order, by its own place
  std::vector<std::string> folders;  ///< those that are entered and left again by a `..`
  std::string end;                   ///< where the path leads, even if nothing is there
};
/// Follows an absolute path as the kernel does, link by link, 40 at most.
PathWay way_of(const std::string& path);
/// The way of each path, as `way_of` finds it. Follows a folder that holds several of them once.
std::vector<PathWay> ways_of(const std::vector<std::string>& paths);

}  // namespace praxis
