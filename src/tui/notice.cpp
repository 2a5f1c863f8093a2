#include "tui/notice.hpp"

#include <fmt/format.h>

#include <tuple>

#include "tui/users_program.hpp"

namespace praxis::tui {
namespace {

constexpr Millis kNoticeTime{10'000};
constexpr std::size_t kNoticeOutput = 4096;

}  // namespace

std::string notice_bytes(std::string_view way, std::string_view text) {
  if (way == "bell") return "\x07";
  if (way == "osc9") return fmt::format("\x1b]9;{}\x07", text);
  if (way == "osc777") return fmt::format("\x1b]777;notify;Praxis;{}\x07", text);
  return "";
}

void run_notice_command(const std::string& command, const std::string& text) {
  ProcessSpec spec = users_program({"/bin/sh", "-c", command, "praxis", text});
  spec.limits.output_bytes = kNoticeOutput;
  spec.limits.wall_time = kNoticeTime;
  // A command that fails changes nothing: the chat shows the same as without it.
  if (auto process = start_process(spec)) std::ignore = process->wait({});
}

}  // namespace praxis::tui
