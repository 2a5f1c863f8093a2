// Our end of the channel to code in the interpreter: carries out what the code asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "praxis/base/time.hpp"
#include "praxis/tools/tool.hpp"
#include "tools/python_requests.hpp"

namespace praxis {

inline constexpr const char* kPythonToolName = "python";

/// A time limit that can be made to stand still.
class HeldClock {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HeldClock(Millis limit) : left_(limit), since_(Clock::now()) {}
  void hold();
  void go_on();
  /// When it will be over if it is not held (again); never while it is.
  Clock::time_point deadline() const;

 private:
  Clock::duration left_;
  std::optional<Clock::time_point> since_;  ///< since when it runs; empty while it is held
};

/// Answers on their way from whoever found them to the thread that sends them. Thread-safe; the sources share
/// it, so that an answer may come when the code is long gone.
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
  /// Readable when there is something to take or somebody called `wake`.
  int descriptor() const { return event_.get(); }

 private:
  const FileDescriptor event_;
  std::mutex mutex_;
  std::deque<Answer> answers_;
};

/// Serves one run of the code, on the thread of the handler. Only a wait for a fork takes a thread of its
/// own; calls take none, so that those which wait for people for days cost next to nothing.
///
/// What the code asked for is found again after a crash, when it runs once more from the top: calls by tool,
/// arguments and how many equal ones came before, forks by prompt in the same way. Requests that differ are
/// thus never mixed up, and those that are equal may be: in which order the threads of the code come to them
/// is of no importance.
class PythonBridge {
 public:
  /// `channel` is ours for as long as this lives; `time` is what the code may take by itself.
  PythonBridge(ToolContext& context, int channel, Millis time, std::string first_line);
  /// Forks that the code left behind are told to stop, and waited for.
  ~PythonBridge();
  PythonBridge(const PythonBridge&) = delete;
  PythonBridge& operator=(const PythonBridge&) = delete;

  /// Until the code closes its end. Errors: `kCancelled`; `kLimit`, its time is over; `kTool`, it sent what
  /// is no request.
  Status serve();
  /// By when the code has to have ended when nothing else is asked for.
  std::chrono::steady_clock::time_point deadline() const { return clock_.deadline(); }

 private:
  /// False when the code has closed its end.
  Result<bool> receive();
  Status take_line(std::string_view line);
  Status admit(const std::vector<PythonRequest>& requests);
  void call(const std::vector<PythonRequest>& requests);
  void fork(std::uint64_t id, const PythonFork& request);
  void wait(std::uint64_t id, const PythonWait& request);
  void collect_answers();
  /// As much as the channel takes now.
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
  std::map<std::uint64_t, std::jthread> waits_;  ///< by request
};

}  // namespace praxis
