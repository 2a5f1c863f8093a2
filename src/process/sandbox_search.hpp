// Finds the paths anywhere below a folder that a sandbox must protect.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis {

/// Whether a file or folder of this name must be protected.
using IsWanted = bool (*)(std::string_view name, bool is_folder);

/// Returns the wanted paths below `folder`, each relative to it, with a leading slash. Does not descend into
/// links, wanted folders, the folders in `closed` (absolute paths), or other users' folders that we may not
/// read (a sandbox may not read them either). Error `kPolicy`: there are more than 100,000 folders or 256
/// wanted paths, or a folder of our own cannot be read. Thread-safe.
Result<std::vector<std::string>> find_below(const std::string& folder, const std::set<std::string>& closed,
                                            IsWanted is_wanted);

}  // namespace praxis
