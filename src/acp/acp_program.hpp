// The program of an agent that speaks the Agent Client Protocol, from its start to its end: what it says is
// collected, what it asks waits to be answered.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "acp/acp_tools.hpp"
#include "mcp/program_channel.hpp"

namespace praxis::acp {

/// How long a request may take.
struct Patience {
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;
};

/// A request of the agent that waits for an answer.
struct Asked {
  Json id;
  std::string method;
  Json params;
};

/// What the agent works on, safe to display.
struct Progress {
  std::string text;
};

/// What happens while a request waits: its answer, a request of the agent, or progress.
using Happening = std::variant<Result<Json>, Asked, Progress>;

/// Thread-safe. The destructor ends all processes of the program.
class Program {
 public:
  explicit Program(const AcpAgent& agent, Process process);
  /// Errors: as `start_channel_program`.
  static Result<std::unique_ptr<Program>> start(const AcpAgent& agent);

  /// Sends a request, one at a time. Errors state their `Reach`.
  Status request(std::string_view method, Json params, const Patience& patience);
  /// Waits for the next thing that happens. The answer ends the request, also while requests of the agent
  /// wait; an error as answer states its `Reach`: `kSent` if the program has ended. `std::nullopt`: stopped,
  /// or the deadline has passed.
  std::optional<Happening> next(const Patience& patience);
  void notify(std::string_view method, Json params);
  void answer(const Json& id, Json result);

  /// From now on the text of this session is collected.
  void use_session(const std::string& id);
  /// The text that the agent has written in the session, at most `AcpBounds::result_bytes`.
  std::string text() const;
  /// What is known of a call that the agent asks permission for: `update` on top of what it has said of the
  /// call before. Error `kTool`: more than `AcpBounds::action_bytes`.
  Result<JsonObject> known_call(const Json& update) const;

 private:
  bool take(McpMessage message);
  void take_request(McpMessage message);
  void refuse(const Json& id, int code, std::string_view why);
  /// The caller of the next three holds the mutex.
  void take_update(const Json& update);
  void take_chunk(const Json& update);
  void remember_call(const Json& update);
  void close_with(const std::string& why);

  const AcpBounds bounds_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::int64_t last_id_ = 0;
  std::optional<Result<Json>> answer_;
  std::deque<Asked> asked_;
  std::string progress_;
  std::optional<std::string> closed_;  ///< why the program is no longer there
  std::string session_;
  std::string text_;
  std::size_t left_out_ = 0;  ///< bytes of the text
  std::string message_;       ///< id of the message that the last piece of text belongs to
  bool is_new_part_ = false;  ///< what comes next does not continue the text
  /// By their ids; empty: it has said too much of the call to show it.
  std::map<std::string, std::optional<JsonObject>> calls_;
  ProgramChannel channel_;  ///< last: its end still reports to this object
};

}  // namespace praxis::acp
