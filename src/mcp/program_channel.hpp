// A conversation with a program in JSON-RPC messages, one a line, on its standard input and output. What the
// methods mean is up to those who use it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "mcp/message.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/mcp/mcp_client.hpp"

namespace praxis {

/// Bounds of what a program may write, and the word for it in errors.
struct ChannelBounds {
  std::size_t message_bytes = 0;  ///< of one message; a longer one ends the conversation
  std::size_t message_depth = 0;  ///< nested arrays and objects of a message
  std::size_t error_bytes = 0;    ///< of what the program reports when it ends
  std::uint64_t total_bytes = 0;  ///< of everything it writes to standard output; 0: no bound
  std::string_view peer;          ///< such as "the server"; a literal
};

/// Called on the thread that reads; must not block for long.
struct ChannelEvents {
  /// Gets each message. False: it answers nothing that was asked; too many of them end the conversation.
  std::function<bool(McpMessage message)> message;
  /// Called once, after the last message: why the conversation is over.
  std::function<void(const std::string& why)> ended;
};

/// Thread-safe, except for `begin`. The destructor closes the program's standard input, gives it a moment to
/// end, and ends all its processes.
class ProgramChannel {
 public:
  /// `process` was started with `channel_is_stdio`.
  ProgramChannel(Process process, const ChannelBounds& bounds, ChannelEvents events);
  ~ProgramChannel();
  ProgramChannel(const ProgramChannel&) = delete;
  ProgramChannel& operator=(const ProgramChannel&) = delete;

  /// Starts to read; call it once, when the events can be taken.
  void begin();
  /// Writes a line. The epoch as deadline sets no bound. Errors state their `Reach`.
  Status send(std::string line, const std::stop_token& stop, std::chrono::steady_clock::time_point deadline);
  /// As `send`, for a message that no answer is expected to: it waits for a moment only.
  Status send_quietly(std::string line);

 private:
  void read_all();
  /// False when the conversation has to end; `why` says why.
  bool take_lines(std::string& buffer, std::size_t& searched, std::string& why);
  bool take(std::string_view line, std::string& why);
  void close_with(const std::string& why);
  std::string report_of_end(const std::string& why);
  bool take_turn(const std::stop_token& stop, std::chrono::steady_clock::time_point deadline);
  Status write_line(const std::string& line, const std::stop_token& stop,
                    std::chrono::steady_clock::time_point deadline);
  std::string named(std::string_view text) const { return std::string(bounds_.peer) + std::string(text); }
  Error stuck_error(const std::stop_token& stop, Reach reach) const;

  const ChannelBounds bounds_;
  const ChannelEvents events_;
  Process process_;
  const int fd_;

  std::mutex mutex_;
  std::condition_variable_any turn_;  ///< to write
  bool writing_ = false;
  std::condition_variable closing_;
  bool closed_ = false;

  std::size_t stray_ = 0;  ///< used by the reader only, as the next
  std::uint64_t total_ = 0;
  std::thread reader_;
};

/// The error for a conversation that is over.
Error channel_closed(const std::string& why, Reach reach);
/// Starts a program whose standard input and output are its channel. Errors: as `start_process`, and that of
/// `McpProgram::prepare`.
Result<Process> start_channel_program(const McpProgram& program);

}  // namespace praxis
