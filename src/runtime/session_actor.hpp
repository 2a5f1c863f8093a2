// One active session: the shell around its turn driver (driver/turn_driver.hpp). It runs the driver on a
// strand, passes it inputs and carries out its actions: appends to the journal, model and tool calls, timers,
// hooks, approvals, events, and messages to the session above. The driver decides; this class never does.
// Public methods may be called from any thread.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/turn_driver.hpp"
#include "policy/filters.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/session.hpp"
#include "runtime/budget.hpp"
#include "runtime/offered_tools.hpp"
#include "runtime/parent_link.hpp"
#include "runtime/services.hpp"
#include "runtime/tokens.hpp"

namespace praxis {

class RequestFilter;

class SessionActor final : public ParentLink, public std::enable_shared_from_this<SessionActor> {
 public:
  SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
               std::shared_ptr<Model> model, std::shared_ptr<const Planner> planner, Lease lease, State state,
               Origin origin);
  ~SessionActor() override;

  const SessionId& id() const { return lease_.session; }
  Observers& observers() { return observers_; }
  const std::shared_ptr<Services>& services() const { return services_; }
  const std::shared_ptr<const AgentDescription>& description() const { return agent_; }
  /// The agent's tools and those that its sources gave last. Safe on any thread.
  std::shared_ptr<const ToolSet> tools() const;
  /// The model of this session; null for an agent that only follows a plan.
  const std::shared_ptr<Model>& model() const { return model_; }
  /// For whom the session works: the author of commands through handles that name none.
  const Author& principal() const { return origin_.scope->principal; }
  /// The session whose call created this one; null for a root. Lives as long as this actor.
  const ParentLink* above() const { return origin_.above.get(); }
  /// False once the journal failed or the session was abandoned: it does nothing more in this process.
  bool usable() const override { return usable_; }

  /// Returns a pointer to this actor that keeps the runtime too. From now on the actor also does so itself
  /// while it works: a program that drops its handles stops no turn.
  std::shared_ptr<SessionActor> handle_with(std::shared_ptr<Runtime> runtime);

  /// Runs `work` on the strand: at once when the strand is free, else later.
  void post(Task work);
  /// Runs `work` on the strand with the state and waits for its result. Runs it at once on the strand itself.
  template <class F>
  auto query(F work) -> std::invoke_result_t<F, const State&>;
  /// The status of the session, which includes steps of sub-agents that wait for an approval.
  SessionStatus status();

  // ---- requests of callers (session_actor.cpp)

  /// Returns the records to append for a given state, or the error that refuses the request.
  using Inputs = std::function<Result<std::vector<RecordBody>>(const State&)>;
  /// Records `inputs`, continues the loop, and waits until they are durable.
  Status submit(Inputs inputs);
  /// Records the first record of a new session. It becomes durable with the first input, or when a root is
  /// closed or its last handle is dropped.
  void begin(RecordBody created);
  /// Starts a turn with `messages`, or on the conversation as it stands when they are empty. The answer has
  /// to match `output_schema` unless that is null. `events` gets the events and the result. The hooks on
  /// outgoing messages and `before_turn` run on the calling thread.
  void start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                  Json output_schema = nullptr);
  /// Attaches `events` to the turn in progress next to its other readers, records `inputs` and resumes the
  /// turn. With `may_be_over`, a turn that has ended in the meantime gives its result instead of an error.
  void resume(std::shared_ptr<EventQueue> events, Inputs inputs, bool may_be_over = false);
  /// Interrupts the turn in progress: stops running effects at once, then records it. With `turn`, only if
  /// that queue reads the turn in progress. The author of this and of `command` is `principal()`.
  void interrupt(std::shared_ptr<EventQueue> turn = nullptr);
  void command(CommandVerb verb, std::string text);
  /// Interrupts the turn in progress unless it waits for an approval, and starts no queued turn.
  void wind_down();
  /// Calls `done` once no turn is in progress, or the one in progress cannot continue without input.
  void when_at_rest(Task done);
  /// Calls `done` once no turn is in progress.
  void when_settled(Task done);
  /// Lets no turn start or resume in this process: the call that created this session is over.
  void retire();
  /// Stops without writing to the journal, as if the process had died: running effects stay in doubt.
  void abandon();
  /// Our machinery failed on behalf of this session: it gives up, and with it all sessions above and below.
  /// Results that are posted later are not recorded.
  void fault(Error why) { post_input(driver::Faulted{std::move(why)}); }
  /// Another approval handler was set. Offers it the steps that wait.
  void people_changed();

  // ---- commands and approvals across the tree (commands_across.cpp)

  /// Carries out a request from outside and waits until it is durable. Error `kInput` says why it is refused.
  /// Hooks on outgoing messages run on the calling thread.
  Status carry_out(InboxRequest request);
  /// Decides a step of this session or of any session below it.
  Status decide(StepApproval step);
  /// Checks all decisions, then makes those for sessions below. Returns the remaining ones, which are for
  /// this session.
  Result<Approvals> decide_below(const Approvals& approvals, const Author& author);
  /// Carries out and answers the requests that reached the inbox since the last call. Called by one thread at
  /// a time.
  void collect_inbox();
  // ---- the agent tree (session_tree.cpp)

  /// Adds a session that was read from the journal to the agent tree.
  void appear(UnixMillis created, UnixMillis updated);
  /// Publishes an event of the whole runtime to the observers and readers of this session alone.
  void hear_host(std::shared_ptr<const Event> event);
  /// Publishes a transient event of this session.
  void emit(EventBody body);
  /// The session as its sub-agents know it.
  const Lease& lease() const override { return lease_; }
  SessionId root() const override { return origin_.above ? origin_.above->root() : id(); }
  const std::vector<std::shared_ptr<const AgentDescription>>& approvers() const override {
    return approvers_;
  }
  Place place() override;
  bool hears(bool deltas) const override;
  void tell(driver::ChildNews news) override;
  void overhear(std::shared_ptr<const Event> event) override;
  void forget_step(ParkId id, Task done) override;
  void reach_down(std::uint32_t height) override;
  /// A sub-agent of a call: its id and its depth in the tree.
  struct Claim {
    SessionId id;
    std::uint32_t depth = 0;
    LiveSessions::Announcement announced = {};  ///< of a new one
  };
  /// Returns the sub-agent that `call` created under `key`, or a new one. Records a new one first and waits
  /// until that is durable. Error when the call is no longer running.
  Result<Claim> claim_child(const CallId& call, const std::string& agent, const std::string& key);
  /// Returns the scope of the running call `call`, for a sub-agent of it. `by` has the bounds of the call;
  /// the session adds its own. Error `kJournal`: the log cannot be read.
  Result<Scope> scope_of_call(const CallId& call, Narrowing by);
  /// Whether the call that created this session was stopped.
  bool cancelled_above() const { return origin_.scope->cancellation.stop_requested(); }
  /// Reports the end of the last turn to the session above, whose process may have died before it recorded
  /// that.
  void report_last_turn();
  /// The budget of the turn in progress, below those of the sessions above; null when nothing is limited.
  std::shared_ptr<Budget> budget();
  /// Proposes a call within the running call `within`, unless the log already holds one with this key. `done`
  /// gets its result on the strand, or an error when `within` is no longer running.
  using CallDone = std::move_only_function<void(Result<ToolOutput>)>;
  void propose_within(const CallId& within, ToolCallPart call, std::string key, CallDone done);
  /// Publishes progress that the handler of a running call reports.
  void report_progress(const CallId& call, std::string text, std::optional<double> fraction) {
    post_input(driver::ToolReported{call, std::move(text), fraction});
  }
  /// Asks the effects of calls within `call` to stop.
  void stop_within(const CallId& call);

  /// A user message as the hooks want it stored, and the caller's if they changed it; else null.
  struct Outgoing {
    Message message;
    MessagePtr original;
    std::optional<records::Decided> decided = {};  ///< what content filters did to it
    /// Error `kPolicy` if a filter denies the message: only `decided` is recorded.
    Status allowed() const;
  };
  /// Runs the content filters, then the hooks, on the calling thread (hook_calls.cpp).
  Outgoing outgoing(Message message);
  /// A result as callers see it, by the filters at `kShown`. What a sub-agent gives to the call above is not
  /// shown.
  AgentResult shown(AgentResult result);
  /// The text of a user message as the content filters let it into the log.
  std::string filtered(std::string text);

 private:
  class ModelCallSink;
  struct ToolRun;
  /// An effect in progress.
  struct Running {
    std::stop_source stop;
    std::shared_ptr<std::atomic<std::size_t>>
        arrived;  ///< bytes of the answer of a model so far; null for tools
  };

  // The driver and its inputs.
  const State& state();
  void feed(driver::Input&& input);
  void drain();
  driver::Moment moment();
  bool on_strand() const { return strand_.runs_here(); }
  /// As `post`, but always from the event loop, which runs the work on the strand.
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
  AgentResult last_reported();

  // Actions of the driver (session_actions.cpp).
  void perform(driver::AppendRecords& action);
  void perform(driver::AwaitActions& action);
  void perform(driver::StartModel& action);
  void ask_filtered(ModelRequest request, const std::shared_ptr<ModelCallSink>& sink, std::stop_token stop,
                    const filters::FilterSetPtr& filters);
  void perform(driver::StartTool& action);
  void perform(driver::StopEffect& action);
  void perform(driver::DropEffect& action);
  void perform(driver::ArmTimer& action);
  void perform(driver::DisarmTimer& action);
  void perform(driver::AskHooks& action);
  void perform(driver::AskAfterTurn& action);
  void perform(driver::AskPerson& action);
  void perform(driver::WithdrawQuestion& action);
  void perform(driver::Publish& action);
  void perform(driver::FinishTurn& action);
  void perform(driver::FinishReaders& action);
  void perform(driver::ReadersChanged& action);
  void perform(driver::ShowSession& action);
  void perform(driver::TellParent& action);
  void perform(driver::CloseLeft& action);
  void perform(driver::AnswerWaiter& action);
  void perform(driver::HandBack& action);
  void perform(driver::ReserveBudget& action);
  void perform(driver::ExtendBudget& action);
  void perform(driver::SettleBudget& action);
  void perform(driver::CloseBudget& action);
  void spend_unrecorded(const records::ChildSettled& settled);
  void perform(driver::GiveUp& action);

  // Events.
  void publish(const Event& event);
  void send(const Event& event);
  const redact::Redaction& shown_by();
  Event transient(EventBody body);
  void publish_status();
  void find_readers();
  std::vector<std::shared_ptr<EventQueue>> take_readers(const driver::Readers& readers);
  bool heard_above(bool deltas) const;
  bool wants_deltas() const;
  EventKinds wanted() const;
  void show(SessionStatus status, std::optional<UnixMillis> updated, bool sleeps = false);

  // Effects, hooks and approvals (perform.cpp, hook_calls.cpp, people.cpp).
  ToolContext tool_context(driver::StartTool& action);
  void run_tool(const std::shared_ptr<ToolRun>& run);
  void end_tool(ToolRun& run, Result<ToolOutput> output);
  std::optional<Error> denied_by_model(ToolRun& run);
  std::string filter_result(ToolRun& run, Result<ToolOutput>& output);
  HookContext hook_context();
  bool run_hook(std::string_view name, const std::function<void()>& hook);
  AgentSpecPtr before_turn();
  void after_model(const HookContext& context, const ModelResponse& response);
  void after_tool(const HookContext& context, const ToolCallPart& call, Result<ToolOutput>& output);
  std::shared_ptr<const ToolSet> tools_for_call();
  bool ask_tool_sources();
  std::vector<Tool> offered_of_sources(const std::vector<std::vector<Tool>>& given);
  AgentSpecPtr tools_of_sources();
  driver::ModelAdvice before_model(const HookContext& context, const History& history);
  driver::Review review(const driver::Rules& rules, const ToolCallPart& call, const HookContext& context);
  void give(driver::Review& review, const ToolCallPart& call, ToolOutput mocked, const HookContext& context);
  std::optional<std::string> asked_to_pause(const HookContext& context);
  void person_said(driver::Token question, const ParkId& step, std::optional<Approval> approval);

  // Commands across the tree (commands_across.cpp).
  Status run_outgoing_hooks(InboxRequest& request, std::vector<RecordBody>& decided);
  Status refuse_message(records::Decided decided);
  Outgoing hooked(Message message);
  std::optional<records::Decided> filter(Message& message);
  void carry_out(const InboxMessage& message);
  Status check_below(const SessionId& session);
  Status check_approval(const StepApproval& step);
  Status approve_below(const StepApproval& step, Task done);

  const std::shared_ptr<Services> services_;
  const std::shared_ptr<const AgentDescription> agent_;
  const std::shared_ptr<Model> model_;
  const Lease lease_;
  const Origin origin_;
  std::vector<std::shared_ptr<const AgentDescription>>
      approvers_;  ///< agents with approval hooks, root first
  Observers observers_;
  std::vector<std::shared_ptr<void>> agent_handlers_;

  mutable std::mutex tools_mutex_;
  std::shared_ptr<const ToolSet> tools_;  ///< with those of the agent's sources; null: never asked them
  std::vector<std::vector<Tool>> given_;  ///< what each source of the agent gave last

  Strand strand_;
  std::atomic<bool> usable_ = true;
  std::atomic<bool> keeps_runtime_ = false;  ///< while it works
  std::atomic<bool> collecting_ = false;     ///< a reader of the turn collects its events
  std::atomic<std::uint32_t> height_ = 0;    ///< levels of sub-agents below

  // Everything below is used on the strand only.
  std::shared_ptr<Runtime> kept_runtime_;  ///< null: nothing to do, or `keeps_runtime_` is false
  driver::TurnDriver driver_;
  driver::Actions actions_;     ///< to be carried out
  driver::Actions performing_;  ///< being carried out
  bool draining_ = false;
  Tokens<std::shared_ptr<EventQueue>> readers_;
  std::vector<std::shared_ptr<EventQueue>> following_;  ///< the readers of the turn in progress
  Tokens<AppendDone> waiters_;
  Tokens<CallDone> callers_;
  Tokens<Executor::TimerId> timers_;
  Tokens<std::stop_source> questions_;
  Tokens<Budget::Grant> grants_;
  std::map<EffectId, Running> effects_;
  std::shared_ptr<std::atomic<std::size_t>> arrived_;  ///< bytes received by the last model call
  std::unique_ptr<ModelSession> model_session_;
  std::weak_ptr<const AgentSpec> shown_of_;
  redact::Redaction shown_by_;                     ///< the filters at `kShown` of `shown_of_`
  std::shared_ptr<RequestFilter> request_filter_;  ///< null until a request is filtered
  OfferedTools offered_;
  std::unique_ptr<AgentResult> reported_;  ///< of the last turn, if hooks after it may have changed it
  std::shared_ptr<Budget> budget_;
  bool budget_known_ = false;
  std::unique_ptr<AgentRegistry::Place> place_;  ///< in the agent tree; empty before the first record
  /// Not yet published: it follows the events that explain it, but precedes the end of a turn.
  std::unique_ptr<events::AgentStatus> status_change_;
  InboxId inbox_taken_ = 0;  ///< the last message carried out; used by `collect_inbox`
};

/// Returns a tool's output in the form that is recorded: valid UTF-8 of bounded length.
ToolOutcome outcome_of(const ToolCallPart& call, ToolOutput output);
/// The same for a call that may have failed.
Result<ToolOutcome> outcome_of(const ToolCallPart& call, Result<ToolOutput> output);
/// What the call gave before hooks made `after` of it; null if they changed nothing.
std::shared_ptr<const records::ToolOriginal> original_of(const Result<ToolOutcome>& before,
                                                         const Result<ToolOutcome>& after);

template <class F>
auto SessionActor::query(F work) -> std::invoke_result_t<F, const State&> {
  using R = std::invoke_result_t<F, const State&>;
  if (on_strand()) return work(state());
  std::promise<R> result;
  post([&] { result.set_value(work(state())); });
  return result.get_future().get();
}

}  // namespace praxis
