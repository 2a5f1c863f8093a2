#include "app/source_file.hpp"

#include "base/regular_file.hpp"

namespace praxis::app {

std::string absolute_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

Result<std::string> read_source(const AgentFileOptions& options, const std::string& path,
                                std::size_t max_bytes) {
  return options.read_file ? options.read_file(absolute_path(path), max_bytes)
                           : read_regular_file(path, max_bytes);
}

}  // namespace praxis::app
