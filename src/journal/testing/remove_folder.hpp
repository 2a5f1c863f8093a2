// Tidying up behind a journal that may still be closing.
#pragma once

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace praxis::testing {

/// Removes a folder whose files may go away by themselves meanwhile: the last to let go of a journal can be a
/// thread that the test does not wait for.
inline void remove_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  for (int i = 0; i < 500; ++i) {
    std::filesystem::remove_all(folder, failed);
    if (!failed) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace praxis::testing
