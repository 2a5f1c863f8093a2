// What another program notes in a file while a test runs.
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "files.hpp"

namespace praxis::testing {

/// How often `all` has `text`.
inline int occurrences(const std::string& all, const std::string& text) {
  int found = 0;
  for (auto at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++found;
  return found;
}

/// Waits until the file has `line`; the test fails if that takes longer than a minute.
inline void await_line(const std::filesystem::path& file, const std::string& line) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!content_of(file).contains(line) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_THAT(content_of(file), ::testing::HasSubstr(line));
}

}  // namespace praxis::testing
