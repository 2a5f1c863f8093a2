// Measures the cost of running a program that does nothing: directly, under the supervisor, and in the
// sandbox.
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
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

bool run_supervised(bool sandboxed) {
  praxis::ProcessSpec spec;
  spec.argv = {kProgram};
  if (sandboxed) spec.sandbox.emplace();
  auto process = praxis::start_process(spec);
  if (!process) return false;
  const auto result = process->wait({});
  return result && result->end == praxis::ProcessEnd::kExited && result->exit_code == 0;
}

void measure(const char* name, const std::function<bool()>& run) {
  std::vector<double> millis;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!run()) {
      std::printf("%-10s cannot be run here\n", name);
      return;
    }
    millis.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(millis);
  std::printf("%-10s median %6.1f ms, least %6.1f ms, of %d\n", name, millis[kRounds / 2], millis[0],
              kRounds);
}

}  // namespace

int main() {
  measure("plain", plainly);
  measure("supervisor", [] { return run_supervised(false); });
  measure("sandbox", [] { return run_supervised(true); });
}
