// What a turn driver wants done: plain values that the shell carries out in order.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "driver/input.hpp"
#include "praxis/core/next.hpp"

namespace praxis::driver {

/// Append to the journal; answered by `Appended`. There is one append at a time.
struct AppendRecords {
  Append append;
};
/// Answer with `ActionsDone`, when everything before is carried out. Handlers of events may act on the
/// session meanwhile.
struct AwaitActions {};
/// Ask the model; answered by `ModelEnded`. Durably intended.
struct StartModel {
  EffectId effect;
  std::uint32_t attempt = 1;
  ModelQuestion question;
  std::uint64_t ordinal = 0;  ///< of the session's model calls
  bool answers = true;        ///< false: a summary or side query, whose deltas are not published
  Event where;                ///< what its deltas are published as, without their body
};
/// Run a tool; answered by `ToolEnded`. Durably intended.
struct StartTool {
  EffectId effect;
  std::uint32_t attempt = 1;
  ToolCallPart call;
  Millis limit{0};  ///< 0: no limit
  History conversation;
};
/// Ask an effect to stop. It still ends, or is dropped.
struct StopEffect {
  EffectId effect;
};
/// The effect is settled: what it gives from here on is of no use.
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
/// Ask the handler that decides for people here; answered by `PersonAnswered`.
struct AskPerson {
  Token question = 0;
  ParkedStep step;
};
/// The question is decided otherwise.
struct WithdrawQuestion {
  Token question = 0;
};

/// Hand an event to observers and readers.
struct Publish {
  Event event;
  Readers readers;
  bool readers_only = false;
};
/// The turn is over, durably. Hooks that come after a turn see the result before the readers do.
struct FinishTurn {
  Readers readers;
  AgentResult result;
};
/// These readers get a result that is not the end of a turn: it waits, or cannot go on.
struct FinishReaders {
  Readers readers;
  Result<AgentResult> result;
};
/// The readers of the turn in progress are others now.
struct ReadersChanged {};
/// Show the session in the agent tree; `updated` when something was recorded.
struct ShowSession {
  SessionStatus status = SessionStatus::kIdle;
  std::optional<UnixMillis> updated;
};
/// Tell the session above.
struct TellParent {
  std::variant<ChildBegan, ChildEnded, ChildWaits, ChildLost> what;
};
/// Answers a caller: with the last durable record, or with the error.
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
  Amount amount;
};
/// What was granted to `request` becomes what was spent.
struct SettleBudget {
  Token request = 0;
  Amount spent;
};
/// The turn and its budget are over.
struct CloseBudget {};
/// Nothing can be recorded any more: give the lease back and stop everything. Comes once.
struct GiveUp {
  Error error;
};

using Action = std::variant<AppendRecords, AwaitActions, StartModel, StartTool, StopEffect, DropEffect,
                            ArmTimer, DisarmTimer, AskHooks, AskPerson, WithdrawQuestion, Publish, FinishTurn,
                            FinishReaders, ReadersChanged, ShowSession, TellParent, AnswerWaiter, HandBack,
                            ReserveBudget, SettleBudget, CloseBudget, GiveUp>;
using Actions = std::vector<Action>;

}  // namespace praxis::driver
