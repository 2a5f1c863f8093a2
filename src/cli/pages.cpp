#include "cli/pages.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace praxis::cli {
namespace {

constexpr std::size_t kLeastRows = 4;

/// Waits for Enter. False: the user typed `q`, or standard input ended.
bool goes_on() {
  std::array<char, 64> typed;
  for (;;) {
    const auto got = read(STDIN_FILENO, typed.data(), typed.size());
    if (got < 0 && errno == EINTR) continue;
    return got > 0 && typed[0] != 'q' && typed[0] != 'Q';
  }
}

}  // namespace

bool show_pages(std::string_view text, Console& console) {
  const std::size_t rows = std::max(terminal_size(STDERR_FILENO).rows, kLeastRows) - 1;
  auto left = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  while (left > rows) {
    std::size_t end = 0;
    for (std::size_t row = 0; row < rows; ++row) end = text.find('\n', end) + 1;
    console.err.write(text.substr(0, end));
    text.remove_prefix(end);
    left -= rows;
    console.err.write(fmt::format("-- {} more lines: Enter, or q to leave -- ", left));
    if (!goes_on()) return false;
  }
  console.err.write(text);
  return true;
}

}  // namespace praxis::cli
