// Finds, anywhere below a folder, what a sandbox must keep as it is.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis {

/// Whether something of this name must stay as it is.
using IsWanted = bool (*)(std::string_view name, bool is_folder);

/// The paths below `folder`, each from its slash on, that are wanted. Neither links nor what was found nor
/// the folders in `closed` (whole paths) are looked into, nor folders of others that we may not read: a
/// sandbox may not either. Error `kPolicy`: there are more than 100,000 folders or 256 finds, or a folder of
/// our own cannot be read. Thread-safe.
Result<std::vector<std::string>> find_below(const std::string& folder, const std::set<std::string>& closed,
                                            IsWanted is_wanted);

}  // namespace praxis
