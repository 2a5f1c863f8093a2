// Measures the cost of running a program that does nothing: directly, under the supervisor, and in the
// sandbox, with writable folders that hold few and many others.
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "praxis/process/process.hpp"

namespace {

constexpr int kRounds = 60;
constexpr const char* kProgram = "/usr/bin/true";

bool plainly() {
  std::array<char*, 2> arguments{const_cast<char*>(kProgram), nullptr};
  std::array<char*, 1> environment{nullptr};
  pid_t pid = -1;
  int status = -1;
  return posix_spawn(&pid, kProgram, nullptr, nullptr, arguments.data(), environment.data()) == 0 &&
         waitpid(pid, &status, 0) == pid && status == 0;
}

bool run(const praxis::ProcessSpec& spec) {
  auto process = praxis::start_process(spec);
  if (!process) return false;
  const auto result = process->wait({});
  return result && result->end == praxis::ProcessEnd::kExited && result->exit_code == 0;
}

bool run_supervised() {
  praxis::ProcessSpec spec;
  spec.argv = {kProgram};
  return run(spec);
}

bool run_in_sandbox(const std::vector<std::string>& writable, std::uint64_t memory_bytes = 0) {
  praxis::ProcessSpec spec;
  spec.argv = {kProgram};
  spec.sandbox.emplace();
  spec.sandbox->writable = writable;
  spec.limits.memory_bytes = memory_bytes;
  return run(spec);
}

/// Creates a folder that holds `count` files, in folders of `each` files.
std::string folder_with(int count, int each) {
  namespace fs = std::filesystem;
  std::string top = (fs::temp_directory_path() / "praxis_bench_XXXXXX").string();
  if (mkdtemp(top.data()) == nullptr) std::exit(1);
  for (int i = 0; i < count; ++i) {
    const int folder = i / each;
    const fs::path made = fs::path(top) / std::to_string(folder / 100) / std::to_string(folder % 100);
    fs::create_directories(made);
    std::fclose(std::fopen((made / std::to_string(i)).c_str(), "w"));
  }
  return top;
}

/// Prints the median, the least, and the first, which prepares what the others reuse.
void measure(const char* name, const std::function<bool()>& run_once) {
  std::vector<double> millis;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!run_once()) {
      std::printf("%-24s cannot be run here\n", name);
      return;
    }
    millis.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  const double first = millis.front();
  std::ranges::sort(millis);
  std::printf("%-24s median %6.1f ms, least %6.1f ms, first %6.1f ms, of %d\n", name, millis[kRounds / 2],
              millis[0], first, kRounds);
}

}  // namespace

int main() {
  const std::string few = folder_with(0, 1), files = folder_with(20'000, 100), many = folder_with(20'000, 1);
  measure("plain", plainly);
  measure("supervisor", run_supervised);
  measure("sandbox", [] { return run_in_sandbox({}); });
  measure("sandbox, empty folder", [&] { return run_in_sandbox({few}); });
  measure("the same, memory bounded", [&] { return run_in_sandbox({few}, std::uint64_t{4} << 30); });
  // A folder that changed a moment ago is read again by each search.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  measure("sandbox, 20,000 files", [&] { return run_in_sandbox({files}); });
  measure("sandbox, 20,000 folders", [&] { return run_in_sandbox({many}); });
  for (const std::string& folder : {few, files, many}) std::filesystem::remove_all(folder);
}
