// What observers see. Every event is a projection of a durable record, except deltas and hook failures, which
// are transient. `docs/events.md` lists each event with its time, its payload and its names in other designs.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/core/report.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The session of the agent tree that an event comes from.
struct AgentMeta {
  SessionId id;
  std::uint32_t depth = 0;
  SessionId parent;  ///< empty for a root
};

/// The kinds of events, named as on the wire.
namespace events {

// ---- turns and steps
/// `turn.started`
struct TurnStarted {};
/// `message.added`
struct MessageAdded {
  MessagePtr message;
  MessageSource source = MessageSource::kUser;
};
/// `step.started`
struct StepStarted {};
/// `step.completed`
struct StepCompleted {};
/// `turn.completed`
struct TurnCompleted {
  AgentResult result;
};
/// `turn.failed`
struct TurnFailed {
  AgentResult result;
};
/// `turn.timed_out`
struct TurnTimedOut {
  AgentResult result;
};
/// `turn.cancelled`
struct TurnCancelled {
  AgentResult result;
};

// ---- the model
/// `model.requested`
struct ModelRequested {
  std::string model;
  /// `summary` for a summary, the purpose of a side query, or empty for an answer.
  std::string purpose;
};
/// `text.delta`, transient
struct TextDelta {
  std::string text;
};
/// `reasoning.delta`, transient
struct ReasoningDelta {
  std::string text;
  bool summary = false;
};
/// `tool_call.delta`, transient: a piece of a call that the model is writing
struct ToolCallDelta {
  std::string name;  ///< only in the first delta of a call
  std::string arguments;
};
/// `assistant.text`: a complete part
struct AssistantText {
  std::string text;
};
/// `assistant.reasoning`: a complete part
struct AssistantReasoning {
  std::string text;
};
/// `model.responded`
struct ModelResponded {
  std::string model;
  FinishReason finish = FinishReason::kStop;
  Usage usage;
  std::string purpose;  ///< as in `ModelRequested`
};
/// `model.failed`: one attempt failed; another may follow
struct ModelFailed {
  Error error;
};
/// `attempt.superseded`: discard the deltas of the previous attempt
struct AttemptSuperseded {};

// ---- tools
/// `tool.called`: the model or plan called it
struct ToolCalled {
  CallId call;
  std::string name, arguments;
};
/// `tool.started`
struct ToolStarted {
  CallId call;
  std::string name;
};
/// `tool.progress`, transient: what the handler of a running call reports
struct ToolProgress {
  CallId call;
  std::string name;
  std::string text;
  std::optional<double> fraction;  ///< the part that is done, from 0 to 1
};
/// `tool.completed`
struct ToolCompleted {
  CallId call;
  std::string name;
  std::string text;
  Millis duration{0};
};
/// `tool.failed`
struct ToolFailed {
  CallId call;
  std::string name;
  Outcome outcome = Outcome::kError;
  Error error;
  Millis duration{0};
};
/// `tool.timed_out`
struct ToolTimedOut {
  CallId call;
  std::string name;
  Millis duration{0};
};

// ---- sub-agents; their own events follow, with their `AgentMeta`
/// `child.spawned`
struct ChildSpawned {
  SessionId child;
  std::string name;  ///< its agent's id
  /// The call whose handler created it.
  CallId call;
};
/// `child.settled`: one of its turns has ended
struct ChildSettled {
  SessionId child;
  StopReason reason = StopReason::kFinished;
  /// Of the child and all below it, since its creation.
  Usage usage;
};

// ---- approvals and the rest
/// `step.parked`
struct StepParked {
  ParkedStep step;
};
/// `step.decided`
struct StepDecided {
  records::Decided decision;
};
/// `session.paused`
struct SessionPaused {
  std::string reason;
};
/// `session.unpaused`
struct SessionUnpaused {};
/// `session.recovered`: a new process took over
struct SessionRecovered {};
/// `session.intervened`: steer, enqueue, annotate, ...
struct SessionIntervened {
  records::Intervened intervention;
};
/// `history.cut`: from here on the model sees less of the conversation
struct HistoryCut {
  std::string cause;
  std::string summary;  ///< what it sees instead; empty: nothing
};
/// `prefix.broken`: a request does not extend the bytes of the previous one
struct PrefixBroken {
  PrefixBreak prefix;
};
/// `hook.failed`, transient
struct HookFailed {
  std::string hook, message;
};
/// A name and payload defined by the host, transient
struct Custom {
  std::string name;
  Json payload;
};

}  // namespace events

using EventBody =
    std::variant<events::TurnStarted, events::MessageAdded, events::StepStarted, events::StepCompleted,
                 events::TurnCompleted, events::TurnFailed, events::TurnTimedOut, events::TurnCancelled,
                 events::ModelRequested, events::TextDelta, events::ReasoningDelta, events::ToolCallDelta,
                 events::AssistantText, events::AssistantReasoning, events::ModelResponded,
                 events::ModelFailed, events::AttemptSuperseded, events::ToolCalled, events::ToolStarted,
                 events::ToolProgress, events::ToolCompleted, events::ToolFailed, events::ToolTimedOut,
                 events::ChildSpawned, events::ChildSettled, events::StepParked, events::StepDecided,
                 events::SessionPaused, events::SessionUnpaused, events::SessionRecovered,
                 events::SessionIntervened, events::HistoryCut, events::PrefixBroken, events::HookFailed,
                 events::Custom>;
/// A set of event kinds, each by its index in `EventBody`.
using EventKinds = std::bitset<std::variant_size_v<EventBody>>;

/// One event. Events of a session are ordered; `seq` is that of the event's record, or of the last record
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
/// Whether the event is a delta: a transient piece of what a later event carries completely.
bool is_delta(const EventBody& body);
/// `{event, session, depth, parent?, seq, turn, step, attempt?, time, ...payload}`.
Json to_json(const Event& event);

/// Called in order, on the session's strand: return soon and do not wait for the same session.
using EventHandler = std::function<void(const Event&)>;
/// Whether `pattern` selects an event: its name, a prefix ending in `*`, `parts` (all but deltas), `deltas`.
bool selects(std::string_view pattern, const EventBody& body);
/// The kinds that `pattern` selects, without custom events.
EventKinds kinds_of(std::string_view pattern);

/// `std::visit` with a set of lambdas.
template <class... Fs>
struct match : Fs... {  // NOLINT(readability-identifier-naming): used like a keyword
  using Fs::operator()...;
};
template <class... Fs>
match(Fs...) -> match<Fs...>;

}  // namespace praxis
#pragma GCC visibility pop
