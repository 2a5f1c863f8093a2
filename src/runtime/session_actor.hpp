// One session while it is active: the shell around its turn driver (driver/turn_driver.hpp). It keeps the
// driver on a strand, hands it what happens, and carries out what it says: appends to the journal, model and
// tool calls, timers, hooks, people, events, and messages to the session above. What to do is decided there,
// never here. Public methods may be called from any thread.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/turn_driver.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/session.hpp"
#include "runtime/budget.hpp"
#include "runtime/services.hpp"
#include "runtime/tokens.hpp"

namespace praxis {

class SessionActor : public std::enable_shared_from_this<SessionActor> {
 public:
  SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
               std::shared_ptr<Model> model, std::unique_ptr<Planner> planner, Lease lease, State state,
               Origin origin);
  ~SessionActor();

  const SessionId& id() const { return lease_.session; }
  Observers& observers() { return observers_; }
  const std::shared_ptr<Services>& services() const { return services_; }
  const std::shared_ptr<const AgentDescription>& description() const { return agent_; }
  /// The model that this session asks; null for an agent that only follows a plan.
  const std::shared_ptr<Model>& model() const { return model_; }
  /// False once the journal failed or the runtime went away: nothing more will be done here.
  bool usable() const { return usable_; }

  /// Runs `work` on the strand, now or soon.
  void post(Task work);
  /// Runs `work` on the strand with the state and waits for its result; at once when already on the strand.
  template <class F>
  auto query(F work) -> std::invoke_result_t<F, const State&>;
  /// Where the session stands, with what its sub-agents wait for.
  SessionStatus status();

  // ---- what callers want (session_actor.cpp)

  /// What to record, given the state; an error refuses it.
  using Inputs = std::function<Result<std::vector<RecordBody>>(const State&)>;
  /// Records inputs, continues the loop, and waits until they are durable.
  Status submit(Inputs inputs);
  /// Records the first fact of a new session, and does not wait for it.
  void begin(RecordBody created);
  /// Starts a turn with these messages (if empty: on what the conversation holds) whose answer has to fit
  /// `output_schema` unless that is null; `events` gets it all. Hooks that come before a turn run on the
  /// calling thread.
  void start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                  Json output_schema = nullptr);
  /// Attaches `events` to the turn in progress, next to those that follow it already, records inputs and
  /// resumes it. When `may_be_over`, a turn that has ended in the meantime gives its result instead of an
  /// error.
  void resume(std::shared_ptr<EventQueue> events, Inputs inputs, bool may_be_over = false);
  /// Asks everything to stop: at once for effects under way, then in the log. With `turn`, only while that is
  /// what the turn in progress reports to.
  void interrupt(std::shared_ptr<EventQueue> turn = nullptr, Author author = by_library());
  void command(CommandVerb verb, std::string text, Author author = by_library());
  /// Interrupts the turn in progress, unless it waits for people, and begins no queued one.
  void wind_down();
  /// Calls `done` once no turn is in progress, or nothing can come of the one that is.
  void when_at_rest(Task done);
  /// Calls `done` once no turn is in progress.
  void when_settled(Task done);
  /// No turn begins or continues here any more: the call that made this session is over.
  void retire();
  /// Stops without a word to the journal, as if the process had died: what is under way stays in doubt.
  void abandon();
  /// Another handler decides for people from now on: what waits is put to it.
  void people_changed();

  // ---- commands and approvals across the tree (commands_across.cpp)

  /// Carries out a request from outside and waits until it is durable. Error `kInput` says why it cannot be
  /// carried out. Hooks on outgoing messages run on the calling thread.
  Status carry_out(InboxRequest request);
  /// Decides a step of this session or of one below it, wherever that is.
  Status decide(StepApproval step);
  /// Checks all of these decisions, then makes those on steps of sessions below; gives back the rest.
  Result<Approvals> decide_below(const Approvals& approvals, const Author& author);
  /// Carries out the requests that came to the inbox since the last call, and answers them. Called by one
  /// thread at a time.
  void collect_inbox();
  /// A step of a session below is decided. `done` once all above know.
  void forget_step(ParkId id, Task done);

  // ---- the agent tree (session_tree.cpp)

  /// Shows a session from the journal in the agent tree.
  void appear(UnixMillis created, UnixMillis updated);
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
  /// The session above learns how the last turn here ended, in case its process died before it did.
  void report_last_turn();
  /// What the turn in progress may spend together with those above; null when nothing is bounded.
  std::shared_ptr<Budget> budget();
  /// Proposes a call within the running call `within`, unless one with this key is there already; `done` gets
  /// its result, or an error when `within` no longer runs, on the strand.
  using CallDone = std::move_only_function<void(Result<ToolOutput>)>;
  void propose_within(const CallId& within, ToolCallPart call, std::string key, CallDone done);
  /// Publishes what the handler of a running call reports.
  void report_progress(const CallId& call, std::string text, std::optional<double> fraction) {
    post_input(driver::ToolReported{call, std::move(text), fraction});
  }
  /// Asks the effects of calls within `call` to stop.
  void stop_within(const CallId& call);

  /// What a user said as hooks want it stored; runs them on the calling thread (hook_calls.cpp).
  Message outgoing(Message message);

 private:
  class ModelCallSink;
  /// An effect under way.
  struct Running {
    std::stop_source stop;
    std::shared_ptr<std::atomic<std::size_t>> arrived;  ///< bytes of a model's answer so far; null for tools
  };

  // The driver and its inputs.
  const State& state();
  void feed(driver::Input&& input);
  void drain();
  driver::Moment moment();
  bool on_strand() const { return strand_.runs_here(); }
  /// As `post`, but the event loop takes the work to the strand, from any thread.
  void post_from_loop(Task work);
  template <class Input>
  void post_input(Input input) {
    post([this, input = std::move(input)]() mutable { feed(std::move(input)); });
  }
  driver::Reader follow(std::shared_ptr<EventQueue> events);
  driver::Token wait(AppendDone done) { return waiters_.add(std::move(done)); }
  driver::Token wait(Task done);
  bool expire();
  void finish_over(std::shared_ptr<EventQueue> events);

  // What the driver says (session_actions.cpp).
  void perform(driver::AppendRecords& action);
  void perform(driver::AwaitActions& action);
  void perform(driver::StartModel& action);
  void perform(driver::StartTool& action);
  void perform(driver::StopEffect& action);
  void perform(driver::DropEffect& action);
  void perform(driver::ArmTimer& action);
  void perform(driver::DisarmTimer& action);
  void perform(driver::AskHooks& action);
  void perform(driver::AskPerson& action);
  void perform(driver::WithdrawQuestion& action);
  void perform(driver::Publish& action);
  void perform(driver::FinishTurn& action);
  void perform(driver::FinishReaders& action);
  void perform(driver::ReadersChanged& action);
  void perform(driver::ShowSession& action);
  void perform(driver::TellParent& action);
  void perform(driver::AnswerWaiter& action);
  void perform(driver::HandBack& action);
  void perform(driver::ReserveBudget& action);
  void perform(driver::SettleBudget& action);
  void perform(driver::CloseBudget& action);
  void perform(driver::GiveUp& action);

  // Events.
  void publish(const Event& event);
  void find_readers();
  std::vector<std::shared_ptr<EventQueue>> take_readers(const driver::Readers& readers);
  bool heard_above(bool deltas) const;
  bool wants_deltas() const;
  EventKinds wanted() const;
  void show(SessionStatus status, std::optional<UnixMillis> updated);

  // Effects, hooks and people (perform.cpp, hook_calls.cpp, people.cpp).
  ToolContext tool_context(driver::StartTool& action);
  HookContext hook_context();
  bool run_hook(std::string_view name, const std::function<void()>& hook);
  AgentSpecPtr before_turn();
  driver::ModelAdvice before_model(const HookContext& context, const History& history);
  driver::Review review(const driver::Rules& rules, const ToolCallPart& call, const HookContext& context);
  std::optional<std::string> asked_to_pause(const HookContext& context);
  void person_said(driver::Token question, const ParkId& step, std::optional<Approval> approval);

  // Commands across the tree (commands_across.cpp).
  void run_outgoing_hooks(InboxRequest& request);
  void carry_out(const InboxMessage& message);
  Status check_below(const SessionId& session);
  Status check_approval(const StepApproval& step);
  Status approve_below(const StepApproval& step, Task done);

  const std::shared_ptr<Services> services_;
  const std::shared_ptr<const AgentDescription> agent_;
  const std::shared_ptr<Model> model_;
  const Lease lease_;
  const Origin origin_;
  std::vector<std::shared_ptr<const AgentDescription>> approvers_;  ///< with hooks that judge, root first
  Observers observers_;
  std::vector<std::shared_ptr<void>> agent_handlers_;

  Strand strand_;
  std::atomic<bool> usable_ = true;
  std::atomic<bool> collecting_ = false;   ///< a reader of the turn collects its events
  std::atomic<std::uint32_t> height_ = 0;  ///< levels of sub-agents below

  // All below belongs to the strand.
  driver::TurnDriver driver_;
  driver::Actions actions_;     ///< to be carried out
  driver::Actions performing_;  ///< being carried out
  bool draining_ = false;
  Tokens<std::shared_ptr<EventQueue>> readers_;
  std::vector<std::shared_ptr<EventQueue>> following_;  ///< those of the turn in progress
  Tokens<AppendDone> waiters_;
  Tokens<CallDone> callers_;
  Tokens<Executor::TimerId> timers_;
  Tokens<std::stop_source> questions_;
  Tokens<Budget::Grant> grants_;
  std::map<EffectId, Running> effects_;
  std::shared_ptr<std::atomic<std::size_t>> arrived_;  ///< of the last model call
  std::unique_ptr<ModelSession> model_session_;
  std::shared_ptr<Budget> budget_;
  bool budget_known_ = false;
  std::unique_ptr<AgentRegistry::Place> place_;  ///< in the tree that is shown; empty before the first record
  InboxId inbox_taken_ = 0;  ///< the last message that was carried out; of `collect_inbox`
};

/// A tool's output in the form that is recorded: valid UTF-8 of bounded length.
ToolOutcome outcome_of(const ToolCallPart& call, ToolOutput output);

template <class F>
auto SessionActor::query(F work) -> std::invoke_result_t<F, const State&> {
  using R = std::invoke_result_t<F, const State&>;
  if (on_strand()) return work(state());
  std::promise<R> result;
  post([&] { result.set_value(work(state())); });
  return result.get_future().get();
}

}  // namespace praxis
