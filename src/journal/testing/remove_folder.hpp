// Removes the files of a journal that may still be closing.
#pragma once

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace praxis::testing {

/// Removes a folder whose files may disappear meanwhile: a thread that the test does not wait for may drop
/// the last reference to a journal.
inline void remove_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  for (int i = 0; i < 500; ++i) {
    std::filesystem::remove_all(folder, failed);
    if (!failed) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace praxis::testing
