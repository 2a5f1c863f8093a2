// The agent loop as two pure functions: `next` decides, `derive` returns the records of that decision. The
// driver performs the effects that the records intend; a replay compares the records with the log.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "praxis/core/planner.hpp"
#include "praxis/core/state.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// No turn is in progress, and no message is queued or the session is paused.
struct Idle {};
/// Nothing to do until an effect settles or a command arrives.
struct Wait {};
/// Starts a turn with a queued message.
struct BeginTurn {
  std::string text;
};
struct CallModel {
  std::uint32_t attempt = 1;
  Millis delay{0};     ///< backoff before the attempt
  RequestPatch patch;  ///< set by the driver's hooks
  /// A side query of a planner instead of the conversation.
  std::optional<Consultation> consult = std::nullopt;
  /// From here on, no tool is held to its schema.
  bool non_strict = false;
};
/// Starts these calls (indexes into `TurnState::calls`). Those still `kProposed` must be reviewed first.
struct RunCalls {
  std::vector<std::size_t> calls;
};
/// Parks call `call`, which may or may not have run, or needs an access that only a user can grant.
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
/// Asks the model to summarise the messages before a position in the conversation.
struct Summarise {
  SummaryTask task;
  std::uint32_t attempt = 1;
  Millis delay{0};
};
struct Compact {
  std::size_t keep_from = 0;
  std::string cause;
  /// Replaces the messages before `keep_from`; empty: they are dropped.
  std::string summary = {};
};
/// Adds a message to the conversation.
struct Say {
  Message message;
  MessageSource source = MessageSource::kRuntime;
  NoteReason reason = NoteReason::kNone;
};
struct Finish {
  StopReason reason = StopReason::kFinished;
  std::string text;
  std::optional<Error> error;
};
using Decision = std::variant<Idle, Wait, BeginTurn, CallModel, RunCalls, AskAboutCall, StartTimer, Park,
                              Summarise, Compact, Say, Finish>;

/// Decides what a session in this state does next.
Decision next(const State& state, const Planner& planner);
/// Returns the records of a decision, to be applied and made durable before any effect in them starts. Empty
/// for `Idle` and `Wait`. Treats every call in a `RunCalls` as allowed.
std::vector<RecordBody> derive(const State& state, const Decision& decision);

/// Returns the trace context of an attempt of an effect: a span within the session's.
TraceContext effect_trace(const State& state, const EffectId& effect, std::uint32_t attempt);
/// Whether the calls that wait to start are more than the limit on tool calls leaves: none of them starts.
bool exceeds_call_limit(const State& state);
/// Whether `call` is never started (again): the turn in progress only waits for what runs already.
bool never_starts(const State& state, const CallState& call);

/// Returns the record that parks a call for approval.
RecordBody park_call(const State& state, const CallState& call, std::string reason);

/// The content of a model request, without the tools.
struct ModelQuestion {
  std::string instructions;
  ModelOptions options;
  History history;
  bool non_strict = false;                             ///< as in `EffectIntended`
  std::optional<std::vector<std::string>> tools = {};  ///< as in `RequestPatch`
  std::string model = {};                              ///< likewise
};
/// Returns the content of the model request that `intent` begins, given the state after `intent`.
ModelQuestion question_of(const State& state, const records::EffectIntended& intent);

}  // namespace praxis
#pragma GCC visibility pop
