// The inputs of a turn driver: everything that happens outside it, as plain values. Time comes in with each
// input; what the shell keeps for the driver (callers that wait, readers of a turn) is named by a token.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "driver/amount.hpp"
#include "driver/call_review.hpp"
#include "praxis/core/event.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::driver {

/// Names a waiting caller, a reader, a timer or a question; 0 names nothing.
using Token = std::uint64_t;
/// Follows a turn: gets its events and its result.
struct Reader {
  Token token = 0;
  bool stays = false;  ///< a turn that waits for people is no result for it
  bool operator==(const Reader&) const = default;
};
using Readers = std::vector<Reader>;

/// The world at the time of an input.
struct Moment {
  UnixMillis wall = {};
  std::chrono::nanoseconds monotonic{0};
  EventKinds wanted = {};   ///< events that at least one observer or reader wants
  std::size_t arrived = 0;  ///< bytes that have arrived of the answer of the model call in progress
  Token approver = 0;       ///< generation of the handler that decides for people here; 0: no handler
  Millis grace{100};        ///< how long an effect may take to stop
  bool closing = false;     ///< the runtime is going away: nothing may be recorded any more
};

/// The place in a session's turns that a hook is asked about.
struct TurnPlace {
  TurnId turn = {};
  std::uint32_t step = 0;
  bool operator==(const TurnPlace&) const = default;
};

/// What the `before_model` hooks want of one model call.
struct ModelAdvice {
  RequestPatch patch = {};
  std::optional<ModelResponse> answer = {};  ///< instead of asking the model
};
/// The reviews of calls, made under the rules of this version.
struct CallReviews {
  std::uint64_t rules = 0;
  std::map<CallId, Review> reviews = {};
};
/// What the `before_turn` hooks made of the description; null: unchanged.
struct TurnAdvice {
  AgentSpecPtr agent;
};

// ---- the journal

/// The append under way is durable up to this record, or failed.
struct Appended {
  Result<std::uint64_t> last;
};
/// All actions before `AwaitActions` are carried out.
struct ActionsDone {};
/// `waiter` is answered once everything recorded so far is durable.
struct DurableAwaited {
  Token waiter = 0;
};

// ---- effects and time

/// A model call has ended. Dropped when the call was settled otherwise.
struct ModelEnded {
  EffectId effect;
  std::uint32_t attempt = 1;
  Result<ModelResponse> response;
  bool billable = true;              ///< a call that failed like this may have been paid for
  std::optional<Usage> stated = {};  ///< what the vendor said that a failed call used
};
/// A tool call has ended. Dropped when the call was settled otherwise.
struct ToolEnded {
  EffectId effect;
  std::uint32_t attempt = 1;
  Result<ToolOutcome> outcome;
};
struct TimerFired {
  Token timer = 0;
};
/// Denies the parked steps whose time is over. The next input continues the loop.
struct ExpireParked {};

// ---- callers

/// A turn is to begin: with `described` as the new description unless that is null.
struct TurnRequested {
  std::vector<Message> messages;
  Json output_schema;
  AgentSpecPtr described;
  Reader reader;
};
/// The turn in progress, or a queued one, is to go on with these records; `reader` follows it too.
struct ResumeRequested {
  Reader reader;
  std::vector<RecordBody> records;
};
/// Records from outside the loop: commands, decisions, a new session's first facts. `waiter` is answered once
/// they are durable. `answer` becomes durable with them.
struct RecordsGiven {
  std::vector<RecordBody> records;
  Token waiter = 0;
  std::optional<InboxAnswer> answer = {};
  /// Resumes also a turn that another process left; otherwise only a decision does.
  bool resumes = false;
};
/// Stop what is under way. With `reader`, only while that reader follows the turn in progress.
struct InterruptRequested {
  Token reader = 0;
  Author author = by_library();
};
/// Interrupt the turn in progress unless it waits for people, and begin no other.
struct WindDownRequested {};
/// `waiter` is answered once no turn is in progress, or nothing can come of it before a person acts.
struct RestAwaited {
  Token waiter = 0;
};
/// `waiter` is answered once no turn is in progress.
struct TurnEndAwaited {
  Token waiter = 0;
};
/// No turn begins or continues any more: the call that made this session is over.
struct Retired {};
/// Stop without a word to the journal, as the runtime goes away: what is under way stays in doubt.
struct Abandoned {};

// ---- hooks and people

/// The hooks that were asked at `place` have answered.
struct HooksAnswered {
  TurnPlace place;
  std::variant<TurnAdvice, ModelAdvice, CallReviews> advice;
  std::optional<std::string> pause = {};  ///< a hook wants the session to pause, for this reason
};
/// A hook threw; observers get `hook.failed`.
struct HookThrew {
  std::string hook, message;
};
/// The handler of a running call reports its progress; observers are told.
struct ToolReported {
  CallId call;
  std::string text;
  std::optional<double> fraction;  ///< the part that is done, from 0 to 1
};
/// The handler that was asked `question` has answered: with records, with an error when its decision is not
/// possible, or not at all (nothing in `records`): the step stays parked.
struct PersonAnswered {
  Token question = 0;
  std::optional<Result<std::vector<RecordBody>>> records;
};
/// Another handler decides for people here from now on.
struct ApproverChanged {};

// ---- the agent tree

/// A sub-agent of `call` begins or resumes a turn.
struct ChildBegan {
  SessionId child;
  CallId call;
};
/// A turn of a sub-agent has ended. With `known`, the log may hold it already.
struct ChildEnded {
  ChildSettled settled;
  bool known = false;
};
/// A sub-agent waits for people, or continues (`pending` is empty).
struct ChildWaits {
  SessionId child;
  std::vector<ParkedStep> pending;
  bool attended = false;  ///< a handler in this process is at work on an answer
};
/// A sub-agent can do nothing any more.
struct ChildLost {
  SessionId child;
};
/// A step of a session below is decided.
struct StepDecidedBelow {
  ParkId step;
};
/// The handler of the running call `within` asks for a call; `waiter` gets its result.
struct CallRequested {
  CallId within;
  ToolCallPart call;
  std::string key;
  Token waiter = 0;
};
/// The calls within `call` are to stop.
struct CallsWithinStopped {
  CallId call;
};

// ---- budgets

/// The budgets above answer `request`.
struct BudgetAnswered {
  struct Granted {};
  struct Busy {};  ///< others hold what is left; `BudgetFreed` follows
  Token request = 0;
  std::variant<Granted, Busy, StopReason> answer;
};
/// Others have given back what they held.
struct BudgetFreed {};

using Input =
    std::variant<Appended, ActionsDone, DurableAwaited, ModelEnded, ToolEnded, TimerFired, ExpireParked,
                 TurnRequested, ResumeRequested, RecordsGiven, InterruptRequested, WindDownRequested,
                 RestAwaited, TurnEndAwaited, Retired, Abandoned, HooksAnswered, HookThrew, ToolReported,
                 PersonAnswered, ApproverChanged, ChildBegan, ChildEnded, ChildWaits, ChildLost,
                 StepDecidedBelow, CallRequested, CallsWithinStopped, BudgetAnswered, BudgetFreed>;

}  // namespace praxis::driver
