// Errors that say that a disk, or the share of a user in it, is full.
#pragma once

#include <cerrno>

#include "praxis/base/result.hpp"

namespace praxis {

/// Whether an `errno` says so.
inline bool is_out_of_space(int error) { return error == ENOSPC || error == EDQUOT; }
/// The kind of a failure to write: `kFull` or `kIo`.
inline ErrorKind kind_of_write_error(int error) {
  return is_out_of_space(error) ? ErrorKind::kFull : ErrorKind::kIo;
}

}  // namespace praxis
