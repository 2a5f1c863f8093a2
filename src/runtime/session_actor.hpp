// One session while it is awake: the strand that owns its state, the single driver loop, and the effects
// under way. Public methods may be called from any thread. The loop is: record what happened, ask `next`,
// record what it derives, make all of it durable in one append, then publish the events and start what was
// intended.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "driver/budget.hpp"
#include "praxis/core/next.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/session.hpp"
#include "runtime/services.hpp"

namespace praxis {

class SessionActor : public std::enable_shared_from_this<SessionActor> {
 public:
  SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
               std::shared_ptr<Model> model, std::unique_ptr<Planner> planner, Lease lease, State state,
               Origin origin);
  ~SessionActor();

  const SessionId& id() const { return lease_.session; }
  Observers& observers() { return observers_; }

  /// Runs `work` on the strand, now or soon.
  void post(Task work);
  /// Runs `work` on the strand with the state and waits for its result; at once when already on the strand.
  template <class F>
  auto query(F work) -> std::invoke_result_t<F, const State&>;

  /// What to record, given the state; an error refuses it.
  using Inputs = std::function<Result<std::vector<RecordBody>>(const State&)>;

  /// Records inputs, carries on, and waits until they are durable.
  Status submit(Inputs inputs);
  /// Records the first fact of a new session, and does not wait for it.
  void begin(RecordBody created);
  /// Starts a turn with these messages (none: on what the conversation holds) whose answer has to fit
  /// `output_schema` unless that is null; `events` gets it all. Hooks that come before a turn run on the
  /// calling thread.
  void start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                  Json output_schema = nullptr);
  /// Attaches `events` to the turn in progress, beside those that follow it already, records inputs and
  /// carries it on.
  /// When `may_be_over`, a turn that has ended in the meantime gives its result instead of an error.
  void resume(std::shared_ptr<EventQueue> events, Inputs inputs, bool may_be_over = false);
  /// Asks everything to stop: at once for effects under way, then in the log. With `turn`, only while that is
  /// what the turn in progress reports to.
  void interrupt(std::shared_ptr<EventQueue> turn = nullptr, Author author = by_library());
  void command(CommandVerb verb, std::string text, Author author = by_library());
  /// Carries out a request from outside and waits until it is durable. Error `kInput` says why it cannot be
  /// carried out. Hooks on outgoing messages run on the calling thread.
  Status carry_out(InboxRequest request);
  /// Shows a session from the journal in the agent tree.
  void appear(UnixMillis created, UnixMillis updated);
  /// Decides a step of this session or of one below it, wherever that is.
  Status decide(StepApproval step);
  /// Checks all of these decisions, then makes those on steps of sessions below; gives back the rest.
  Result<Approvals> decide_below(const Approvals& approvals, const Author& author);
  /// Carries out the requests that came to the inbox since the last call, and answers them. Called by one
  /// thread at a time.
  void collect_inbox();
  /// A step of a session below is decided: nobody here waits for it any more. `done` once all above know.
  void forget_step(ParkId id, Task done);
  /// Interrupts the turn in progress, unless it waits for a person, and begins no queued one.
  void wind_down();
  /// Calls `done` once no turn is in progress, or nothing can come of the one that is.
  void when_at_rest(Task done);
  /// Stops without a word to the journal, as if the process had died: what is under way stays in doubt.
  void abandon();
  // In the agent tree (family.cpp).

  const std::shared_ptr<Services>& services() const { return services_; }
  const std::shared_ptr<const AgentDescription>& description() const { return agent_; }
  /// The model that this session asks; null for an agent that only follows a plan.
  const std::shared_ptr<Model>& model() const { return model_; }
  /// An event of a session below; goes to all who listen here and further up.
  void overhear(std::shared_ptr<const Event> event);
  /// A sub-agent of a call: its id, and how deep in the tree it stands.
  struct Claim {
    SessionId id;
    std::uint32_t depth = 0;
  };
  /// The sub-agent that `call` made under `key`, or a new one, which is recorded first. Waits until that is
  /// durable. Error when the call no longer runs.
  Result<Claim> claim_child(const CallId& call, const std::string& agent, const std::string& key);
  /// No turn begins or goes on here any more: the call that made this session is over.
  void retire();
  /// Calls `done` once no turn is in progress.
  void when_settled(Task done);
  /// A sub-agent of `call` begins a turn.
  void child_began(const SessionId& child, const CallId& call);
  /// A turn of a sub-agent has ended; recorded, unless it is known already.
  void child_settled(ChildSettled settled, bool known = false);
  /// Those above are told how the last turn here ended, in case they died before they heard it.
  void report_last_turn();
  /// A sub-agent waits for people, or (`pending` is empty) goes on; `attended` while somebody in this process
  /// is at work on an answer.
  void child_waits(const SessionId& child, std::vector<ParkedStep> pending, bool attended);
  /// Somebody else decides for people from now on: what waits is put to them.
  void people_changed();
  /// What the turn in progress may spend together with those above; null when nothing is bounded.
  std::shared_ptr<Budget> budget();
  /// Proposes a call within the running call `within`, unless one with this key is there already; `done` gets
  /// its result, on the strand. Returns its id, or an error when `within` no longer runs.
  using CallDone = std::move_only_function<void(Result<ToolOutput>)>;
  Result<CallId> propose_within(const CallId& within, ToolCallPart call, std::string key, CallDone done);
  /// Asks the effects of calls within `call` to stop.
  void stop_within(const CallId& call);

  /// What a user said as hooks want it stored; runs them on the calling thread.
  Message outgoing(Message message);
  /// False once the journal failed or the runtime went away: nothing more will be done here.
  bool usable() const { return usable_; }

 private:
  /// An effect under way.
  struct Active {
    std::stop_source stop;
    std::chrono::nanoseconds started{0};
    Executor::TimerId timer = 0;
    EffectKind kind = EffectKind::kModel;
    std::uint32_t attempt = 1;
    Millis limit{0};                     ///< of a tool; 0: none
    bool repeatable = false;             ///< may be tried again after its limit
    std::chrono::nanoseconds waited{0};  ///< for people, by those who work for it
    std::optional<std::chrono::nanoseconds> waits_since;
    /// Bytes of a model's answer so far; null before it was asked.
    std::shared_ptr<std::atomic<std::size_t>> arrived;
  };
  /// A sub-agent of a call in progress.
  struct Child {
    CallId call;
    bool busy = true;                 ///< a turn is in progress
    std::vector<ParkedStep> pending;  ///< what it and those below wait for people with; empty: it is at work
    bool attended = false;            ///< somebody is at work on an answer
  };
  /// A parked step that whoever decides for people here was asked about.
  struct Asked {
    std::shared_ptr<const ApprovalHandler> by;
    std::stop_source stop = {};
    bool thinking = true;
  };
  /// Who follows the turn in progress.
  using Readers = std::vector<std::shared_ptr<EventQueue>>;
  struct PendingRecord {
    Record record;
    Readers readers;  ///< at that time: when the record is durable, another turn may have begun
    std::vector<Event> events;
    std::unique_ptr<AgentResult> result;  ///< of the turn that this record settles
    CallId handed_back;                   ///< a call within another that this record settles
  };
  /// What rules and hooks said of one call.
  struct Review {
    Permission permission;                 ///< no `Edit`
    std::optional<std::string> arguments;  ///< to run with instead
    std::optional<ToolOutput> result;      ///< given in the tool's place
    Author author;                         ///< policy or hook
  };
  using Rules = std::vector<PolicyRules>;
  class ModelCallSink;

  // The driver loop (session_actor.cpp).
  State& state();
  void lose_state(Error error);
  bool record(RecordBody body);
  void advance();
  bool carry_out(Decision decision);
  CallId handed_back(const RecordBody& body);
  void finish_waiting();
  void commit();
  void take_in(std::vector<RecordBody> bodies);
  void run_outgoing_hooks(InboxRequest& request);
  Status check_below(const SessionId& session);
  Status check_approval(const StepApproval& step);
  Status approve_below(const StepApproval& step, Task done);
  void carry_out(const InboxMessage& message);
  void show(std::optional<UnixMillis> updated);
  void committed(std::vector<PendingRecord> records, std::vector<AppendDone> waiters,
                 Result<std::uint64_t> done);
  void settle_waiting();
  void notify_rest();
  void turn_settled(AgentResult result, Readers readers);
  void finish_turn(AgentResult result, Readers readers);
  void finish_over(std::shared_ptr<EventQueue> events);
  Error retired_error() const;
  Error shut_down_error() const;
  Error deleted_error() const;
  void recover();
  bool on_strand() const { return strand_.runs_here(); }
  /// As `post`, but the event loop takes the work to the strand, whatever thread this is.
  void post_from_loop(Task work);
  void broken(Error error);
  void arm_deadline();
  void disarm_deadline();
  void publish(const Event& event, const Readers& readers);
  static void finish(const Readers& readers, const Result<AgentResult>& result);
  EventKinds wanted() const;
  void suspend();

  // Effects (perform.cpp).
  void perform(const EffectIntended& intent);
  void perform_model(const EffectIntended& intent);
  void start_model(const EffectIntended& intent);
  void perform_tool(const EffectIntended& intent);
  ToolContext tool_context(const EffectIntended& intent, Millis limit);
  void limit_tool(const EffectId& effect, Active& active);
  void tool_late(const EffectId& effect, std::uint32_t attempt);
  void perform_timer(const EffectIntended& intent);
  Active* active(const EffectId& effect, std::uint32_t attempt);
  void settled(const EffectId& effect, std::uint32_t attempt, EffectSettled record);
  void model_done(const EffectId& effect, std::uint32_t attempt, Result<ModelResponse> response);
  void tool_done(const EffectId& effect, std::uint32_t attempt, Result<ToolOutput> output);
  void cancel_effects();
  void settle_unstopped(std::vector<std::pair<EffectId, std::uint32_t>> effects);
  void settle_within(const CallId& call);
  void stop_outdated();
  bool is_outdated(const CallId& call);
  Event transient(EventBody body);
  static ToolOutcome outcome_of(const ToolCallPart& call, ToolOutput output);

  // Hooks (review.cpp).
  HookContext hook_context();
  AgentSpecPtr before_turn();
  bool hooks_for_turn();
  bool hooks_for_model(CallModel& decision);
  bool review_calls(const RunCalls& decision);
  void ask_hooks(std::vector<ToolCallPart> calls, std::shared_ptr<const Rules> judges);
  Review review(const Rules& rules, const ToolCallPart& call, const HookContext& context);
  std::shared_ptr<const Rules> rules();
  void run_call(const CallId& id);
  void give_in_its_place(const CallState& call, ToolOutput output);
  std::optional<std::string> asked_to_pause(const HookContext& context);
  void hooks_answered(HookContext asked, std::optional<std::string> pause, Task take);
  bool run_hook(std::string_view name, const std::function<void()>& hook);

  // People (people.cpp).
  void attend_people();
  void ask_person(const ParkedStep& step, std::shared_ptr<const ApprovalHandler> handler);
  void person_said(const ParkId& park, const std::stop_token& asked, std::optional<Approval> approval);
  bool attended() const;
  void leave_people();
  bool expire_parked();
  void watch_expiry();
  void arm_expiry();

  // The agent tree (family.cpp).
  bool heard_above(bool deltas) const;
  bool wants_deltas() const;
  void readers_changed();
  bool blocked(const CallState& call) const;
  bool waits_for_people();
  AgentResult waiting_result();
  std::vector<ParkedStep> pending_for_above();
  void tell_above(bool waits);
  void hold_clocks();
  void hand_back(const CallId& call);
  void drop_hand_backs();
  enum class Spending : std::uint8_t { kGranted, kHasToWait, kSpent };
  Spending spend_on(const Decision& decision);
  bool may_call();
  void out_of_budget(StopReason reason);
  Amount longest_answer();
  void settle_grant(const Active& call, EffectSettled& ended);
  void drop_idle_grant();
  Usage usage_in_doubt();
  std::chrono::milliseconds grace() const;

  const std::shared_ptr<Services> services_;
  const std::shared_ptr<const AgentDescription> agent_;
  const std::shared_ptr<Model> model_;
  const std::unique_ptr<Planner> planner_;
  const Lease lease_;
  const Origin origin_;
  std::vector<std::shared_ptr<const AgentDescription>> approvers_;  ///< with hooks that judge, root first
  Observers observers_;
  std::vector<std::shared_ptr<void>> agent_handlers_;

  Strand strand_;
  std::atomic<bool> usable_ = true;
  std::atomic<bool> collecting_ = false;   ///< somebody who follows the turn collects its events
  std::atomic<std::uint32_t> height_ = 0;  ///< levels of sub-agents below

  // All below belongs to the strand.
  std::unique_ptr<State> state_;  ///< empty while suspended: folded again from the journal when needed
  std::uint64_t durable_seq_ = 0;
  std::uint64_t opened_at_ = 0;  ///< `durable_seq_` when it came to life
  std::optional<Error> broken_;
  std::vector<PendingRecord> pending_;
  std::vector<InboxAnswer> answers_;  ///< to the messages that `pending_` carries out
  std::vector<AppendDone> waiters_;
  bool committing_ = false;
  bool winding_down_ = false;
  bool inherited_;  ///< the turn in progress is another process's, and nobody has carried it on yet
  std::map<EffectId, Active> active_;
  std::unique_ptr<ModelSession> model_session_;
  Readers readers_;
  std::vector<Task> rest_waiters_;
  Executor::TimerId deadline_ = 0;
  bool hook_running_ = false;
  bool turn_hooked_ = false;  ///< the hooks before the next queued turn have run
  std::unique_ptr<ModelHookResult> model_hook_;
  std::map<CallId, Review> reviews_;  ///< of step `reviewed_step_` alone: models may use a call id again
  std::uint32_t reviewed_step_ = 0;
  AgentSpecPtr rules_of_;
  std::shared_ptr<const Rules> rules_;  ///< those of `rules_of_` and of the agents above
  std::map<SessionId, Child> children_;
  std::map<CallId, std::vector<CallDone>> hand_backs_;  ///< who waits for calls within others
  bool retired_ = false;
  std::vector<Task> settle_waiters_;
  std::map<ParkId, Asked> asked_;
  UnixMillis expires_;  ///< when the first parked step runs out of time; 0: never
  Executor::TimerId expiry_ = 0;
  bool told_above_ = false;  ///< that this session waits for people
  std::shared_ptr<Budget> budget_;
  bool budget_known_ = false;
  std::optional<Budget::Grant> grant_;           ///< for the model call in progress
  std::unique_ptr<AgentRegistry::Place> place_;  ///< in the tree that is shown; empty before the first record
  InboxId inbox_taken_ = 0;  ///< the last message that was carried out; of `collect_inbox`
};

template <class F>
auto SessionActor::query(F work) -> std::invoke_result_t<F, const State&> {
  using R = std::invoke_result_t<F, const State&>;
  if (on_strand()) return work(state());
  std::promise<R> result;
  post([&] { result.set_value(work(state())); });
  return result.get_future().get();
}

}  // namespace praxis
