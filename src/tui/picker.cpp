#include "tui/picker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "app/plain_text.hpp"
#include "base/columns.hpp"
#include "base/utf8.hpp"
#include "base/visible_text.hpp"
#include "base/write_all.hpp"
#include "tui/live_region.hpp"
#include "tui/raw_terminal.hpp"
#include "tui/terminal_streams.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostSought = 200;  ///< bytes
constexpr std::size_t kMostRows = 16;
constexpr std::ptrdiff_t kPage = 10;

void erase_last_character(std::string& text) {
  while (!text.empty()) {
    const auto last = static_cast<unsigned char>(text.back());
    text.pop_back();
    if ((last & 0xC0U) != 0x80U) return;
  }
}

}  // namespace

Picker::Outcome Picker::press(const Key& key) {
  switch (key.kind) {
    case KeyKind::kEscape:
      return Outcome::kLeft;
    case KeyKind::kEnter:
      return list_.marked() == nullptr ? Outcome::kOpen : Outcome::kChosen;
    case KeyKind::kUp:
      return list_.move(-1), Outcome::kOpen;
    case KeyKind::kDown:
    case KeyKind::kTab:
      return list_.move(1), Outcome::kOpen;
    case KeyKind::kText:
    case KeyKind::kPaste:
      if (typed_.size() + key.text.size() <= kMostSought) typed_ += key.text;
      break;
    case KeyKind::kBackspace:
      erase_last_character(typed_);
      break;
    case KeyKind::kControl:
      if (key.text == "c" || key.text == "d") return Outcome::kLeft;
      if (key.text == "p" || key.text == "n") return list_.move(key.text == "n" ? 1 : -1), Outcome::kOpen;
      if (key.text == "v") return list_.move(kPage), Outcome::kOpen;
      if (key.text == "u") typed_.clear();
      break;
    default:
      return Outcome::kOpen;
  }
  list_.narrow(typed_);
  return Outcome::kOpen;
}

std::vector<std::string> Picker::lines(std::size_t columns, std::size_t rows, const Styles& styles) const {
  std::vector<std::string> lines;
  const std::string count = list_.found() == list_.size()
                                ? fmt::format("{}", list_.size())
                                : fmt::format("{} of {}", list_.found(), list_.size());
  lines.push_back(styles.warning(cut_to(app::one_line(title_, columns) + "  (" + count + ")", columns)));
  const std::size_t room = std::min(rows > 4 ? rows - 3 : 1, kMostRows);
  std::vector<std::string> shown = list_.lines(columns, room, styles);
  if (shown.empty()) shown.push_back(styles.dim("  nothing fits"));
  std::ranges::move(shown, std::back_inserter(lines));
  lines.push_back("search: " + app::one_line(typed_, columns > 10 ? columns - 10 : 1) + "\x1b[7m \x1b[27m");
  lines.push_back(styles.dim(cut_to("Enter takes it, Up and Down move, Esc leaves", columns)));
  return lines;
}

Result<std::optional<std::string>> pick_at_terminal(Picker picker, const Styles& styles) {
  auto terminal = RawTerminal::open();
  if (!terminal) return fail(terminal.error());
  constexpr int kEscapeMillis = 40;
  LiveRegion region;
  KeyReader reader;
  Picker::Outcome outcome = Picker::Outcome::kOpen;
  while (outcome == Picker::Outcome::kOpen) {
    const TerminalSize size = terminal_size(STDOUT_FILENO);
    const std::size_t columns = size.columns > 1 ? size.columns - 1 : 1;
    if (write_all(STDOUT_FILENO, region.frame("", picker.lines(columns, size.rows, styles), size.rows)) != 0)
      break;
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    std::vector<Key> keys;
    if (poll(&ready, 1, reader.is_incomplete() ? kEscapeMillis : -1) == 0) {
      keys = reader.flush();
    } else {
      std::array<char, 4096> buffer;
      const auto got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      keys = reader.feed({buffer.data(), static_cast<std::size_t>(got)});
    }
    for (const Key& key : keys) {
      if (outcome == Picker::Outcome::kOpen) outcome = picker.press(key);
    }
  }
  if (write_all(STDOUT_FILENO, region.remove()) != 0) return std::nullopt;
  if (outcome != Picker::Outcome::kChosen) return std::nullopt;
  return picker.chosen()->value;
}

}  // namespace praxis::tui
