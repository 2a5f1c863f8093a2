// Opens paths without being led elsewhere by a link: not even by one that another process puts in the place
// of a folder meanwhile.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/held_files.hpp"

namespace praxis {

/// A descriptor, or the `errno` of the failure.
using Opened = std::expected<FileDescriptor, int>;

/// The identity of an open file; zeros when the kernel does not tell it.
FileIdentity identity_of(int fd);

/// Opens `path` relative to the directory `root` without following links. Never blocks on a FIFO. Errors
/// `EXDEV` when it leads out of `root`, `ELOOP` when it goes through a link, `EBUSY` for a held file.
Opened open_beneath(int root, const std::string& path, int flags);
/// The same for kernels and sandboxes without openat2: opens one path component at a time.
Opened open_beneath_by_steps(int root, const std::string& path, int flags);

/// Opens `path`, absolute and without `.` and `..`. Follows links on the way to the first of the folders
/// `no_links_below`, and none below it (error `ELOOP`): programs that may write there must not decide where
/// `path` leads.
Opened open_granted(const std::string& path, const std::vector<std::string>& no_links_below, int flags);

}  // namespace praxis
