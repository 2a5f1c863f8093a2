// Placeholders: what the supervisor of a sandbox puts where something must not be made, while the sandbox
// exists, so that it can be mounted read-only over itself. Several sandboxes share one; the last of them
// removes it.
#pragma once

#include <sys/stat.h>

namespace praxis {

/// The mode by which a placeholder is known from the moment it exists: nobody else makes a file or a folder
/// that is sticky, and which nobody may write.
inline constexpr mode_t kPlaceholderFile = 01444, kPlaceholderFolder = 01555;

/// Whether this is a placeholder, made whole or just being made. What lies here is then to be treated as
/// missing: it goes away with the sandbox that made it.
inline bool is_placeholder(const struct stat& info) {
  const bool marked = (info.st_mode & (S_ISVTX | S_IWUSR | S_IWGRP | S_IWOTH)) == S_ISVTX;
  return marked && (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && info.st_size == 0));
}

}  // namespace praxis
