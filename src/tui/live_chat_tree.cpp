// The pane with the agents of the run.
#include <algorithm>
#include <string_view>
#include <utility>

#include "tui/live_chat.hpp"

namespace praxis::tui {

/// Ctrl-T: opens the pane, gives it the keys again, or closes it.
void LiveChat::toggle_tree() {
  if (tree_ && tree_keys_) return close_tree();
  if (focused_) focus(false);
  completing_.reset();
  if (!tree_) tree_.emplace();
  tree_keys_ = true;
  follow_tree();
}

void LiveChat::close_tree() {
  tree_.reset();
  tree_keys_ = false;
  conversation_.unfollow_agent();
}

/// Takes the agents as they are now.
void LiveChat::follow_tree() {
  auto nodes = conversation_.agents(Patience::kNone);
  auto lines = conversation_.drawn(nodes, columns());
  tree_->update(std::move(nodes), std::move(lines));
  // Another run was opened, or the agent is gone.
  if (conversation_.followed() == nullptr) tree_->stop_following();
  if (!tree_->follows()) conversation_.unfollow_agent();
}

/// A key means the agents as the last frame showed them.
void LiveChat::press_on_tree(const Key& key) {
  constexpr std::string_view kEverywhere = "ctlz";
  if (key.kind == KeyKind::kControl && kEverywhere.contains(key.text.front())) {
    press_control(key);
    return;
  }
  using Outcome = TreePane::Outcome;
  switch (tree_->press(key)) {
    case Outcome::kClosed:
      return close_tree();
    case Outcome::kKeysBack:
      tree_keys_ = false;
      if (card() != nullptr) focus(true);
      return;
    case Outcome::kFollow:
      if (const Status shown = conversation_.follow_agent(tree_->marked()->id); !shown) {
        tree_->stop_following();
        print(conversation_.failure(shown.error()));
      }
      return;
    case Outcome::kCommand: {
      const TreePane::Wish& wish = tree_->command();
      return print(conversation_.command_agent(wish.agent, wish.verb, wish.text));
    }
    case Outcome::kOpen:
      return;
  }
}

/// In what the screen has left below `used` rows; the composer and the status line keep theirs.
std::vector<std::string> LiveChat::tree_lines_below(std::size_t used) {
  constexpr std::size_t kKept = 4;
  const std::size_t room = size_.rows > used + kKept ? size_.rows - used - kKept : 1;
  const std::size_t part = tree_keys_ ? size_.rows * 2 / 3 : size_.rows / 2;
  follow_tree();
  return tree_->lines(columns(), std::min(room, part), styles_, tree_keys_, conversation_.followed());
}

}  // namespace praxis::tui
