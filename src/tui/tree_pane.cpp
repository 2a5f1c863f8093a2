#include "tui/tree_pane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "app/plain_text.hpp"
#include "base/columns.hpp"
#include "base/trimmed.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostOfName = 60;       ///< columns of an agent in a question
constexpr std::size_t kMostForAgent = 16384;  ///< bytes of a text for an agent

/// Puts words on lines, as many on each as fit.
std::vector<std::string> on_lines(const std::vector<std::string>& words, std::size_t columns) {
  std::vector<std::string> lines(1);
  for (const std::string& word : words) {
    const bool fits = lines.back().size() + word.size() + 2 <= columns;
    if (!lines.back().empty()) lines.back() += ',';
    if (!fits && !lines.back().empty()) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  for (std::string& line : lines) line = cut_to(line, columns);
  return lines;
}

/// Begins with the agent; those of one name differ in the end of the id.
std::string question_of(CommandVerb verb, std::string_view name, std::string_view id, std::size_t columns) {
  constexpr std::size_t kMostOfId = 4;
  const std::string what = verb == CommandVerb::kSteer      ? "what at its next step?"
                           : verb == CommandVerb::kAnnotate ? "which note?"
                                                            : "stop it and all below?";
  const std::string rest =
      fmt::format(" {}: {}", id.substr(id.size() - std::min(id.size(), kMostOfId)), what);
  return cut_to(name, columns > rest.size() ? columns - rest.size() : 1) + rest;
}

}  // namespace

void TreePane::update(std::vector<AgentNode> nodes, std::vector<TreeLine> lines) {
  const SessionId id = marked() == nullptr ? SessionId() : marked()->id;
  lines_ = std::move(lines);
  std::map<SessionId, AgentNode> by_id;
  for (AgentNode& node : nodes) by_id.try_emplace(node.id, std::move(node));
  nodes_.clear();
  for (const TreeLine& line : lines_) {
    if (!line.is_node) continue;
    if (auto drawn = by_id.extract(line.id)) nodes_.push_back(std::move(drawn.mapped()));
  }
  const auto same = std::ranges::find(nodes_, id, &AgentNode::id);
  if (same != nodes_.end()) {
    mark_ = static_cast<std::size_t>(same - nodes_.begin());
    return;
  }
  follows_ = false;
  fell_ = !id.empty() && !nodes_.empty();
  mark_ = nodes_.empty() ? 0 : std::min(mark_, nodes_.size() - 1);
}

const AgentNode* TreePane::marked() const { return mark_ < nodes_.size() ? &nodes_[mark_] : nullptr; }

TreePane::Outcome TreePane::press(const Key& key) {
  hint_.clear();
  if (question_) return press_in_question(key);
  const bool means_agent = key.kind == KeyKind::kText || key.kind == KeyKind::kEnter;
  if (std::exchange(fell_, false) && means_agent) {
    hint_ = "the marked agent has ended";
    return Outcome::kOpen;
  }
  switch (key.kind) {
    case KeyKind::kEscape:
      if (!follows_) return Outcome::kClosed;
      follows_ = false;
      return Outcome::kOpen;
    case KeyKind::kTab:
      return Outcome::kKeysBack;
    case KeyKind::kText:
      return press_on_agent(key.text);
    default:
      return press_in_list(key);
  }
}

TreePane::Outcome TreePane::press_in_list(const Key& key) {
  if (key.kind == KeyKind::kUp || key.kind == KeyKind::kDown) move(key.kind == KeyKind::kDown);
  if (key.kind != KeyKind::kEnter || follows_ || marked() == nullptr) return Outcome::kOpen;
  follows_ = true;
  place_ = {};
  return Outcome::kFollow;
}

/// To the next agent, or through the conversation.
void TreePane::move(bool down) {
  if (follows_) {
    if (!down) ++place_.above;  // to the first row: the next frame
    if (down && place_.above > 0) --place_.above;
    return;
  }
  if (down && mark_ + 1 < nodes_.size()) ++mark_;
  if (!down && mark_ > 0) --mark_;
}

TreePane::Outcome TreePane::press_on_agent(const std::string& letter) {
  if (marked() == nullptr) return Outcome::kOpen;
  if (letter == "s") return ask(CommandVerb::kSteer);
  if (letter == "n") return ask(CommandVerb::kAnnotate);
  if (letter == "x") return ask(CommandVerb::kInterrupt);
  if (letter != "p") return Outcome::kOpen;
  return wish(marked()->paused ? CommandVerb::kUnpause : CommandVerb::kPause);
}

TreePane::Outcome TreePane::ask(CommandVerb verb) {
  question_ = Wish{marked()->id, verb};
  asked_about_ = app::one_line(marked()->agent, kMostOfName);
  typed_.clear();
  return Outcome::kOpen;
}

TreePane::Outcome TreePane::wish(CommandVerb verb, std::string text) {
  wish_ = {marked()->id, verb, std::move(text)};
  return Outcome::kCommand;
}

/// The agent is that for which the question was asked, also if it is not in the list any more.
TreePane::Outcome TreePane::press_in_question(const Key& key) {
  if (question_->verb == CommandVerb::kInterrupt) {
    wish_ = *std::exchange(question_, std::nullopt);
    return key == Key{KeyKind::kText, "y"} ? Outcome::kCommand : Outcome::kOpen;
  }
  if (key.kind == KeyKind::kEscape) {
    question_.reset();
  } else if (key.kind == KeyKind::kEnter) {
    return send_typed();
  } else if (typed_.text().size() + key.text.size() <= kMostForAgent) {
    typed_.press(key);
  } else {
    hint_ = fmt::format("at most {} KiB: it was left out", kMostForAgent >> 10U);
  }
  return Outcome::kOpen;
}

TreePane::Outcome TreePane::send_typed() {
  std::string text(trimmed(typed_.text()));
  if (text.empty()) {
    hint_ = "there is no text yet";
    return Outcome::kOpen;
  }
  wish_ = *std::exchange(question_, std::nullopt);
  wish_.text = std::move(text);
  return Outcome::kCommand;
}

std::vector<std::string> TreePane::lines(std::size_t columns, std::size_t rows, const Styles& styles,
                                         bool has_keys, const FollowedAgent* followed) {
  std::vector<std::string> last = last_lines(columns, styles, has_keys);
  const std::size_t room = rows > last.size() + 1 ? rows - last.size() : 1;
  std::vector<std::string> all;
  if (follows_ && followed != nullptr) {
    const auto own = std::ranges::find_if(
        lines_, [&](const TreeLine& line) { return line.is_node && line.id == followed->id(); });
    all.push_back(styles.warning(cut_to(own == lines_.end() ? "" : own->text, columns)));
    std::ranges::move(followed->lines(columns, room > 1 ? room - 1 : 1, place_), std::back_inserter(all));
  } else {
    all = list_lines(columns, room, styles);
  }
  std::ranges::move(last, std::back_inserter(all));
  return all;
}

/// The agents around the marked one; of the others no details if there is no room. How a step is decided
/// stands at its card.
std::vector<std::string> TreePane::list_lines(std::size_t columns, std::size_t rows,
                                              const Styles& styles) const {
  if (nodes_.empty()) return {styles.dim("no agent is active")};
  const std::size_t wide = columns > 2 ? columns - 2 : 1;
  const bool fits = std::cmp_less_equal(std::ranges::count(lines_, false, &TreeLine::is_typed), rows);
  std::vector<std::string> all;
  std::size_t at = 0;
  for (const TreeLine& line : lines_) {
    const bool is_own = line.id == nodes_[mark_].id, is_marked = is_own && line.is_node;
    if (line.is_typed || !(fits || is_own || line.is_node)) continue;
    if (is_marked) at = all.size();
    const std::string text = cut_to(line.text, wide);
    all.push_back(is_marked      ? styles.bold("> " + text)
                  : line.is_node ? "  " + text
                                 : styles.dim("  " + text));
  }
  const std::size_t first = at >= rows ? at - rows + 1 : 0;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  if (all.size() > rows) all.resize(rows);
  return all;
}

/// What the keys do, or the question with its answer so far.
std::vector<std::string> TreePane::last_lines(std::size_t columns, const Styles& styles,
                                              bool has_keys) const {
  constexpr std::size_t kMostTypedRows = 3;
  std::vector<std::string> words{has_keys ? "Tab types" : "Ctrl-T marks one of them"};
  std::vector<std::string> all;
  if (!hint_.empty()) all.push_back(styles.warning(cut_to(hint_, columns)));
  if (question_) {
    const bool stops = question_->verb == CommandVerb::kInterrupt;
    all.push_back(styles.warning(
        cut_to(question_of(question_->verb, asked_about_, question_->agent.str(), columns), columns)));
    if (stops) {
      all.push_back(styles.dim(cut_to("y stops it, any other key does not", columns)));
    } else {
      std::ranges::move(typed_.rows(columns, kMostTypedRows, "\x1b[7m", "\x1b[27m"), std::back_inserter(all));
      all.push_back(styles.dim(cut_to("Enter sends, Esc leaves it", columns)));
    }
    return all;
  }
  if (has_keys) {
    const bool is_paused = marked() != nullptr && marked()->paused;
    const std::string enter = follows_ ? "Up/Down scroll" : "Enter follows";
    words = {enter,     "s steers",  "n notes",   is_paused ? "p continues" : "p pauses",
             "x stops", "Tab types", "Esc leaves"};
  }
  for (const std::string& line : on_lines(words, columns)) all.push_back(styles.dim(line));
  return all;
}

}  // namespace praxis::tui
