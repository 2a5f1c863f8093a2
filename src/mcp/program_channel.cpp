#include "mcp/program_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "mcp/connection.hpp"

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

/// Lines that are no messages, and answers to nothing that was asked, before the conversation counts as
/// broken. Some programs write a greeting to standard output.
constexpr std::size_t kMaxStray = 1000;
constexpr std::chrono::milliseconds kCloseTime{300};  ///< for a program to end once its input has ended
/// For a message that no answer is expected to; a cancelled call must return within the grace time of a stop.
constexpr std::chrono::milliseconds kNotifyTime{50};
constexpr std::chrono::milliseconds kSlice{20};  ///< between two looks at a stop request while a write waits
constexpr std::size_t kBeginning = 200;          ///< of a line, where a message names its protocol
constexpr std::size_t kMaxRead = std::size_t{64} * 1024;

}  // namespace

ProgramChannel::ProgramChannel(Process process, const ChannelBounds& bounds, ChannelEvents events)
    : bounds_(bounds), events_(std::move(events)), process_(std::move(process)), fd_(process_.channel()) {
  fcntl(fd_, F_SETFL, O_NONBLOCK);
}

ProgramChannel::~ProgramChannel() {
  shutdown(fd_, SHUT_WR);
  if (!reader_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    closing_.wait_for(lock, kCloseTime, [this] { return closed_; });
  }
  shutdown(fd_, SHUT_RDWR);
  reader_.join();
}

void ProgramChannel::begin() {
  reader_ = std::thread([this] { read_all(); });
}

Status ProgramChannel::send_quietly(std::string line) {
  return send(std::move(line), {}, Clock::now() + kNotifyTime);
}

Error channel_closed(const std::string& why, Reach reach) {
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kClosed, why), reach);
}

Error ProgramChannel::stuck_error(const std::stop_token& stop, Reach reach) const {
  const ErrorCode code = stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kTool;
  return with_reach(make_error(code, named(" does not read its standard input")), reach);
}

/// Messages are written one after the other. A mutex would make a request that is stopped wait for one that
/// is stuck.
bool ProgramChannel::take_turn(const std::stop_token& stop, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return !writing_; };
  const bool taken = deadline == Clock::time_point() ? turn_.wait(lock, stop, is_free)
                                                     : turn_.wait_until(lock, stop, deadline, is_free);
  if (taken) writing_ = true;
  return taken;
}

Status ProgramChannel::send(std::string line, const std::stop_token& stop, Clock::time_point deadline) {
  line += '\n';
  if (!take_turn(stop, deadline)) return fail(stuck_error(stop, Reach::kNotSent));
  Status written = write_line(line, stop, deadline);
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  turn_.notify_one();
  return written;
}

/// A line of which only a part was written would garble the next one, so the connection ends then.
Status ProgramChannel::write_line(const std::string& line, const std::stop_token& stop,
                                  Clock::time_point deadline) {
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t got = ::send(fd_, line.data() + written, line.size() - written, MSG_NOSIGNAL);
    if (got >= 0) {
      written += static_cast<std::size_t>(got);
      continue;
    }
    if (errno == EINTR) continue;
    const Reach reach = written == 0 ? Reach::kNotSent : Reach::kSent;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return fail(channel_closed(named(" has ended or closed its standard input"), reach));
    if (stop.stop_requested() || (deadline != Clock::time_point() && Clock::now() >= deadline)) {
      if (written != 0) shutdown(fd_, SHUT_RDWR);
      return fail(stuck_error(stop, reach));
    }
    pollfd ready{fd_, POLLOUT, 0};
    poll(&ready, 1, static_cast<int>(kSlice.count()));
  }
  return {};
}

void ProgramChannel::read_all() {
  std::string buffer, why;
  std::size_t searched = 0;
  std::array<char, kMaxRead> chunk{};
  for (;;) {
    const ssize_t got = recv(fd_, chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd ready{fd_, POLLIN, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (got <= 0) {
      why = buffer.empty() ? named(" has ended") : named(" has ended within a message");
      break;
    }
    total_ += static_cast<std::uint64_t>(got);
    if (bounds_.total_bytes != 0 && total_ > bounds_.total_bytes) {
      why = named(" wrote more than ") + std::to_string(bounds_.total_bytes) + " bytes";
      break;
    }
    buffer.append(chunk.data(), static_cast<std::size_t>(got));
    if (!take_lines(buffer, searched, why)) break;
  }
  close_with(why);
}

bool ProgramChannel::take_lines(std::string& buffer, std::size_t& searched, std::string& why) {
  std::size_t start = 0;
  for (std::size_t end = 0; (end = buffer.find('\n', std::max(searched, start))) != std::string::npos;
       start = end + 1) {
    const std::string_view line = std::string_view(buffer).substr(start, end - start);
    if (line.size() > bounds_.message_bytes) break;
    if (!take(line, why)) return false;
  }
  buffer.erase(0, start);
  searched = buffer.size();
  if (buffer.size() <= bounds_.message_bytes) return true;
  why = named(" sent a message of more than ") + std::to_string(bounds_.message_bytes) + " bytes";
  return false;
}

bool ProgramChannel::take(std::string_view line, std::string& why) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  auto message =
      read_mcp_message(line, {.max_depth = bounds_.message_depth, .max_bytes = bounds_.message_bytes});
  if (message) {
    if (!events_.message(*std::move(message))) ++stray_;
  } else if (line.substr(0, kBeginning).contains("\"jsonrpc\"")) {
    // An answer that cannot be read: without this, its request would wait for it in vain.
    why = named(" sent a message that cannot be read: ") + message.error().message;
    return false;
  } else {
    ++stray_;
  }
  if (stray_ <= kMaxStray) return true;
  why = named(" writes to standard output what is no message of the protocol");
  return false;
}

/// What the program reported while it ended.
std::string ProgramChannel::report_of_end(const std::string& why) {
  shutdown(fd_, SHUT_RDWR);
  const auto run = process_.wait({}, Clock::now() + kCloseTime);
  if (!run) return why;
  std::string text = why;
  if (run->end == ProcessEnd::kExited && run->exit_code != 0)
    text += " with status " + std::to_string(run->exit_code);
  if (run->end == ProcessEnd::kOutOfMemory) text += ", because it held more memory than allowed";
  const std::string report = run->err.text();
  const std::size_t cut = report.size() > bounds_.error_bytes ? report.size() - bounds_.error_bytes : 0;
  if (!report.empty())
    text += "; it reported: " + mcp_shown(std::string_view(report).substr(cut), bounds_.error_bytes);
  return text;
}

void ProgramChannel::close_with(const std::string& why) {
  events_.ended(report_of_end(why));
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  closing_.notify_all();
}

Result<Process> start_channel_program(const McpProgram& program) {
  ProcessSpec spec;
  spec.argv = program.argv;
  spec.environment = program.environment;
  if (program.prepare) {
    if (auto prepared = program.prepare(spec.environment); !prepared)
      return fail(std::move(prepared.error()));
  }
  spec.folder = program.folder;
  spec.channel_is_stdio = true;
  spec.limits = program.limits;
  spec.sandbox = program.sandbox;
  auto process = start_process(spec);
  if (!process) return fail(with_reach(std::move(process.error()), Reach::kNotSent));
  return process;
}

}  // namespace praxis
