// What `apply` is made of: how a fact about an effect or a tool call changes a state in which a turn is in
// progress. `time` is that of the record.
#pragma once

#include <string>

#include "praxis/core/state.hpp"

namespace praxis {

// Of use to all (apply.cpp).

/// The error of a record that cannot follow the state.
std::unexpected<Error> against_rules(std::string what);
/// The message as the session's next one.
MessagePtr stamped(State& state, UnixMillis time, Message message);
/// A step of a plan is done: plans find their place by counting results. Nothing happens without a plan.
void note_plan_result(State& state, StepResult result);
/// A model call used as much: counts for the turn and the session.
void charge(State& state, const Usage& usage);

// The model call or timer in progress (apply_effects.cpp).

Status start_effect(State& state, const EffectIntended& r);
Status settle_effect(State& state, UnixMillis time, const EffectSettled& r);
/// A failed effect is not tried again as it is.
void leave_failed_effect(TurnState& turn);

// The batch of tool calls in progress (apply_calls.cpp).

/// The calls that the conversation waits for become the batch.
void propose_calls(State& state);
Status start_call(State& state, const EffectIntended& r);
Status settle_call(State& state, UnixMillis time, CallState& call, const EffectSettled& r);
/// `kind` says what the decision was about.
void decide_call(State& state, UnixMillis time, CallState& call, const Decided& r, ParkKind kind);
/// The turn ends between calls and results: what is known of each call goes into the conversation.
void abandon_calls(State& state, UnixMillis time, StopReason reason);

}  // namespace praxis
