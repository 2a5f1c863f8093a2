// What observers see. Every event is a projection of a durable record, except deltas and hook failures, which
// are transient. `docs/events.md` lists each event with its time, its payload and its names in other designs.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/variant.hpp"
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
struct TurnStarted {
  AgentSpecPtr config;  ///< the description that the turn begins with
};
/// `message.added`
struct MessageAdded {
  MessagePtr message;
  MessageSource source = MessageSource::kUser;
};
/// `step.started`
struct StepStarted {};
/// `step.completed`
struct StepCompleted {
  MessagePtr message;  ///< the model's or the plan's, with its calls; null for a timer
  Millis duration{0};  ///< since the step started
};
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
  ModelOptions options;  ///< with the changes of a hook
};
/// `text.delta`, transient
struct TextDelta {
  std::string text;
  std::uint32_t item = 0;  ///< number of the part of the answer that this belongs to
};
/// `reasoning.delta`, transient
struct ReasoningDelta {
  std::string text;
  bool summary = false;
  std::uint32_t item = 0;  ///< as in `TextDelta`
};
/// `tool_call.delta`, transient: a piece of a call that the model is writing
struct ToolCallDelta {
  std::string name;  ///< only in the first delta of a call
  std::string arguments;
  CallId call;             ///< the same in all deltas of a call
  std::uint32_t item = 0;  ///< as in `TextDelta`
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
  MessagePtr message;   ///< the answer with its calls, and with its usage
  Millis duration{0};
};
/// `model.failed`: one attempt failed; another may follow
struct ModelFailed {
  Error error;
};
/// `attempt.superseded`: discard the deltas of the previous attempt
struct AttemptSuperseded {};
/// Why a model call waits before it is sent.
enum class WaitReason : std::uint8_t {
  kRetry,      ///< the attempt before it failed
  kRateLimit,  ///< by the headers of its last answers, the server would refuse it now
  kBudget,     ///< other agents of the tree hold what is left of a shared budget
};
std::string_view to_string(WaitReason reason);
/// `model.waiting`: durable before a retry, else transient
struct ModelWaiting {
  WaitReason reason = WaitReason::kRetry;
  /// Before a retry: what failed.
  std::optional<Error> error = std::nullopt;
  std::uint32_t attempts = 0;  ///< most attempts; 0: patience bounds them, or it is no retry
  Millis delay{0};             ///< 0: unknown
  UnixMillis until = {};       ///< 0: unknown
  UnixMillis gives_up = {};    ///< when patience is used up; 0: it does not apply
};

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
  std::string arguments;  ///< as they run, with the changes of hooks and approvers
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
  std::string arguments;
  Json value;                                    ///< the structured form of the result; null: none
  std::shared_ptr<const ToolResultPart> result;  ///< with images and files
};
/// `tool.failed`
struct ToolFailed {
  CallId call;
  std::string name;
  Outcome outcome = Outcome::kError;
  Error error;
  Millis duration{0};
  std::string arguments;
};
/// `tool.timed_out`
struct ToolTimedOut {
  CallId call;
  std::string name;
  Millis duration{0};
  std::string arguments;
  Millis limit{0};
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
/// `agent.status`, transient: what the agent tree shows of a session has changed
struct AgentStatus {
  SessionStatus status = SessionStatus::kIdle;
  bool paused = false;
  std::string content;  ///< the task, as in `AgentNode`
  std::string comment;
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

using AnyEvent =
    std::variant<events::TurnStarted, events::MessageAdded, events::StepStarted, events::StepCompleted,
                 events::TurnCompleted, events::TurnFailed, events::TurnTimedOut, events::TurnCancelled,
                 events::ModelRequested, events::TextDelta, events::ReasoningDelta, events::ToolCallDelta,
                 events::AssistantText, events::AssistantReasoning, events::ModelResponded,
                 events::ModelFailed, events::AttemptSuperseded, events::ModelWaiting, events::ToolCalled,
                 events::ToolStarted, events::ToolProgress, events::ToolCompleted, events::ToolFailed,
                 events::ToolTimedOut, events::ChildSpawned, events::ChildSettled, events::StepParked,
                 events::StepDecided, events::SessionPaused, events::SessionUnpaused,
                 events::SessionRecovered, events::SessionIntervened, events::HistoryCut,
                 events::PrefixBroken, events::AgentStatus, events::HookFailed, events::Custom>;
extern template class Variant<AnyEvent>;
using EventBody = Variant<AnyEvent>;
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
/// Whether the event is the last of its turn.
bool ends_turn(const EventBody& body);
/// `{event, session, depth, parent?, seq, turn, step, attempt?, time, ...payload}`.
Json to_json(const Event& event);

/// Called in order, on the session's strand: return soon and do not wait for the same session.
using EventHandler = std::function<void(const Event&)>;
/// Whether `pattern` selects an event: its name, a prefix ending in `*`, `parts` (all but deltas), `deltas`,
/// or a name of another design (docs/events.md), such as `tool:start`.
bool selects(std::string_view pattern, const EventBody& body);
/// The kinds that `pattern` selects, without custom events.
EventKinds kinds_of(std::string_view pattern);
/// Error `kInput` if no event can ever match `pattern`; names the nearest known name. A program's own events
/// are those that `check_event_name` allows.
Status check_pattern(std::string_view pattern);
/// Error `kInput` if a program cannot give this name to an event of its own: it is empty, belongs to the
/// library
/// (`tool.finished`), or is nearly a name of the library.
Status check_event_name(std::string_view name);

/// `std::visit` with a set of lambdas.
template <class... Fs>
struct match : Fs... {  // NOLINT(readability-identifier-naming): used like a keyword
  using Fs::operator()...;
};
template <class... Fs>
match(Fs...) -> match<Fs...>;

}  // namespace praxis
#pragma GCC visibility pop
