// What observers see. Every event is a projection of a durable record, except deltas and hook failures, which
// are transient. `docs/events.md` lists each with its moment, payload and the names other designs use.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/core/report.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// Which session of the agent tree an event comes from.
struct AgentMeta {
  SessionId id;
  std::uint32_t depth = 0;
  SessionId parent;  ///< empty for a root
};

// ---- turns and steps
struct TurnBegan {};   ///< `turn.started`
struct MessageAdded {  ///< `message.added`
  MessagePtr message;
  MessageSource source = MessageSource::kUser;
};
struct StepBegan {};      ///< `step.started`
struct StepCompleted {};  ///< `step.completed`
struct TurnCompleted {
  AgentResult result;
};  ///< `turn.completed`
struct TurnFailed {
  AgentResult result;
};  ///< `turn.failed`
struct TurnCancelled {
  AgentResult result;
};  ///< `turn.cancelled`

// ---- the model
struct ModelRequested {  ///< `model.requested`
  std::string model;
  /// `summary` when it is to shorten the conversation, that of a consultation, empty: to answer.
  std::string purpose;
};
struct TextDelta {
  std::string text;
};  ///< `text.delta`, transient
struct ReasoningDelta {  ///< `reasoning.delta`, transient
  std::string text;
  bool summary = false;
};
struct ToolCallDelta {  ///< `tool_call.delta`, transient: a call is being written
  std::string name;     ///< set in the first delta of a call only
  std::string arguments;
};
struct AssistantText {
  std::string text;
};  ///< `assistant.text`: a whole part
struct AssistantReasoning {
  std::string text;
};  ///< `assistant.reasoning`: a whole part
struct ModelResponded {  ///< `model.responded`
  std::string model;
  FinishReason finish = FinishReason::kStop;
  Usage usage;
  std::string purpose;  ///< as in `ModelRequested`
};
struct ModelFailed {
  Error error;
};  ///< `model.failed`: an attempt; another may follow
struct AttemptSuperseded {};  ///< `attempt.superseded`: forget the deltas of the attempt before

// ---- tools
struct ToolCalled {  ///< `tool.called`: the model or plan asked for it
  CallId call;
  std::string name, arguments;
};
struct ToolCallStarted {  ///< `tool.started`
  CallId call;
  std::string name;
};
struct ToolCompleted {  ///< `tool.completed`
  CallId call;
  std::string name;
  std::string text;
  Millis duration{0};
};
struct ToolFailed {  ///< `tool.failed`
  CallId call;
  std::string name;
  Outcome outcome = Outcome::kError;
  Error error;
  Millis duration{0};
};
struct ToolTimedOut {  ///< `tool.timed_out`
  CallId call;
  std::string name;
  Millis duration{0};
};

// ---- sub-agents; their own events follow, with their `AgentMeta`
struct ChildBegan {  ///< `child.spawned`
  SessionId child;
  std::string name;  ///< its agent's id
  CallId call;       ///< whose handler made it
};
struct ChildEnded {  ///< `child.settled`: a turn of it has ended
  SessionId child;
  StopReason reason = StopReason::kFinished;
  Usage usage;  ///< of it and all below it, since it was made
};

// ---- people and the rest
struct StepParked {
  ParkedStep step;
};  ///< `step.parked`
struct StepDecided {
  Decided decision;
};  ///< `step.decided`
struct SessionPaused {
  std::string reason;
};  ///< `session.paused`
struct SessionUnpaused {};   ///< `session.unpaused`
struct SessionRecovered {};  ///< `session.recovered`: a new process took over
struct SessionIntervened {
  Intervened intervention;
};  ///< `session.intervened`: steer, enqueue, annotate, ...
struct HistoryCut {  ///< `history.cut`: the model sees less of the conversation from here on
  std::string cause;
  std::string summary;  ///< what it sees instead; empty: nothing
};
struct PrefixBroken {  ///< `prefix.broken`: a request does not extend the bytes of the one before
  PrefixBreak prefix;
};
struct HookFailed {
  std::string hook, message;
};  ///< `hook.failed`, transient
struct CustomEvent {  ///< a name and payload of the host's own, transient
  std::string name;
  Json payload;
};

using EventBody =
    std::variant<TurnBegan, MessageAdded, StepBegan, StepCompleted, TurnCompleted, TurnFailed, TurnCancelled,
                 ModelRequested, TextDelta, ReasoningDelta, ToolCallDelta, AssistantText, AssistantReasoning,
                 ModelResponded, ModelFailed, AttemptSuperseded, ToolCalled, ToolCallStarted, ToolCompleted,
                 ToolFailed, ToolTimedOut, ChildBegan, ChildEnded, StepParked, StepDecided, SessionPaused,
                 SessionUnpaused, SessionRecovered, SessionIntervened, HistoryCut, PrefixBroken, HookFailed,
                 CustomEvent>;
/// A set of kinds of events, each by its place in `EventBody`.
using EventKinds = std::bitset<std::variant_size_v<EventBody>>;

/// One event. Events of a session are ordered; `seq` is that of the record behind it, or of the last record
/// before a transient event.
struct Event {
  AgentMeta agent;
  std::uint64_t seq = 0;
  TurnId turn;
  std::uint32_t step = 0;
  std::uint32_t attempt = 1;
  UnixMillis time;
  EventBody body;
};

/// The event's name: `turn.started`, `text.delta`, ...
std::string_view event_name(const EventBody& body);
/// Deltas: transient pieces of what a later event carries whole.
bool is_delta(const EventBody& body);
/// `{event, session, depth, parent?, seq, turn, step, attempt?, time, ...payload}`.
Json to_json(const Event& event);

/// The events of one record, as far as they are wanted; `after` is the state with the record applied.
std::vector<Event> project(const Record& record, const State& after,
                           const EventKinds& wanted = EventKinds().set());

/// Called in order, on the session's strand: return soon and do not wait for the same session.
using EventHandler = std::function<void(const Event&)>;
/// Whether `pattern` selects an event: its name, a prefix ending in `*`, `parts` (all but deltas), `deltas`.
bool selects(std::string_view pattern, const EventBody& body);
/// The kinds that `pattern` selects, without those named by their host.
EventKinds kinds_of(std::string_view pattern);

/// `std::visit` with a set of lambdas.
template <class... Fs>
struct match : Fs... {  // NOLINT(readability-identifier-naming): used like a keyword
  using Fs::operator()...;
};
template <class... Fs>
match(Fs...) -> match<Fs...>;

}  // namespace praxis
