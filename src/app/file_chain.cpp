#include "app/file_chain.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace praxis::app {
namespace {

constexpr std::size_t kMaxLevels = 8;  ///< maximum nesting of agent files
constexpr std::size_t kMaxFiles = 64;  ///< maximum number of files read for one agent

}  // namespace

std::string FileChain::why_not(const std::string& path) const {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return "there is no agent file \"" + path + '"';
  const auto again = std::ranges::find_if(files, [&](const std::string& other) {
    std::error_code missing;
    return std::filesystem::equivalent(path, other, missing);
  });
  if (again != files.end()) {
    std::string circle;
    for (auto each = again; each != files.end(); ++each) circle += *each + " -> ";
    return "agents cannot be their own sub-agents: " + circle + path;
  }
  if (files.size() >= kMaxLevels)
    return "agent files name each other at most " + std::to_string(kMaxLevels) + " levels deep";
  if (read > kMaxFiles) return "one agent has at most " + std::to_string(kMaxFiles) + " files below it";
  return {};
}

}  // namespace praxis::app
