// Programs that run under supervision: whatever they start ends with them, when they are told to stop, when
// their owner goes away, and when our own process dies. A small supervisor process of ours stands between; it
// reads all output, however much, and keeps its head and tail.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis {

/// What a process may use. Zero means no limit, but of `output_bytes` and `grace`.
struct ProcessLimits {
  Millis wall_time{0};             ///< from the start; then it is ended as by a stop
  std::chrono::seconds cpu{0};     ///< of processor time, of each process
  std::uint64_t memory_bytes = 0;  ///< of address space, of each process
  std::uint64_t processes =
      0;  ///< and threads, in a sandbox; outside, the kernel can only count all of a user's
  std::uint64_t file_bytes = 0;          ///< of each file written
  std::uint64_t open_files = 0;          ///< of each process
  std::size_t output_bytes = 64 * 1024;  ///< kept of standard output, and as much of standard error
  Millis grace{50};                      ///< between SIGTERM and SIGKILL
};

struct ProcessSpec {
  std::vector<std::string> argv;  ///< the program, found by the PATH below, and its arguments; no shell
  std::map<std::string, std::string> environment;  ///< all of it; nothing is inherited
  std::string folder = "/";                        ///< where it runs; absolute
  std::string input;                               ///< its standard input
  bool channel = false;  ///< gives it descriptor 3, the other end of `Process::channel`
  ProcessLimits limits;
  std::optional<Sandbox> sandbox;  ///< runs in it, or not at all
};

/// One output stream: all of it in `head`, or its two ends.
struct ProcessOutput {
  std::string head;
  std::string tail;
  std::uint64_t total_bytes = 0;

  std::uint64_t left_out() const { return total_bytes - head.size() - tail.size(); }
  /// Head and tail, and between them how much is missing.
  std::string text() const;
};

enum class ProcessEnd : std::uint8_t {
  kExited,
  kSignalled,  ///< ended by a signal that was not ours
  kTimedOut,   ///< ended by us: its time was over
  kCancelled,  ///< ended by us: somebody asked to stop
};
/// `exited`, `signalled`, `timed_out`, `cancelled`.
std::string_view to_string(ProcessEnd end);

struct ProcessResult {
  ProcessEnd end = ProcessEnd::kExited;
  int exit_code = 0;  ///< of `kExited`
  int signal = 0;     ///< of `kSignalled`
  ProcessOutput out, err;
  Millis duration{0};
};

/// A program that runs. It counts as ended when its first process has; what that left running is killed.
/// Destroying it kills everything and waits for that, some grace time at most. One thread at a time, except
/// for `kill`.
class Process {
 public:
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  /// Waits until nothing of the program is left. A stop or the deadline ends it: SIGTERM to all its
  /// processes, and SIGKILL after the grace time. To be called once. Error `kInternal`: somebody killed the
  /// supervisor.
  Result<ProcessResult> wait(const std::stop_token& stop, std::chrono::steady_clock::time_point deadline =
                                                              std::chrono::steady_clock::time_point::max());
  /// Our end of the channel: a stream socket, closed with this object; -1 without a channel. The program's
  /// end is closed when its last process is gone.
  int channel() const;
  /// Tells everything to end, and returns at once; `wait` then says `kCancelled`.
  void kill();

 private:
  friend Result<Process> start_process(const ProcessSpec& spec);
  struct State;
  explicit Process(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Starts a program; returns when it runs. Thread-safe. Errors: `kInput`, an unusable spec; `kTool`, there is
/// no such program or folder, or the machine lacks what it takes; `kPolicy`, the sandbox cannot be built (the
/// message says why, and nothing was run).
Result<Process> start_process(const ProcessSpec& spec);

}  // namespace praxis
