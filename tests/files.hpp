// Reads files that a program under test has written.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace praxis::testing {

/// All bytes of a file; empty when it cannot be read.
inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace praxis::testing
