// Temporary folders of tests, and the files that a program under test has written.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace praxis::testing {

/// A temporary folder for the running test of this process: the same test may run twice at once.
inline std::filesystem::path own_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::filesystem::path(::testing::TempDir()) / (std::string("praxis-") + test->test_suite_name() +
                                                        '-' + test->name() + '-' + std::to_string(getpid()));
}

/// All bytes of a file; empty when it cannot be read.
inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace praxis::testing
