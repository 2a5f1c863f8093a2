#include "tui/live_region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/columns.hpp"
#include "base/utf8.hpp"

namespace praxis::tui {
namespace {

// Synchronised output: a terminal that knows it shows the frame at once, others ignore it.
/// Erases from the beginning of a line to the end of the screen. Not with one sequence: from the top left
/// corner tmux would take it for the clearing of a screen that it keeps in its history.
constexpr std::string_view kEraseBelow = "\x1b[K\x1b[C\x1b[J\r";
constexpr std::string_view kBegin = "\x1b[?2026h\x1b[?25l", kFinish = "\x1b[?2026l";
constexpr std::string_view kNoWrap = "\x1b[?7l", kWrap = "\x1b[?7h";
constexpr std::string_view kEraseLine = "\x1b[K", kShowCursor = "\x1b[?25h";

/// The length of the common start of two lines that holds whole characters and no sequence.
std::size_t common_start(std::string_view a, std::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] != '\x1b') {
    const std::size_t length = utf8_step(a.substr(at)).length;
    if (a.substr(at, length) != b.substr(at, length)) break;
    at += length;
  }
  // A mark after it belongs to its last character.
  const auto joins = [&](std::string_view text) {
    if (at >= text.size() || text[at] == '\x1b') return false;
    return columns_of(text.substr(at, utf8_step(text.substr(at)).length)) == 0;
  };
  return joins(a) || joins(b) ? 0 : at;
}

std::string move_down(std::size_t rows) { return rows == 0 ? "" : fmt::format("\x1b[{}B", rows); }

}  // namespace

std::string LiveRegion::frame(std::string_view finished, std::vector<std::string> lines, std::size_t rows) {
  const std::size_t most = std::max<std::size_t>(rows, 2) - 1;
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  const bool whole = !is_known_ || !finished.empty();
  if (!whole && lines == drawn_) return "";
  std::string out(kBegin);
  if (whole) {
    out.append("\r").append(kEraseBelow).append(finished);
    drawn_.clear();
  }
  out += kNoWrap;
  std::size_t row = 0;  // of the terminal's cursor within the region
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= drawn_.size()) {
      if (i > 0) out += move_down(i - 1 - row) + "\n";
      out += lines[i];
      row = i;
    } else if (lines[i] != drawn_[i]) {
      const std::size_t same = common_start(lines[i], drawn_[i]);
      out += move_down(i - row) + '\r';
      if (const auto skipped = columns_of(std::string_view(lines[i]).substr(0, same)); skipped > 0)
        out += fmt::format("\x1b[{}C", skipped);
      out.append(std::string_view(lines[i]).substr(same)).append(kEraseLine);
      row = i;
    }
  }
  if (lines.size() < drawn_.size()) {
    out += move_down(lines.size() - row) + '\r';
    out += kEraseBelow;
    row = lines.size();
  }
  if (row > 0) out += fmt::format("\x1b[{}A", row);
  out.append("\r").append(kWrap).append(kFinish);
  drawn_ = std::move(lines);
  is_known_ = true;
  return out;
}

std::string LiveRegion::remove() {
  drawn_.clear();
  is_known_ = false;
  return fmt::format("\r{}{}", kEraseBelow, kShowCursor);
}

}  // namespace praxis::tui
