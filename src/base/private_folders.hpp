// Creates folders that only the user can enter, with any umask.
#pragma once

#include <filesystem>

namespace praxis {

/// Creates `folder` and the missing folders above it durably, with mode 0700. Existing folders keep their
/// modes. Returns 0, or the `errno` of the failure.
int make_private_folders(const std::filesystem::path& folder);

}  // namespace praxis
