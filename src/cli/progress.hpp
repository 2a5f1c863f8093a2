// Shows the progress of a turn: on a terminal a status line and the streamed answer, elsewhere one line per
// event. Sub-agents are indented and shown with their path.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "app/plain_text.hpp"
#include "cli/console.hpp"
#include "cli/markdown.hpp"
#include "praxis/core/event.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::cli {

/// What is shown besides the answer: nothing, steps and calls, or the results of calls as well.
enum class Verbosity : std::uint8_t { kQuiet, kNormal, kVerbose };

/// The agent ids from below a root down to a sub-agent, separated by slashes; empty if they are unknown.
using PathBelow = std::function<std::string(const SessionId&)>;
/// Reads them from a journal, which must outlive the function.
PathBelow paths_below(Journal& journal, const SessionId& root);

class Progress {
 public:
  /// Follows the turn of `root`. `console` must outlive it. While it exists, only the holder of the lock
  /// below may write to the streams.
  Progress(Console& console, SessionId root, PathBelow path_below, Verbosity verbosity = Verbosity::kNormal);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const Event& event);
  /// Hides the status line while it is held, because the user is typing.
  void hold(bool held);
  /// Prints the answer, or the part not shown yet, and the summary of the turn.
  void finish(const AgentResult& result);

 private:
  /// A running agent.
  struct Agent {
    std::string prefix;  ///< prefix of its lines: indentation and path; empty for the root
    std::uint32_t step = 0;
    Usage usage;
    std::map<CallId, std::string> calls;  ///< arguments of each call
    std::string failure;                  ///< of its last model call, not shown yet
    std::string shown_failure;            ///< the last one that was shown
  };
  /// A model call that waits before it is sent.
  struct Wait {
    std::string why;  ///< `retry 2 of 4 in `, with the time left after it if it is known
    std::chrono::steady_clock::time_point until;  ///< the epoch: unknown
  };

  Agent& agent_of(const AgentMeta& meta);
  void show_root(const Event& event);
  void show_member(const AgentSpec& agent);
  void show_model(Agent& agent, const Event& event);
  void show_wait(Agent& agent, const Event& event, const events::ModelWaiting& wait);
  void show_decision(const Agent& agent, const records::Decided& decision);
  void tick(const std::stop_token& stop);
  void line(const Agent& agent, std::string_view text, bool failed = false);
  void write_line(const std::string& shown, bool failed);
  void end_step(const Agent& agent, const Event& event);
  void flush_step();
  void call_line(const Agent& agent, const CallId& call, const std::string& name, const std::string& how,
                 bool failed);
  void show_result(const Agent& agent, std::string_view text);
  void write_answer(std::string_view piece);
  void begin_answer();
  void end_answer();
  void erase();
  void draw();
  std::string totals() const;
  std::string now_doing() const;

  Console& console_;
  const SessionId root_;
  const PathBelow path_below_;
  const Verbosity verbosity_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<SessionId, Agent> agents_;
  UnixMillis began_;       ///< time of the first event; 0: none yet
  std::string last_step_;  ///< the line of the root's last step, not shown yet
  std::string doing_ = "starting";
  std::optional<Wait> wait_;  ///< until the model answers or fails
  /// When the model that is asked last sent text; the epoch: no model is asked.
  std::chrono::steady_clock::time_point heard_;
  std::string answer_;  ///< streamed to the terminal since the last model request
  TextFilter filter_;
  std::optional<MarkdownStream> markdown_;  ///< renders the answer; none: it is shown as written
  Usage usage_;                             ///< of all agents
  bool held_ = false;
  std::string held_lines_;  ///< written while the line was held
  bool drawn_ = false;      ///< the status line is on the screen
  bool line_open_ = false;  ///< the answer ends within a line
  std::jthread ticker_;     ///< last, so that it stops first
};

}  // namespace praxis::cli
