// Whether a path stays in the folder that an agent is bounded to.
#pragma once

#include <string>

namespace praxis::app {

/// Why `path` (absolute) is not below `folder` (absolute, without links), or leads out of it through a link;
/// empty if it stays inside, or if `folder` is empty. What does not exist yet is judged by its name.
std::string why_outside(const std::string& folder, const std::string& path);

}  // namespace praxis::app
