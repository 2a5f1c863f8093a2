// Tracks a session's model requests: the error of its estimates, and whether the next request still extends
// the bytes of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "praxis/core/state.hpp"

namespace praxis {

/// Returns the estimated tokens of instructions and tools, which are part of every request.
std::int64_t overhead_of(const AgentSpec& agent);
/// Returns the digests of the parts of a request that follow from the description: `settings` and `tools`.
RequestDigest described_by(const AgentSpec& agent);
/// Returns the initial `State::correction`, before the vendor has counted a request.
std::int64_t prior_correction(const AgentSpec& agent);
/// Called when the model is about to be called for the next step.
void note_request(State& state, const records::EffectIntended& r);
/// Corrects the estimate by a vendor's count. A server may count less than it was sent because it has cached
/// the rest, so the correction downwards is limited.
void learn_correction(State& state, const Usage& usage);
/// Called when a history of `before` messages lost some at its front; adjusts the start positions of turns.
void history_shrank(State& state, std::size_t before, std::string cause);

}  // namespace praxis
