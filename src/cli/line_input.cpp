#include "cli/line_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/trimmed.hpp"

namespace praxis::cli {
namespace {

constexpr int kLookAgainMs = 100;  // interval of checks whether the line is still needed

}  // namespace

std::optional<std::string> LineInput::read(const std::stop_token& stop) {
  std::size_t end = typed_.find('\n');
  while (end == std::string::npos) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    const int came = poll(&ready, 1, kLookAgainMs);
    if (stop.stop_requested()) return std::nullopt;
    if (came <= 0) continue;
    std::array<char, 4096> buffer;
    const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    typed_.append(buffer.data(), static_cast<std::size_t>(got));
    end = typed_.find('\n');
  }
  const std::string line = typed_.substr(0, end);
  typed_.erase(0, end + 1);
  return std::string(trimmed(line, " \t\r"));
}

}  // namespace praxis::cli
