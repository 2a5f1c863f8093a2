// For tests that read a source tree, and trees in a temporary folder that break their rules.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace praxis::testing {

/// One line per violation of a rule: where and what.
using Violations = std::vector<std::string>;

/// The floor of each room, as in docs/architecture.md.
inline const std::map<std::string, int, std::less<>> kFloors{
    {"base", 0},     {"json", 1},       {"seal", 1},   {"net", 2},     {"store", 2},      {"redact", 2},
    {"process", 3},  {"domain", 4},     {"core", 5},   {"journal", 6}, {"models", 7},     {"tools", 7},
    {"memory", 7},   {"prompts", 7},    {"mcp", 7},    {"policy", 7},  {"engines", 7},    {"acp", 8},
    {"planners", 8}, {"snapshots", 8},  {"driver", 9}, {"logs", 10},   {"runtime", 11},   {"app", 12},
    {"server", 13},  {"protocols", 13}, {"tui", 13},   {"evals", 13},  {"telemetry", 13}, {"capi", 13},
    {"cli", 14}};

/// A source tree in a temporary folder.
class SourceTreeTest : public ::testing::Test {
 protected:
  SourceTreeTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_layers_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = name;
  }
  ~SourceTreeTest() override { std::filesystem::remove_all(root_); }

  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace praxis::testing
