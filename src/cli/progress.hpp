// What a person sees of a turn while it works: on a terminal a line that changes and the answer as it is
// written, elsewhere one line for each thing that happened.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/console.hpp"
#include "praxis/runtime/event.hpp"

namespace praxis::cli {

class Progress {
 public:
  /// `console` must outlive it; nothing else may write to its streams meanwhile.
  explicit Progress(Console& console);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const Event& event);
  /// Prints the answer, or what of it has not been seen yet, and the sum of the turn.
  void finish(const AgentResult& result);

 private:
  void tick(const std::stop_token& stop);
  void line(std::string_view text, bool failed = false);
  void call_line(const CallId& call, const std::string& name, const std::string& how, bool failed);
  void write_answer(std::string_view piece);
  void end_answer();
  void erase();
  void draw();
  std::string totals() const;

  Console& console_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<CallId, std::string> calls_;  ///< what was asked of each tool
  std::string doing_ = "starting";
  std::string answer_;  ///< streamed to the terminal since the last model request
  TextFilter filter_;
  std::uint32_t step_ = 0;
  Usage usage_;
  bool drawn_ = false;      ///< the changing line is on the screen
  bool line_open_ = false;  ///< the answer stopped in the middle of a line
  std::jthread ticker_;     ///< last, so that it stops first
};

}  // namespace praxis::cli
