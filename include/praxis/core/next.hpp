// The agent loop as two pure functions: `next` decides, `derive` says which records that decision amounts to.
// The driver performs the effects that the records intend; a replay compares them with those it finds.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "praxis/core/planner.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// No turn is in progress, and none is queued or the session is paused.
struct Idle {};
/// Nothing to do until an effect settles or somebody acts.
struct Wait {};
/// A queued message becomes a turn.
struct BeginTurn {
  std::string text;
};
struct CallModel {
  std::uint32_t attempt = 1;
  Millis delay{0};                                     ///< back off this long first
  RequestPatch patch;                                  ///< filled in by the driver's hooks
  std::optional<Consultation> consult = std::nullopt;  ///< a planner asks, not the conversation
  bool non_strict = false;                             ///< from here on, no tool is held to its schema
};
/// Start these calls (indexes into `TurnState::calls`). Those still `kProposed` need a verdict first.
struct RunCalls {
  std::vector<std::size_t> calls;
};
/// Call `call` may or may not have run, or needs access that only a person can give.
struct AskAboutCall {
  std::size_t call = 0;
};
struct StartTimer {
  Millis delay{0};
  std::uint32_t attempt = 1;
};
struct Park {
  std::string prompt;
};
/// Have the model summarise what stands before a place in the conversation.
struct Summarise {
  SummaryTask task;
  std::uint32_t attempt = 1;
  Millis delay{0};
};
struct Compact {
  std::size_t keep_from = 0;
  std::string cause;
  std::string summary = {};  ///< empty: what stands before is forgotten
};
/// Put a message into the conversation.
struct Say {
  Message message;
  MessageSource source = MessageSource::kRuntime;
};
struct Finish {
  StopReason reason = StopReason::kFinished;
  std::string text;
  std::optional<Error> error;
};
using Decision = std::variant<Idle, Wait, BeginTurn, CallModel, RunCalls, AskAboutCall, StartTimer, Park,
                              Summarise, Compact, Say, Finish>;

/// What a session in this state does next.
Decision next(const State& state, const Planner& planner);
/// The records of a decision, to be applied and made durable before anything they intend is done. Empty for
/// `Idle` and `Wait`. Every call in a `RunCalls` is taken as allowed.
std::vector<RecordBody> derive(const State& state, const Decision& decision);

/// The record that parks a call for approval.
RecordBody park_call(const State& state, const CallState& call, std::string reason);

/// What a model is asked, apart from the tools.
struct ModelQuestion {
  std::string instructions;
  ModelOptions options;
  History history;
  bool non_strict = false;  ///< as in `EffectIntended`
};
/// What the model call that `intent` begins is about, when the state is that after `intent`.
ModelQuestion question_of(const State& state, const EffectIntended& intent);

}  // namespace praxis
