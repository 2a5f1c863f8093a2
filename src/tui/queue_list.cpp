#include "tui/queue_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "base/columns.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostListed = 16;

QueueList::Outcome outcome_of(const std::string& letter) {
  using Outcome = QueueList::Outcome;
  if (letter == "e") return Outcome::kEdit;
  if (letter == "u") return Outcome::kUp;
  if (letter == "d") return Outcome::kDown;
  return letter == "x" ? Outcome::kWithdraw : Outcome::kOpen;
}

}  // namespace

std::string waiting_line(const WaitingMessage& message, std::size_t columns) {
  const std::string_view when = message.verb == CommandVerb::kEnqueue  ? "queued"
                                : message.verb == CommandVerb::kModify ? "new task"
                                                                       : "next step";
  const std::string before = fmt::format("#{} {}: ", message.id, when);
  return cut_to(before + app::one_line(message.text, columns), columns);
}

void QueueList::follow(std::vector<WaitingMessage> waiting) {
  const std::uint64_t id = marked() == nullptr ? 0 : marked()->id;
  waiting_ = std::move(waiting);
  const auto same = std::ranges::find(waiting_, id, &WaitingMessage::id);
  if (same != waiting_.end()) {
    mark_ = static_cast<std::size_t>(same - waiting_.begin());
  } else if (!waiting_.empty()) {
    mark_ = std::min(mark_, waiting_.size() - 1);
  }
}

QueueList::Outcome QueueList::press(const Key& key) {
  switch (key.kind) {
    case KeyKind::kEscape:
      return Outcome::kLeft;
    case KeyKind::kEnter:
      return Outcome::kEdit;
    case KeyKind::kAltUp:
      return Outcome::kUp;
    case KeyKind::kAltDown:
      return Outcome::kDown;
    case KeyKind::kDelete:
    case KeyKind::kBackspace:
      return Outcome::kWithdraw;
    case KeyKind::kUp:
      if (mark_ > 0) --mark_;
      return Outcome::kOpen;
    case KeyKind::kDown:
      if (mark_ + 1 < waiting_.size()) ++mark_;
      return Outcome::kOpen;
    case KeyKind::kText:
      return outcome_of(key.text);
    case KeyKind::kControl:
      return key.text == "c" || key.text == "d" ? Outcome::kLeft : Outcome::kOpen;
    default:
      return Outcome::kOpen;
  }
}

std::vector<std::string> QueueList::lines(std::size_t columns, std::size_t rows, const Styles& styles) const {
  std::vector<std::string> lines;
  lines.push_back(styles.warning(cut_to(fmt::format("Messages that wait  ({})", waiting_.size()), columns)));
  const std::size_t room = std::min(rows > 3 ? rows - 2 : 1, kMostListed);
  const std::size_t first = mark_ >= room ? mark_ - room + 1 : 0;
  const std::size_t wide = columns > 2 ? columns - 2 : 1;
  for (std::size_t i = first; i < std::min(waiting_.size(), first + room); ++i) {
    const std::string line = waiting_line(waiting_[i], wide);
    lines.push_back(i == mark_ ? styles.bold("> " + line) : "  " + line);
  }
  lines.push_back(styles.dim(cut_to("Enter edits, u/d move, x withdraws, Esc", columns)));
  return lines;
}

}  // namespace praxis::tui
