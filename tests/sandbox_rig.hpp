// A folder to be granted to a sandbox, with protected paths, and a folder outside of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "praxis/process/process.hpp"

namespace praxis::testing {

namespace fs = std::filesystem;

inline constexpr const char* kSecret = "a-secret-of-the-host";

/// A writable folder with protected paths, and a folder outside.
class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
    std::string name = (fs::temp_directory_path() / "praxis_sandbox_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    top_ = name;
    fresh();
  }
  void TearDown() override {
    if (!top_.empty()) fs::remove_all(top_);
  }

  void fresh() {
    fs::remove_all(top_ / "ws");
    fs::remove_all(top_ / "out");
    for (const char* folder :
         {"ws/.git/hooks", "ws/.vscode", "ws/.github/workflows", "ws/conf", "ws/team/a/.git/hooks",
          "ws/team/a/deep/er", "ws/team/b/.praxis", "ws/team/b/.vscode", "out"})
      fs::create_directories(top_ / folder);
    for (const char* file :
         {"ws/.git/config", "ws/.env", "ws/.env.local", "ws/.mcp.json", "ws/.bashrc", "ws/conf/agent.toml",
          "ws/team/a/.git/config", "ws/team/a/deep/er/.mcp.json", "ws/team/b/.git", "ws/team/b/.env.local",
          "ws/Jenkinsfile", "ws/.gitlab-ci.yml", "ws/file", "out/secret", "out/victim"}) {
      std::ofstream(top_ / file) << "KEY=1\n";
    }
    fs::create_symlink(top_ / "out", top_ / "ws/link");
  }

  std::string workspace() const { return top_ / "ws"; }

  /// Runs `python3 -c code` or a script, as each test requires.
  ProcessSpec python(std::vector<std::string> arguments) const {
    ProcessSpec spec;
    spec.argv = {"/usr/bin/python3", "-I"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.folder = workspace();
    spec.limits.wall_time = Millis(30'000);
    return spec;
  }
  void put_in_sandbox(ProcessSpec& spec) const {
    spec.sandbox.emplace();
    spec.sandbox->writable = {workspace()};
    spec.sandbox->protect = {workspace() + "/conf/agent.toml", workspace() + "/conf/later.toml"};
    spec.limits.processes = 64;
    spec.limits.memory_bytes = std::uint64_t{1} << 30;
    spec.limits.file_bytes = 64 << 20;
    spec.limits.open_files = 1024;
  }
  static ProcessResult run(const ProcessSpec& spec) {
    auto process = start_process(spec);
    auto result = process ? process->wait({}) : Result<ProcessResult>(fail(process.error()));
    if (result) return std::move(*result);
    ADD_FAILURE() << result.error().message;
    return {};
  }

  fs::path top_;
};

}  // namespace praxis::testing
