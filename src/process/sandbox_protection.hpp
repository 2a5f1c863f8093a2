// Which paths of a writable folder stay read-only in a sandbox, and how that is told to bubblewrap.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// A folder of the host as a sandbox gets it: `source` is where bubblewrap finds it, `path` where the sandbox
/// has it.
struct SandboxFolder {
  std::string path;
  std::string source;
};

/// Adds to `options` what keeps the usual files of `folder`, checkouts and settings anywhere below it, and
/// those of `protect` that lie below it, from being changed, and to `guards` what must exist for that.
/// `mounted` are the paths that the sandbox has mounts at, or will have. Error `kPolicy`: one of them is a
/// symbolic link, which nothing can be mounted over; the folder is too large to be searched.
Status protect_paths(const SandboxFolder& folder, const std::vector<std::string>& protect,
                     std::set<std::string>& mounted, std::vector<std::string>& options,
                     std::vector<supervisor::Guard>& guards);

}  // namespace praxis
