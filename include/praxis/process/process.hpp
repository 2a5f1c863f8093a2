// Runs programs under supervision: all processes that a program starts end with it, on cancellation, when the
// program's owner is destroyed, and when our own process dies. A small supervisor process between us and the
// program enforces this; it reads all output, of any size, and keeps its head and tail.
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

#pragma GCC visibility push(default)
namespace praxis {

/// Resource limits of a process. Zero means no limit, except for `output_bytes` and `grace`.
struct ProcessLimits {
  /// From the start; when it has passed, the program is ended as by cancellation.
  Millis wall_time{0};
  std::chrono::seconds cpu{0};  ///< processor time, for each process
  /// Address space, for each process. In a sandbox also the memory that all processes together hold, with the
  /// files in its temporary folders: bounded by a control group where this user may make one, else measured
  /// four times a second.
  std::uint64_t memory_bytes = 0;
  /// Processes and threads; only in a sandbox (outside, the kernel can only count all processes of a user).
  std::uint64_t processes = 0;
  std::uint64_t file_bytes = 0;  ///< size of each file written
  std::uint64_t open_files = 0;  ///< for each process
  /// How much of standard output is kept, and as much of standard error.
  std::size_t output_bytes = 64 * 1024;
  Millis grace{50};  ///< between SIGTERM and SIGKILL
};

struct ProcessSpec {
  /// The program, searched in the `PATH` of `environment`, and its arguments; no shell is involved.
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  ///< complete; nothing is inherited
  std::string folder = "/";                        ///< working directory; absolute
  std::string input;                               ///< standard input
  bool channel = false;  ///< opens descriptor 3, the other end of `Process::channel`
  /// The channel is standard input and output instead; only standard error is kept, and `input` is not used.
  bool channel_is_stdio = false;
  ProcessLimits limits;
  /// When set, the program runs in this sandbox or is not started.
  std::optional<Sandbox> sandbox;
};

/// One output stream: the whole stream in `head`, or its beginning and its end.
struct ProcessOutput {
  std::string head;
  std::string tail;
  std::uint64_t total_bytes = 0;

  std::uint64_t left_out() const { return total_bytes - head.size() - tail.size(); }
  /// Head and tail, with a note between them of how many bytes were left out.
  std::string text() const;
};

enum class ProcessEnd : std::uint8_t {
  kExited,
  kSignalled,    ///< ended by a signal that we did not send
  kTimedOut,     ///< ended by us because its time was over
  kCancelled,    ///< ended by us because the caller cancelled it
  kOutOfMemory,  ///< ended by us because its processes held more memory than allowed
};
/// `exited`, `signalled`, `timed_out`, `cancelled`, `out_of_memory`.
std::string_view to_string(ProcessEnd end);

struct ProcessResult {
  ProcessEnd end = ProcessEnd::kExited;
  int exit_code = 0;  ///< for `kExited`
  int signal = 0;     ///< for `kSignalled`
  ProcessOutput out, err;
  Millis duration{0};
  bool memory_group = false;  ///< whether a control group bounded the memory of the sandbox
};

/// A running program. It has ended when its first process has; processes that it left running are killed. The
/// destructor kills everything and waits for that, about the grace time at most. Not thread-safe, except for
/// `kill`.
class Process {
 public:
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  /// Waits until no process of the program is left. A stop request or the deadline ends it: SIGTERM to all
  /// its processes, and SIGKILL after the grace time. Call it once. Error `kInternal`: the supervisor was
  /// killed from outside.
  Result<ProcessResult> wait(const std::stop_token& stop, std::chrono::steady_clock::time_point deadline =
                                                              std::chrono::steady_clock::time_point::max());
  /// Our end of the channel: a stream socket, closed with this object; -1 without a channel. The program's
  /// end is closed when its last process has ended.
  int channel() const;
  /// Starts ending all processes of the program and returns at once; `wait` then reports `kCancelled`.
  void kill();

 private:
  friend Result<Process> start_process(const ProcessSpec& spec);
  struct State;
  explicit Process(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Starts a program; returns when it runs. Thread-safe. Errors: `kInput` for an unusable spec; `kTool` when
/// the program or folder does not exist or the machine lacks resources; `kPolicy` when the sandbox cannot be
/// built (the message says why; nothing was run).
Result<Process> start_process(const ProcessSpec& spec);

}  // namespace praxis
#pragma GCC visibility pop
