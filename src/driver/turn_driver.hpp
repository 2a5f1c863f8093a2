// The loop of one session without threads: it owns the state, takes what happened and says what to do. The
// loop is: record what happened, ask `next`, record what it derives, have all of it made durable in one
// append, then publish the events and start what was intended. It waits for nothing, reads no clock and knows
// no journal: the shell (`runtime/`) carries its actions out and feeds back what came of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/action.hpp"
#include "driver/approvers.hpp"
#include "driver/effects.hpp"
#include "driver/input.hpp"
#include "driver/log.hpp"
#include "driver/spending.hpp"
#include "driver/timers.hpp"
#include "driver/tree_link.hpp"
#include "praxis/core/planner.hpp"

namespace praxis::driver {

/// The session above, whose call made this one.
struct ParentAddress {
  SessionId session;
  CallId call;
  Lease lease;
};

/// Which hooks there are to ask.
struct HookSet {
  bool turn = false;   ///< `before_turn`
  bool model = false;  ///< `before_model`, `pause_check`
  bool calls = false;  ///< `before_tool`, `pause_check`, and `approve` here or above
};

/// What a driver needs to know in addition to the state.
struct Setup {
  AgentSpecPtr agent;  ///< the description with the tools of this process
  std::shared_ptr<const Planner> planner;
  Lease lease;
  std::optional<ParentAddress> parent = {};
  HookSet hooks = {};
  ModelFacts model = {};
  bool bounded_above = false;  ///< a turn above has a budget
  /// No process runs the session: a turn that was asked to stop is settled, and nothing else continues.
  bool at_rest = false;
};

/// Not thread-safe: belongs to its session's strand. Deterministic: the same setup, state and inputs give the
/// same actions. When nothing is pending it can be dropped and made again from the records.
class TurnDriver {
 public:
  TurnDriver(Setup setup, State state);

  /// Takes an input and adds what is to be done to `out`, in order. The actions of one input are carried out
  /// before the next input is taken. The state must be in memory.
  void take(const Moment& now, Input&& input, Actions& out);

  // ---- the state in memory

  const State& state() const { return *state_; }
  bool has_state() const { return state_ != nullptr; }
  /// Drops the state, if nothing is on the way to the log and no hook is at work on it. The records give it
  /// back.
  void suspend();
  /// The state folded from the records. An error, or a log that another process has written to, is the end of
  /// this driver. It is not an input, so it takes no time: a suspended session reads the clock as often as
  /// one that is not.
  void restore(Result<State> state, Actions& out);

  // ---- what observers ask

  /// Nothing can be recorded any more, for this reason.
  const std::optional<Error>& failure() const { return failure_; }
  /// No turn begins any more: the call that made this session is over.
  bool retired() const { return retired_; }
  /// Why no turn can be resumed here.
  std::optional<Error> refuses_resume() const;
  /// Where the session stands, with what its sub-agents wait for.
  SessionStatus status() const;
  /// Nothing happens here or below before a person decides.
  bool waits_for_people() const { return tree_.waits_for_people(*state_); }
  bool runs(const EffectId& effect, std::uint32_t attempt) const {
    return effects_.find(effect, attempt) != nullptr;
  }
  /// A model call is under way.
  bool asks_model() const { return effects_.asks_model(); }
  /// Those who follow the turn in progress.
  const Readers& readers() const { return readers_; }
  std::uint64_t durable() const { return log_.durable(); }
  TurnPlace place() const;
  /// An event without a record behind it.
  Event transient(EventBody body) const;

 private:
  // The loop (turn_driver.cpp).
  bool record(RecordBody&& body);
  void close_turn(PendingRecord& settling);
  void advance();
  bool carry_out(Decision decision);
  void commit();
  void finish_turn(PendingRecord& settling);
  void come_to_rest();
  void notify_rest();
  void take_records(std::vector<RecordBody> records, bool resumes);
  void recover();
  void give_up(Error error);
  template <class A>
  void emit(A&& action) {
    out_->emplace_back(std::forward<A>(action));
  }

  // Effects and time (driver_effects.cpp).
  bool begin(const EffectIntended& intent);
  void start_model(const EffectIntended& intent);
  void start_tool(const EffectIntended& intent, RunningEffect& running);
  void arm_limit(const EffectId& effect, RunningEffect& running);
  bool settle(const EffectId& effect, std::uint32_t attempt, EffectSettled&& ended);
  void settle_within(const CallId& call);
  void tool_is_late(const EffectId& effect, std::uint32_t attempt);
  void count_spent(const RunningEffect& call, EffectSettled& ended);
  void stop(const EffectId& effect, RunningEffect& running);
  void stop_outdated();
  bool is_outdated(const CallId& call) const;
  void cancel_effects();
  void settle_unstopped(std::vector<Attempt> effects);
  void hold_clocks();
  void arm_deadline();
  Token arm(TimerPurpose purpose, std::chrono::nanoseconds delay, bool keeps = false);
  void disarm(Token& timer);
  void fired(TurnDeadline deadline);
  void fired(StepExpiry expiry);
  void fired(const EffectTimer& timer);
  void fired(const GraceOver& grace);

  // Rules, hooks and budgets (driver_review.cpp).
  bool asks_before_turn();
  bool asks_before_model(CallModel& call);
  bool review_calls(const RunCalls& decision);
  bool run_call(const CallId& id);
  bool record_review(const CallId& id, Review& review);
  void give_in_its_place(const CallState& call, ToolOutcome outcome);
  void ask_hooks(decltype(AskHooks::question) question);
  void take_advice(TurnAdvice advice);
  void take_advice(ModelAdvice advice);
  void take_advice(CallReviews advice);
  bool is_bounded() const;
  bool affords_model();
  bool affords_call();
  void reserve(Reservation& reservation, const Amount& amount);
  void release(Reservation& reservation, const Amount& spent = {});
  void release_idle();

  // People and the tree (driver_people.cpp).
  void update_questions();
  void watch_expiry();
  bool expire_parked();
  bool attended() const { return approvers_.thinking() || tree_.attended(); }
  AgentResult waiting_result() const;
  void release_readers();
  void tell_parent_of_wait(bool waits);
  void drop_lost_waiters();
  void hand_back(const CallId& call);
  CallId handed_back(const RecordBody& body) const;
  void show(std::optional<UnixMillis> updated);

  // Inputs.
  void on(Appended input);
  void on(ActionsDone input);
  void on(DurableAwaited input);
  void on(ModelEnded&& input);
  void on(ToolEnded&& input);
  void on(TimerFired input);
  void on(ExpireParked input);
  void on(TurnRequested input);
  void on(ResumeRequested input);
  void on(RecordsGiven input);
  void on(InterruptRequested input);
  void on(WindDownRequested input);
  void on(RestAwaited input);
  void on(TurnEndAwaited input);
  void on(Retired input);
  void on(Abandoned input);
  void on(HooksAnswered input);
  void on(HookThrew input);
  void on(ToolReported input);
  void on(PersonAnswered input);
  void on(ApproverChanged input);
  void on(ChildBegan input);
  void on(ChildEnded input);
  void on(ChildWaits input);
  void on(ChildLost input);
  void on(StepDecidedBelow input);
  void on(CallRequested input);
  void on(CallsWithinStopped input);
  void on(BudgetAnswered input);
  void on(BudgetFreed input);
  void interrupt(Author author);
  void refuse(const Reader& reader, Error error);
  std::optional<Error> refusal() const;
  Error deleted_error() const;
  Error shut_down_error() const;
  static Error input_error(std::string what);

  Setup setup_;
  std::unique_ptr<State> state_;  ///< null while suspended
  Log log_;
  Effects effects_;
  Timers timers_;
  CallReview review_;
  Approvers approvers_;
  TreeLink tree_;
  Reservation model_budget_;  ///< for the model call in progress
  Reservation call_budget_;   ///< for the next tool call
  Readers readers_;
  std::vector<Token> rest_waiters_;
  std::vector<Token> end_waiters_;
  std::optional<Error> failure_;
  bool inherited_;  ///< the turn in progress is another process's, and nothing has resumed it yet
  bool winding_down_ = false;
  bool retired_ = false;
  bool hooks_asked_ = false;
  bool turn_advised_ = false;  ///< the hooks before the next queued turn have run
  std::optional<ModelAdvice> model_advice_;
  Token next_request_ = 1;
  Token deadline_ = 0;
  Token expiry_ = 0;
  UnixMillis expires_ = {};  ///< when the first parked step expires; 0: never

  Moment now_;              ///< of the input that is being taken
  Actions* out_ = nullptr;  ///< only while an input is being taken
};

}  // namespace praxis::driver
