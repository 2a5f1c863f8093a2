// Decides which paths of a writable folder stay read-only in a sandbox, and adds the options of bubblewrap
// for that.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/process/sandbox.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// A folder of the host that is mounted in a sandbox: `source` is where bubblewrap finds it, `path` is its
/// path in the sandbox, without links, and `fd` refers to it.
struct SandboxFolder {
  std::string path;
  std::string source;
  int fd;
  std::optional<std::uint32_t> loan = std::nullopt;  ///< its loan, if we are root
};

/// Adds to `options`, or to the covers of a loan, the mounts that protect paths of `folder`: read-only ones
/// at its top, of checkouts and settings anywhere below it, and of the entries of `sandbox.protect` that lie
/// below it; empty ones for the entries of `sandbox.hide`. What is `granted` by its own name stays as
/// granted. Nothing can be mounted over a symbolic link, so the folder of a protected link, and of one on the
/// way to an entry of both lists, becomes read-only. Adds to `request` the paths that must exist for those
/// mounts, and what each of them must show. `mounted` is the set of paths that the sandbox mounts something
/// at. Error `kPolicy`: such a link at the top of the folder, or the folder is too large to be searched.
Status protect_paths(const SandboxFolder& folder, const Sandbox& sandbox,
                     const std::set<std::string>& granted, std::set<std::string>& mounted,
                     std::vector<std::string>& options, supervisor::Request& request);
/// Adds the empty mounts alone, for a folder that is read-only.
void hide_paths(const SandboxFolder& folder, const Sandbox& sandbox, std::set<std::string>& mounted,
                std::vector<std::string>& options, supervisor::Request& request);

}  // namespace praxis
