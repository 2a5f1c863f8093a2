#include "driver/expiry.hpp"

namespace praxis {

std::vector<records::Decided> overdue(const State& state, UnixMillis now) {
  std::vector<records::Decided> late;
  for (const auto& [id, step] : state.parked) {
    if (step.expires.value != 0 && step.expires <= now)
      late.push_back({id, step.call, ApprovalVerb::kReject, {}, {"expiry", Surface::kRuntime}});
  }
  return late;
}

}  // namespace praxis
