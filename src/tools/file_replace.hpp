// Replaces whole files atomically, for the tools that write.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/open_beneath.hpp"

namespace praxis {

/// Opens the parent folder of `path` (below `root`), creates missing folders, and leaves the file name in
/// `path`.
Opened open_parent(FileDescriptor root, std::string& path);

/// Atomically replaces `name` by a new file that is complete and on disk before the rename. The file gets
/// `mode`, or the default of the umask. Returns 0, or the `errno` of the failure.
int replace_file(int folder, const std::string& name, std::string_view bytes, std::optional<mode_t> mode);

}  // namespace praxis
