// The actions of a turn driver: plain values that the shell carries out in order.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "driver/input.hpp"
#include "policy/filters.hpp"
#include "praxis/core/next.hpp"

namespace praxis::driver {

/// Append to the journal; answered by `Appended`. There is one append at a time.
struct AppendRecords {
  Append append;
};
/// Answer with `ActionsDone` when all earlier actions are carried out. Event handlers may issue commands to
/// the session in the meantime.
struct AwaitActions {};
/// Ask the model; answered by `ModelEnded`. Its intent is durable.
struct StartModel {
  EffectId effect;
  std::uint32_t attempt = 1;
  ModelQuestion question;
  std::uint64_t ordinal = 0;           ///< counts the model calls of the session
  bool answers = true;                 ///< false: a summary or side query, whose deltas are not published
  Event where;                         ///< the event of a delta, without its body
  std::shared_ptr<const Rules> rules;  ///< a tool that they deny is not offered
  filters::FilterSetPtr filters = nullptr;  ///< of the request; null: none
};
/// Run a tool; answered by `ToolEnded`. Its intent is durable.
struct StartTool {
  EffectId effect;
  std::uint32_t attempt = 1;
  ToolCallPart call;
  Millis limit{0};  ///< 0: no limit
  History conversation;
  std::vector<CallAnswer> answers = {};     ///< to the questions of earlier attempts
  filters::FilterSetPtr filters = nullptr;  ///< of the result; null: none
};
/// Ask an effect to stop. It still ends or is dropped.
struct StopEffect {
  EffectId effect;
};
/// The effect is settled: later results are ignored.
struct DropEffect {
  EffectId effect;
};
/// Answer with `TimerFired` after `delay`.
struct ArmTimer {
  Token timer = 0;
  std::chrono::nanoseconds delay{0};
  bool keeps = false;  ///< the session stays in memory until it fires: an effect waits for it
};
struct DisarmTimer {
  Token timer = 0;
};

/// Ask the hooks; answered by `HooksAnswered`. There is one question at a time.
struct AskBeforeTurn {
  AgentSpecPtr agent;
};
struct AskBeforeModel {
  History conversation;
};
struct AskAboutCalls {
  std::vector<ToolCallPart> calls;
  std::shared_ptr<const Rules> rules;
  std::uint64_t version = 0;  ///< of the rules
};
struct AskHooks {
  TurnPlace place;
  std::variant<AskBeforeTurn, AskBeforeModel, AskAboutCalls> question;
};
/// Ask the approval handler of this process; answered by `PersonAnswered`.
struct AskPerson {
  Token question = 0;
  ParkedStep step;
};
/// The question was decided in another way: stop the handler.
struct WithdrawQuestion {
  Token question = 0;
};

/// Publish an event to observers and readers.
struct Publish {
  Event event;
  Readers readers;
  bool readers_only = false;
};
/// Show the result of a turn, whose end is durable, to the `after_turn` hooks; answered by `TurnReported`.
struct AskAfterTurn {
  TurnPlace place;
  AgentResult result;
};
/// The end of the turn is durable, and the hooks have seen the result.
struct FinishTurn {
  Readers readers;
  AgentResult result;
};
/// These readers get a result although the turn has not ended: it waits or cannot continue.
struct FinishReaders {
  Readers readers;
  Result<AgentResult> result;
};
/// The set of readers of the turn in progress has changed.
struct ReadersChanged {};
/// Show the session in the agent tree; `updated` is set when something was recorded.
struct ShowSession {
  SessionStatus status = SessionStatus::kIdle;
  std::optional<UnixMillis> updated;
  bool sleeps = false;  ///< its turn waits for a timer, here or below
};
/// Pass an input to the session above.
struct TellParent {
  ChildNews what;
};
/// End the turns of sub-agents that an earlier process left and that no call resumes; each is answered by
/// `ChildClosed`.
struct CloseLeft {
  std::vector<SessionId> children;
};
/// Answer a caller with the last durable record or with the error.
struct AnswerWaiter {
  Token waiter = 0;
  Result<std::uint64_t> durable;
};
/// Give the result of a call to the handler that asked for it.
struct HandBack {
  Token waiter = 0;
  Result<ToolOutcome> outcome;
};

/// Reserve an amount in the budgets of the turn and those above; answered by `BudgetAnswered`.
struct ReserveBudget {
  Token request = 0;
  Estimate estimate;
};
/// The running effect of reservation `request` has used `used` so far: reserve what is missing.
/// `BudgetExceeded` answers when the budgets refuse that.
struct ExtendBudget {
  Token request = 0;
  Amount used;
};
/// Settle the reservation `request`: replace the amount granted by the amount spent.
struct SettleBudget {
  Token request = 0;
  Amount spent;
};
/// The turn is over, and with it its budget.
struct CloseBudget {};
/// Nothing can be recorded any more: release the lease and stop everything. Comes once.
struct GiveUp {
  Error error;
};

using Action =
    std::variant<AppendRecords, AwaitActions, StartModel, StartTool, StopEffect, DropEffect, ArmTimer,
                 DisarmTimer, AskHooks, AskAfterTurn, AskPerson, WithdrawQuestion, Publish, FinishTurn,
                 FinishReaders, ReadersChanged, ShowSession, TellParent, CloseLeft, AnswerWaiter, HandBack,
                 ReserveBudget, ExtendBudget, SettleBudget, CloseBudget, GiveUp>;
using Actions = std::vector<Action>;

}  // namespace praxis::driver
