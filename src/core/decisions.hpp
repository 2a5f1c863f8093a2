// Decisions that several rules share.
#pragma once

#include <string>
#include <string_view>

#include "praxis/core/next.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// Ends the turn because a limit was reached: error `kLimit`.
inline Finish limit_reached(StopReason reason, std::string what) {
  return {reason, {}, make_error(ErrorCode::kLimit, std::move(what))};
}

/// Adds a message of the runtime for the model.
inline Say runtime_note(std::string_view text, NoteReason reason = NoteReason::kNone) {
  return {text_message(Role::kUser, "Note from the runtime: " + std::string(text)), MessageSource::kRuntime,
          reason};
}

/// Whether a call could start, but the calls that run take all places (`Limits::max_parallel_tools`). It
/// starts once one of them ends. Defined in next.cpp.
bool lacks_a_place(const State& state, const CallState& call);

}  // namespace praxis
