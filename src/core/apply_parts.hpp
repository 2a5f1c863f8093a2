// The parts of `apply`: how a fact about an effect or a tool call changes a state with a turn in progress.
// `time` is the time of the record.
#pragma once

#include <string>

#include "praxis/core/state.hpp"

namespace praxis {

// Shared by all parts (apply.cpp).

/// Returns the error for a record that cannot follow the state.
std::unexpected<Error> against_rules(std::string what);
/// Returns the message with the next id of the session and its time.
MessagePtr stamped(State& state, UnixMillis time, Message message);
/// The same for a message that a caller gave: it keeps its id, unless the conversation has that id already,
/// and its time.
MessagePtr stamped_as_given(State& state, UnixMillis time, Message message);
/// Records that a step of a plan is done: plans find their position by counting results. No-op without a
/// plan.
void note_plan_result(State& state, StepResult result);
/// Adds `usage` to the totals of the turn and the session.
void charge(State& state, const Usage& usage);

// The model call or timer in progress (apply_effects.cpp).

Status start_effect(State& state, UnixMillis time, const records::EffectIntended& r);
Status settle_effect(State& state, UnixMillis time, const records::EffectSettled& r);
/// Marks a failed effect as not to be retried unchanged.
void leave_failed_effect(TurnState& turn);

// The batch of tool calls in progress (apply_calls.cpp).

/// Makes the open calls of the conversation the current batch.
void propose_calls(State& state);
Status start_call(State& state, UnixMillis time, const records::EffectIntended& r);
Status settle_call(State& state, UnixMillis time, const CallState& call, const records::EffectSettled& r);
/// Applies a decision; `kind` is the kind of the parked step that it decides.
void decide_call(State& state, UnixMillis time, const CallState& call, const records::Decided& r,
                 ParkKind kind);
/// Ends the turn between calls and results: adds what is known of each call to the conversation.
void abandon_calls(State& state, UnixMillis time, StopReason reason);

// What rules that count calls need (started_calls.cpp). No-op unless a rule of the agent counts.

void note_started(State& state, UnixMillis time, const CallState& call);
void note_started_below(State& state, UnixMillis time, const records::ChildSettled& r);

}  // namespace praxis
