// Whole runs in a simulated process: clock, disk, model, threads and kills come from one seed.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "fault.hpp"
#include "threads_world.hpp"

namespace praxis::faults {
namespace {

constexpr std::uint64_t kSteps = 2'000;
constexpr std::uint64_t kTwiceOnceIn = 10;  ///< one in so many runs is repeated and compared

/// One line per field, complaints last.
std::string text_of(const threads::RunOutcome& outcome) {
  std::string text = std::to_string(outcome.steps) + ' ' + std::to_string(outcome.kills) + '\n' +
                     digest_of(outcome.digest).hex() + '\n';
  for (const std::string& complaint : outcome.complaints) text += complaint + '\n';
  return text;
}

/// Binds the process to one processor. Only one thread of a run works at a time: on one processor, handing
/// over the baton is a thread switch and not a wake-up on another processor, which takes ten times as long on
/// a busy machine. If the system refuses, the run is only slower.
void stay_on_one_processor(std::uint64_t seed) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  auto skipped = seed % static_cast<std::uint64_t>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skipped-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// Runs in a new process, which takes everything with it that kills leave behind.
std::string run_apart(std::uint64_t seed, bool crowded) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    stay_on_one_processor(seed);
    // The run must not depend on the addresses of its memory.
    Random junk(seed);
    for (int i = 0; crowded && i < 1'000; ++i) new std::string(junk.below(3'000), 'x');
    const std::string text = text_of((new threads::World(seed))->run(kSteps));
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0) << "the run died";
  return text;
}

void run_process(std::uint64_t seed) {
  const std::string text = run_apart(seed, false);
  count_steps(std::strtoull(text.c_str(), nullptr, 10));
  const std::size_t head = text.find('\n', text.find('\n') + 1);
  EXPECT_EQ(head, text.size() - 1) << text.substr(0, 3'000);
  if (seed % kTwiceOnceIn == 0) {
    EXPECT_EQ(run_apart(seed, true), text) << "the same seed gave another journal";
  }
}

}  // namespace

Fault threads_fault() {
  return {
      .name = "threads",
      .breaks =
          "clock, disk, model, threads, approvers and kills of a whole process come from the seed, at "
          "least 2,000 steps a run",
      .holds =
          "every log replays, nothing acknowledged is lost, nothing is done twice, all end idle; the same "
          "seed gives the same journal",
      .few = 100,
      .many = 50'000,
      .start = [] { return Run(run_process); }};
}

}  // namespace praxis::faults
