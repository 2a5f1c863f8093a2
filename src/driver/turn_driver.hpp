// The loop of one session without threads: it owns the state, takes inputs and returns actions. One round:
// record the input, ask `next`, record what it derives, have everything made durable in one append, then
// publish the events and start the intended effects. The driver never blocks, reads no clock and knows no
// journal: the shell (`runtime/`) carries out the actions and feeds their results back.
#pragma once

#include <memory>
#include <optional>
#include <set>
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

/// The session above, whose call created this one.
struct ParentAddress {
  SessionId session;
  CallId call;
  Lease lease;
};

/// Which kinds of hooks exist.
struct HookSet {
  bool turn = false;   ///< `before_turn`
  bool model = false;  ///< `before_model`, `pause_check`
  bool calls = false;  ///< `before_tool`, `pause_check`, and `approve` of this session or one above
  bool ended = false;  ///< `after_turn`
};

/// The parts of a driver that do not change.
struct Setup {
  AgentSpecPtr agent;  ///< the description with the tools of this process
  std::shared_ptr<const Planner> planner;
  Lease lease;
  std::shared_ptr<const ParentAddress> parent = nullptr;  ///< null for a root
  HookSet hooks = {};
  ModelFacts model = {};
  bool bounded_above = false;  ///< a turn above has a budget
  bool holds_queue = false;    ///< a queued message waits for a reader before its turn begins
  /// The session is not active in any process: an interrupted turn is settled, nothing else continues.
  bool at_rest = false;
};

/// Not thread-safe: belongs to its session's strand. Deterministic: the same setup, state and inputs give the
/// same actions. When nothing is pending, the driver can be dropped and rebuilt from the records.
class TurnDriver {
 public:
  TurnDriver(Setup setup, State state);

  /// Takes an input and adds the resulting actions to `out`, in order. All actions of one input must be
  /// carried out before the next input. The state must be in memory.
  void take(const Moment& now, Input&& input, Actions& out);

  // ---- the state in memory

  const State& state() const { return *state_; }
  bool has_state() const { return state_ != nullptr; }
  /// Drops the state from memory, unless an append is in progress or a hook is running. `restore` brings it
  /// back from the records.
  void suspend();
  /// Sets the state folded from the records. An error, or records written by another process, make the driver
  /// give up. This is not an input and takes no time: a suspended session reads the clock as often as one
  /// that is not.
  void restore(Result<State> state, Actions& out);

  // ---- queries

  /// The reason why nothing can be recorded any more; empty while the driver works.
  const Error* failure() const { return failure_.get(); }
  /// True when no turn may start any more: the call that created this session is over.
  bool retired() const { return retired_; }
  /// Returns the reason why no turn can be resumed here, if any.
  std::optional<Error> refuses_resume() const;
  /// The status of the session, including sub-agents that wait.
  SessionStatus status() const;
  /// True when nothing can happen here or below without an approval.
  bool waits_for_people() const { return tree_.waits_for_people(*state_); }
  /// False when nothing more happens here until an approval, a message or a command comes.
  bool works() const;
  bool runs(const EffectId& effect, std::uint32_t attempt) const {
    return effects_.find(effect, attempt) != nullptr;
  }
  /// True while a model call is running.
  bool asks_model() const { return effects_.asks_model(); }
  /// The readers of the turn in progress.
  const Readers& readers() const { return readers_; }
  std::uint64_t durable() const { return log_.durable(); }
  /// If the session got no input, returns the append of its first record, which no action wrote. For a root
  /// whose last handle is dropped. After this the driver takes no more input.
  std::optional<Append> take_birth();
  TurnPlace place() const;
  /// Returns a transient event, which has no record.
  Event transient(EventBody body) const;

 private:
  // The loop (turn_driver.cpp).
  bool record(RecordBody&& body);
  void close_turn(PendingRecord& settling);
  void advance();
  bool may_begin_turn() const;
  bool carry_out(Decision decision);
  void commit();
  void write_log();
  void finish_turn(PendingRecord& settling);
  void publish(PendingRecord& pending);
  bool report(PendingRecord& pending);
  void come_to_rest();
  void refuse_readers_of_nothing();
  void notify_rest();
  void take_records(std::vector<RecordBody> records, bool resumes);
  void recover();
  /// With `fault`, the session above gives up for the same reason.
  void give_up(Error error, bool fault = true);
  template <class A>
  void emit(A&& action) {
    out_->emplace_back(std::forward<A>(action));
  }

  // Effects and time (driver_effects.cpp).
  bool begin(const records::EffectIntended& intent);
  void start(const records::EffectIntended& intent, RunningEffect& running);
  void start_delayed(const records::EffectIntended& intent, RunningEffect& running);
  void start_model(const records::EffectIntended& intent);
  void start_tool(const records::EffectIntended& intent, RunningEffect& running);
  void arm_limit(const EffectId& effect, RunningEffect& running);
  bool settle(const EffectId& effect, std::uint32_t attempt, records::EffectSettled&& ended);
  void settle_within(const CallId& call);
  std::vector<Attempt> stop_within(const CallId& outer);
  void tool_is_late(const EffectId& effect, std::uint32_t attempt);
  void count_spent(const RunningEffect& call, records::EffectSettled& ended);
  void stop(const EffectId& effect, RunningEffect& running);
  void stop_outdated();
  bool is_outdated(const CallId& call) const;
  void cancel_effects();
  void settle_unstopped(std::vector<Attempt> effects);
  void hold_clocks();
  bool is_active() const;
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
  void give_in_its_place(const CallState& call, Review& review);
  void ask_hooks(decltype(AskHooks::question) question);
  void take_advice(TurnAdvice advice);
  void take_advice(ModelAdvice advice);
  void take_advice(CallReviews advice);
  bool is_bounded() const;
  void tell_budget_wait();
  bool affords_model();
  bool affords_call();
  void reserve(Reservation& reservation, const Estimate& estimate);
  void release(Reservation& reservation, const Amount& spent = {});
  void release_idle();

  // Approvals and the tree (driver_people.cpp).
  void update_questions();
  void watch_expiry();
  bool expire_parked();
  bool attended() const { return approvers_.thinking() || tree_.attended(); }
  AgentResult waiting_result() const;
  void release_readers();
  void tell_parent_of_wait(bool waits);
  void drop_lost_waiters();
  bool close_left(bool all);
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
  void on(TurnReported input);
  void on(HookThrew input);
  void on(ToolReported input);
  void on(PersonAnswered input);
  void on(ApproverChanged input);
  void on(ChildBegan input);
  void on(ChildEnded input);
  void on(ChildWaits input);
  void on(ChildLost input);
  void on(ChildClosed input);
  void on(Faulted input);
  void on(StepDecidedBelow input);
  void on(CallRequested input);
  void on(CallsWithinStopped input);
  void on(BudgetAnswered input);
  void on(BudgetFreed input);
  void on(AnswerGrew input);
  void on(BudgetExceeded input);
  void interrupt(Author author);
  void refuse(const Reader& reader, Error error);
  std::optional<Error> refusal() const;
  Error deleted_error() const;
  Error nothing_to_resume() const;
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
  std::unique_ptr<const Error> failure_;
  bool inherited_;            ///< the turn in progress was started by another process and not resumed yet
  std::set<SessionId> left_;  ///< sub-agents of this turn that another process had and no call has resumed
  std::size_t closing_ = 0;   ///< of these, which are being closed
  bool winding_down_ = false;
  bool retired_ = false;
  bool hooks_asked_ = false;
  bool wait_untold_ = false;               ///< a wait for the budget is not announced yet
  bool turn_ending_ = false;               ///< the hooks after a turn have not answered; no turn starts
  std::vector<PendingRecord> unreported_;  ///< durable records whose events wait for those hooks; that of the
                                           ///< ended turn first
  std::vector<TurnRequested> held_turns_;  ///< requested meanwhile
  std::uint64_t asked_for_ = 0;            ///< the queued message before whose turn hooks were asked
  std::uint64_t advised_for_ = 0;          ///< the one before whose turn they have answered
  std::unique_ptr<ModelAdvice> model_advice_;
  /// What the entry in the agent tree shows, besides what follows from the records up to `seq`.
  struct Shown {
    SessionStatus status = SessionStatus::kIdle;
    bool sleeps = false;
    std::uint64_t seq = 0;
    bool operator==(const Shown&) const = default;
  };
  Shown shown_;
  Token next_request_ = 1;
  Token deadline_ = 0;
  Token expiry_ = 0;
  UnixMillis expires_ = {};  ///< when the first parked step expires; 0: never

  Moment now_;              ///< of the current input
  Actions* out_ = nullptr;  ///< set only during `take`
};

}  // namespace praxis::driver
