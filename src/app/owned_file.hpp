// Files that decide what agents may do: they count only if no other user could have written them.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "praxis/base/result.hpp"

namespace praxis::app {

/// Why users other than this one and root could have written the file or folder, and the command that fixes
/// it; empty if they could not.
std::string why_unsafe(const struct stat& about, const std::string& path);
/// Reads a regular file that only this user and root can write; follows links. Error `kInput`: unreadable,
/// unsafe, or longer than `max_bytes`.
Result<std::string> read_owned_file(const std::string& path, std::size_t max_bytes);

}  // namespace praxis::app
