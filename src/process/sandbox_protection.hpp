// Decides which paths of a writable folder stay read-only in a sandbox, and adds the options of bubblewrap
// for that.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// A folder of the host that is mounted in a sandbox: `source` is where bubblewrap finds it, `path` is its
/// path in the sandbox.
struct SandboxFolder {
  std::string path;
  std::string source;
};

/// Adds to `options` the read-only mounts for the protected paths of `folder`: the usual ones at its top,
/// checkouts and settings anywhere below it, and the entries of `protect` that lie below it. Adds to `guards`
/// the paths that must exist for those mounts. `mounted` is the set of paths that the sandbox mounts
/// something at. Error `kPolicy`: a protected path is a symbolic link, over which nothing can be mounted, or
/// the folder is too large to be searched.
Status protect_paths(const SandboxFolder& folder, const std::vector<std::string>& protect,
                     std::set<std::string>& mounted, std::vector<std::string>& options,
                     std::vector<supervisor::Guard>& guards);

}  // namespace praxis
