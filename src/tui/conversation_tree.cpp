// The agents below the run of a chat.
#include "base/columns.hpp"
#include "tui/conversation.hpp"
#include "tui/tree_text.hpp"

namespace praxis::tui {

std::vector<TreeLine> Conversation::drawn(const std::vector<AgentNode>& nodes, std::size_t columns) const {
  return tree_lines(nodes, setup_.workspace, now(), columns);
}

std::vector<std::string> Conversation::tree(std::size_t columns) const {
  std::vector<std::string> lines;
  for (const TreeLine& line : drawn(agents(Patience::kSome), columns)) {
    const std::string cut = line.is_typed ? line.text : cut_to(line.text, columns);
    lines.push_back(line.is_node ? cut : styles_.dim(cut));
  }
  return lines;
}

Status Conversation::follow_agent(const SessionId& agent) {
  followed_.emplace(agent);
  const Status shown = run_->show_past_of(agent, [&](const Event& event) { followed_->show_past(event); });
  if (!shown) followed_.reset();
  return shown;
}

std::string Conversation::command_agent(const SessionId& agent, CommandVerb verb, const std::string& text) {
  const Status done = run_->command(agent, {{verb, text}});
  return done ? "" : failure(done.error());
}

}  // namespace praxis::tui
