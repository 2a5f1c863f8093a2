// What a session remembers of its model requests: how far its estimates are off, and whether the next request
// still extends the bytes of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "praxis/core/state.hpp"

namespace praxis {

/// Estimated tokens of instructions and tools, which go with every request.
std::int64_t overhead_of(const AgentSpec& agent);
/// What `State::correction` is before the vendor has counted anything.
std::int64_t prior_correction(const AgentSpec& agent);
/// A model is about to be asked for the next step.
void note_request(State& state, const EffectIntended& r);
/// Learns from a vendor's count how far the estimate is off. A server may count less than it was sent because
/// it has seen the rest before, so the estimate is never trusted to be far too high.
void learn_correction(State& state, const Usage& usage);
/// The history, of `before` messages, lost some at its front, which moves the places where turns began.
void history_shrank(State& state, std::size_t before, std::string cause);

}  // namespace praxis
