// Stand-ins: what the keeper of a box puts where something must not be made, while the box exists, so that it
// can be mounted read-only over itself. Several boxes share one; the last of them removes it.
#pragma once

#include <sys/stat.h>

namespace praxis {

/// The mode by which a stand-in is known from the moment it exists: nobody else makes a file or a folder that
/// is sticky, and which nobody may write.
inline constexpr mode_t kStandInFile = 01444, kStandInFolder = 01555;

/// Whether this is a stand-in, made whole or just being made. What lies here is then to be treated as
/// missing: it goes away with the box that made it.
inline bool is_stand_in(const struct stat& info) {
  const bool marked = (info.st_mode & (S_ISVTX | S_IWUSR | S_IWGRP | S_IWOTH)) == S_ISVTX;
  return marked && (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && info.st_size == 0));
}

}  // namespace praxis
