// Files that decide who may do what: only their owner may read or write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "praxis/base/result.hpp"

namespace praxis::app {

/// Reads a file that belongs to this user and that no other user can read or write; follows no link.
/// `std::nullopt`: it is missing. Error `kInput` names the file and what to do.
Result<std::optional<std::string>> read_private_file(const std::string& path, std::size_t max_bytes);

}  // namespace praxis::app
