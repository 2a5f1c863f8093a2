// Our end of the channel to Python code: carries out its requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "praxis/base/time.hpp"
#include "praxis/tools/tool.hpp"
#include "tools/python_requests.hpp"

namespace praxis {

inline constexpr const char* kPythonToolName = "python";

/// A time limit that can be paused.
class HeldClock {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HeldClock(Millis limit) : left_(limit), since_(Clock::now()) {}
  void hold();
  void go_on();
  /// The time at which the limit expires if it is not paused again; the maximum while it is paused.
  Clock::time_point deadline() const;

 private:
  Clock::duration left_;
  std::optional<Clock::time_point> since_;  ///< start of the running period; empty while paused
};

/// Answers on their way from the threads that produce them to the thread that sends them. Thread-safe. The
/// producers share ownership, because an answer may arrive after the code has ended.
class PythonAnswers {
 public:
  struct Answer {
    std::uint64_t id = 0;
    std::string line;
  };

  PythonAnswers();
  void put(std::uint64_t id, const Result<Json>& answer);
  std::deque<Answer> take();
  /// Makes `descriptor` readable.
  void wake() const;
  /// Readable if answers are queued or `wake` was called.
  int descriptor() const { return event_.get(); }

 private:
  const FileDescriptor event_;
  std::mutex mutex_;
  std::deque<Answer> answers_;
};

/// Serves one run of the code, on the handler's thread, which the running program holds anyway. The forks and
/// calls that the code waits for need no thread of their own.
///
/// When the code runs again after a crash, its requests are matched to the earlier ones: calls by tool,
/// arguments and the number of equal calls before; forks by prompt in the same way. Different requests are
/// never confused. Equal requests can be swapped, because the order in which the code's threads make them
/// does not matter.
class PythonBridge {
 public:
  /// `channel` is owned by the caller and must stay open during this object's life; `time` is the limit on
  /// the code's own running time.
  PythonBridge(ToolContext& context, int channel, Millis time, std::string first_line);
  /// Stops forks that the code left running, and waits for them.
  ~PythonBridge();
  PythonBridge(const PythonBridge&) = delete;
  PythonBridge& operator=(const PythonBridge&) = delete;

  /// Serves until the code closes its end. Errors: `kCancelled`; `kLimit`, timed out; `kTool`, an invalid
  /// request.
  Status serve();
  /// When the code must have ended if it makes no further request.
  std::chrono::steady_clock::time_point deadline() const { return clock_.deadline(); }

 private:
  /// Reads what has arrived; false if the code has closed its end.
  Result<bool> receive();
  Status take_line(std::string_view line);
  Status admit(const std::vector<PythonRequest>& requests);
  void call(const std::vector<PythonRequest>& requests);
  void fork(std::uint64_t id, const PythonFork& request);
  void wait(std::uint64_t id, const PythonWait& request);
  void collect_answers();
  /// Sends as much as the channel accepts without blocking.
  void send_some();
  void refuse(std::uint64_t id, std::string why);

  ToolContext& context_;
  const int channel_;
  const std::shared_ptr<PythonAnswers> answers_ = std::make_shared<PythonAnswers>();
  HeldClock clock_;
  std::string received_, to_send_;
  std::set<std::uint64_t> open_;  ///< requests without an answer
  std::size_t admitted_ = 0;
  std::vector<SubAgent> forks_;
};

}  // namespace praxis
