// The inputs of a turn driver: every event outside it, as a plain value. Each input comes with the time.
// Tokens stand for the objects that the shell keeps for the driver (waiting callers, readers of a turn).
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
/// A reader of a turn, which gets its events and its result.
struct Reader {
  Token token = 0;
  bool stays = false;  ///< gets no result when the turn waits for an approval, only when it ends
  bool operator==(const Reader&) const = default;
};
using Readers = std::vector<Reader>;

/// The environment at the time of an input.
struct Moment {
  UnixMillis wall = {};
  std::chrono::nanoseconds monotonic{0};
  EventKinds wanted = {};   ///< events that at least one observer or reader wants
  std::size_t arrived = 0;  ///< bytes received of the answer of the model call in progress
  Token approver = 0;       ///< generation of the approval handler of this process; 0: no handler
  Millis grace{100};        ///< how long an effect may take to stop
  bool closing = false;     ///< the runtime is being destroyed: nothing may be recorded any more
};

/// The turn and step that hooks are asked about.
struct TurnPlace {
  TurnId turn = {};
  std::uint32_t step = 0;
  bool operator==(const TurnPlace&) const = default;
};

/// The changes of the `before_model` hooks to one model call.
struct ModelAdvice {
  RequestPatch patch = {};
  std::optional<ModelResponse> answer = {};  ///< instead of asking the model
  AgentSpecPtr agent = {};                   ///< with the tools of this moment; null: unchanged
};
/// The reviews of calls, made under the rules of this version.
struct CallReviews {
  std::uint64_t rules = 0;
  std::map<CallId, Review> reviews = {};
};
/// The description as the `before_turn` hooks changed it; null: unchanged.
struct TurnAdvice {
  AgentSpecPtr agent;
};

// ---- the journal

/// The append in progress is durable up to this record, or failed.
struct Appended {
  Result<std::uint64_t> last;
};
/// All actions before `AwaitActions` have been carried out.
struct ActionsDone {};
/// Answer `waiter` once everything recorded so far is durable.
struct DurableAwaited {
  Token waiter = 0;
};

// ---- effects and time

/// A model call has ended. Ignored when the call is already settled.
struct ModelEnded {
  EffectId effect;
  std::uint32_t attempt = 1;
  Result<ModelResponse> response;
  bool billable = true;              ///< a call that failed like this may have been billed
  std::optional<Usage> stated = {};  ///< the usage that the vendor reported for a failed call
  std::string by = {};               ///< the content filters that changed the request, as `EffectSettled::by`
};
/// A tool call has ended. Ignored when the call is already settled.
struct ToolEnded {
  EffectId effect;
  std::uint32_t attempt = 1;
  Result<ToolOutcome> outcome;
  std::shared_ptr<const records::ToolOriginal> original = nullptr;  ///< if hooks changed the outcome
  std::string by = {};  ///< the content filters that changed the outcome, as `EffectSettled::by`
};
struct TimerFired {
  Token timer = 0;
};
/// Denies the parked steps whose time is over. The next input continues the loop.
struct ExpireParked {};

// ---- callers

/// Start a turn, with `described` as the new description unless that is null.
struct TurnRequested {
  std::vector<Message> messages;
  Json output_schema;
  AgentSpecPtr described;
  Reader reader;
  /// The messages as the caller gave them, where hooks changed them: null entries for others; may be empty.
  std::vector<MessagePtr> originals = {};
  std::vector<records::Decided> decided = {};  ///< what content filters decided about the messages
};
/// Append these records and resume the turn in progress or a queued one; `reader` follows it too.
struct ResumeRequested {
  Reader reader;
  std::vector<RecordBody> records;
};
/// Append records from outside the loop: commands, decisions, the first record of a session. Answer `waiter`
/// once they are durable; `answer` becomes durable together with them.
struct RecordsGiven {
  std::vector<RecordBody> records;
  Token waiter = 0;
  std::optional<InboxAnswer> answer = {};
  /// Also resumes a turn that another process left; without it, only a decision does.
  bool resumes = false;
};
/// Interrupt the turn. With `reader`, only if that reader follows the turn in progress.
struct InterruptRequested {
  Token reader = 0;
  Author author = by_library();
};
/// Interrupt the turn in progress unless it waits for an approval, and start no other.
struct WindDownRequested {};
/// Answer `waiter` once no turn is in progress, or the one in progress is paused or needs an approval to
/// continue.
struct RestAwaited {
  Token waiter = 0;
};
/// Answer `waiter` once no turn is in progress.
struct TurnEndAwaited {
  Token waiter = 0;
};
/// Start and resume no more turns: the call that created this session is over.
struct Retired {};
/// Stop without writing to the journal: running effects stay in doubt.
struct Abandoned {};

// ---- hooks and approvals

/// The hooks that were asked at `place` have answered.
struct HooksAnswered {
  TurnPlace place;
  std::variant<TurnAdvice, ModelAdvice, CallReviews> advice;
  std::optional<std::string> pause = {};  ///< the reason why a hook wants the session to pause
};
/// The hooks after a turn have seen its result, and may have changed it.
struct TurnReported {
  AgentResult result;
};
/// A hook threw; observers get `hook.failed`.
struct HookThrew {
  std::string hook, message;
};
/// The handler of a running call reports progress, which is published as an event.
struct ToolReported {
  CallId call;
  std::string text;
  std::optional<double> fraction;  ///< the completed part, from 0 to 1
};
/// The approval handler has answered `question`: with records, with an error when its decision is not
/// possible, or with nothing; then the step stays parked.
struct PersonAnswered {
  Token question = 0;
  std::optional<Result<std::vector<RecordBody>>> records;
};
/// Another approval handler was set in this process.
struct ApproverChanged {};

// ---- the agent tree

/// A sub-agent of `call` starts or resumes a turn.
struct ChildBegan {
  SessionId child;
  CallId call;
};
/// A turn of a sub-agent has ended. With `known`, the log may already hold that.
struct ChildEnded {
  records::ChildSettled settled;
  bool known = false;
};
/// A sub-agent waits for approvals, sleeps, or continues (`pending` is empty, and it does not sleep).
struct ChildWaits {
  SessionId child;
  std::vector<ParkedStep> pending;
  bool attended = false;  ///< a handler in this process works on an answer
  bool sleeps = false;    ///< nothing happens there before a timer ends or a person decides
};
/// A sub-agent gave up: it will not continue in this process. With `fault`, the call that created it cannot
/// end either, so this session gives up for the same reason. Without, the sub-agent was closed on request.
struct ChildLost {
  SessionId child;
  std::optional<Error> fault = {};
};
/// A sub-agent that an earlier process left is in no turn any more, or could not be reached.
struct ChildClosed {
  SessionId child;
  std::optional<records::ChildSettled> settled = {};  ///< what it used until then; empty if unknown
};
/// What a sub-agent reports to the session above.
using ChildNews = std::variant<ChildBegan, ChildEnded, ChildWaits, ChildLost>;
/// Our own machinery failed, not a tool, a model or a sub-agent: the journal cannot be read, a lease was
/// lost, the process is out of resources. The session gives up; nothing that was in progress is settled.
struct Faulted {
  Error why;
};
/// A step of a session below was decided.
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
/// Stop the calls within `call`.
struct CallsWithinStopped {
  CallId call;
};

// ---- budgets

/// The budgets above answer `request`.
struct BudgetAnswered {
  struct Granted {};
  struct Busy {};  ///< other effects hold the rest; `BudgetFreed` follows
  Token request = 0;
  std::variant<Granted, Busy, StopReason> answer;
};
/// Other effects have released a part of the budget.
struct BudgetFreed {};
/// The answer of a running model call has grown and may soon have `arrived` bytes.
struct AnswerGrew {
  EffectId effect;
  std::uint32_t attempt = 1;
  std::size_t arrived = 0;
};
/// The effect of reservation `request` has used more than was reserved, and the budgets have no more.
struct BudgetExceeded {
  Token request = 0;
  StopReason reason = StopReason::kTokenLimit;
};

using Input =
    std::variant<Appended, ActionsDone, DurableAwaited, ModelEnded, ToolEnded, TimerFired, ExpireParked,
                 TurnRequested, ResumeRequested, RecordsGiven, InterruptRequested, WindDownRequested,
                 RestAwaited, TurnEndAwaited, Retired, Abandoned, HooksAnswered, TurnReported, HookThrew,
                 ToolReported, PersonAnswered, ApproverChanged, ChildBegan, ChildEnded, ChildWaits, ChildLost,
                 ChildClosed, Faulted, StepDecidedBelow, CallRequested, CallsWithinStopped, BudgetAnswered,
                 BudgetFreed, AnswerGrew, BudgetExceeded>;

}  // namespace praxis::driver
