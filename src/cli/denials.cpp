#include "cli/denials.hpp"

#include <fmt/format.h>

namespace praxis::cli {

void Denials::add(const Event& event) {
  if (const auto* called = std::get_if<events::ToolCalled>(&event.body))
    tools_[{event.agent.id, called->call}] = called->name;
  const auto* decided = std::get_if<events::StepDecided>(&event.body);
  if (decided == nullptr || decided->decision.verb != ApprovalVerb::kReject) return;
  const records::Decided& decision = decided->decision;
  const bool by_rule =
      decision.author.surface == Surface::kPolicy || decision.author.surface == Surface::kHook;
  if (!by_rule) return;
  any_ = true;
  if (event.agent.id == root_) return;  // the result of the turn has those
  below_.push_back(fmt::format("{} (in {}): {}", tools_[{event.agent.id, decision.call}],
                               event.agent.id.str(), decision.text));
}

}  // namespace praxis::cli
