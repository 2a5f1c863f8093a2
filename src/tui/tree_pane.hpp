// The agents of a run as a list in which the user marks one, follows its conversation and gives it commands.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "praxis/domain/command.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "tui/composer.hpp"
#include "tui/followed_agent.hpp"
#include "tui/keys.hpp"
#include "tui/theme.hpp"
#include "tui/tree_text.hpp"

namespace praxis::tui {

class TreePane {
 public:
  enum class Outcome : std::uint8_t {
    kOpen,
    kClosed,    ///< the pane goes away
    kKeysBack,  ///< the pane stays, keys go elsewhere
    kFollow,    ///< the conversation of the marked agent is wanted
    kCommand    ///< `command` is to be carried out
  };
  /// What an agent is to get.
  struct Wish {
    SessionId agent;
    CommandVerb verb = CommandVerb::kAnnotate;
    std::string text = {};
  };

  /// Takes the agents as they are now, with their drawing. The mark stays at its agent; if that is gone, at
  /// its place, and the next key for an agent has no effect, because it was meant for the one that is gone.
  void update(std::vector<AgentNode> nodes, std::vector<TreeLine> lines);
  /// What a key means for the marked agent.
  Outcome press(const Key& key);
  /// Null: no agent is active.
  const AgentNode* marked() const;
  /// What `kCommand` means.
  const Wish& command() const { return wish_; }
  /// Whether the conversation of the marked agent is shown in place of the list.
  bool follows() const { return follows_; }
  void stop_following() { follows_ = false; }

  /// In at most `rows` lines, safe to display. `has_keys`: whether keys go to the pane. `followed`: the
  /// conversation that is shown while `follows`.
  std::vector<std::string> lines(std::size_t columns, std::size_t rows, const Styles& styles, bool has_keys,
                                 const FollowedAgent* followed);

 private:
  Outcome press_in_list(const Key& key);
  Outcome press_on_agent(const std::string& letter);
  Outcome press_in_question(const Key& key);
  Outcome send_typed();
  Outcome ask(CommandVerb verb);
  Outcome wish(CommandVerb verb, std::string text = {});
  void move(bool down);
  std::vector<std::string> list_lines(std::size_t columns, std::size_t rows, const Styles& styles) const;
  std::vector<std::string> last_lines(std::size_t columns, const Styles& styles, bool has_keys) const;

  std::vector<AgentNode> nodes_;  ///< in the order of the drawing
  std::vector<TreeLine> lines_;
  std::size_t mark_ = 0;
  bool follows_ = false;
  bool fell_ = false;             ///< the marked agent is gone, and no key was pressed since
  FollowedAgent::Place place_;    ///< in the conversation
  std::optional<Wish> question_;  ///< waits for its text or, of a stop, for a yes
  std::string asked_about_;       ///< the name of its agent
  Composer typed_;                ///< that text
  std::string hint_;              ///< until the next key
  Wish wish_;
};

}  // namespace praxis::tui
