// Placeholders: while a sandbox exists, its supervisor creates one at each protected path that does not
// exist, so that it can be mounted read-only over itself and the program cannot create the path. Several
// sandboxes share a placeholder; the last of them removes it.
#pragma once

#include <sys/stat.h>

namespace praxis {

/// The mode that marks a placeholder from its creation on: no other program creates files or folders that are
/// sticky and writable by no user.
inline constexpr mode_t kPlaceholderFile = 01444, kPlaceholderFolder = 01555;

/// Whether this is a placeholder, complete or still being created. Treat such a path as missing: it is
/// removed together with the sandbox that created it.
inline bool is_placeholder(const struct stat& info) {
  const bool marked = (info.st_mode & (S_ISVTX | S_IWUSR | S_IWGRP | S_IWOTH)) == S_ISVTX;
  return marked && (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && info.st_size == 0));
}

}  // namespace praxis
