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

#include "praxis/core/next.hpp"
#include "praxis/runtime/session.hpp"
#include "runtime/services.hpp"

namespace praxis {

class SessionActor : public std::enable_shared_from_this<SessionActor> {
 public:
  SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
               std::shared_ptr<Model> model, std::unique_ptr<Planner> planner, Lease lease, State state);
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
  /// Starts a turn with these messages (none: on what the conversation holds) whose answer has to fit
  /// `output_schema` unless that is null; `events` gets it all. Hooks that come before a turn run on the
  /// calling thread.
  void start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                  Json output_schema = nullptr);
  /// Attaches `events` to the turn in progress, beside those that follow it already, records inputs and
  /// carries it on.
  void carry_on(std::shared_ptr<EventQueue> events, Inputs inputs);
  /// Asks everything to stop: at once for effects under way, then in the log. With `turn`, only while that is
  /// what the turn in progress reports to.
  void interrupt(std::shared_ptr<EventQueue> turn = nullptr);
  void intervene(Intervention kind, std::string text);
  /// Interrupts the turn in progress, unless it waits for a person, and begins no queued one.
  void wind_down();
  /// Calls `done` once no turn is in progress, or nothing can come of the one that is.
  void when_at_rest(Task done);
  /// Stops without a word to the journal, as if the process had died: what is under way stays in doubt.
  void abandon();
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
  };
  /// Who follows the turn in progress.
  using Readers = std::vector<std::shared_ptr<EventQueue>>;
  struct PendingRecord {
    Record record;
    Readers readers;  ///< at that time: when the record is durable, another turn may have begun
    std::vector<Event> events;
    std::optional<AgentResult> result;  ///< of the turn that this record settles
  };
  /// What rules and hooks said of one call.
  struct Review {
    Verdict verdict;                       ///< no `Edit`
    std::optional<std::string> arguments;  ///< to run with instead
    std::optional<ToolOutput> result;      ///< given in the tool's place
    std::string by;                        ///< `policy` or `hook`
  };
  class ModelCallSink;

  // The driver loop (session_actor.cpp).
  State& state();
  void lose_state(Error error);
  bool record(RecordBody body);
  void advance();
  bool carry_out(Decision decision);
  void commit();
  void committed(std::vector<PendingRecord> records, std::vector<AppendDone> waiters,
                 Result<std::uint64_t> done);
  void settle_waiting();
  void notify_rest();
  void finish_turn(AgentResult result, Readers readers);
  void recover();
  bool on_strand() const { return strand_thread_.load() == std::this_thread::get_id(); }
  void broken(Error error);
  void arm_deadline();
  void disarm_deadline();
  void publish(const Event& event, const Readers& readers);
  static void finish(const Readers& readers, const Result<AgentResult>& result);
  bool want_any() const;
  void suspend();
  HookContext hook_context();

  // Effects (perform.cpp).
  void perform(const EffectIntended& intent);
  void perform_model(const EffectIntended& intent);
  void start_model(const EffectIntended& intent);
  void perform_tool(const EffectIntended& intent);
  ToolContext tool_context(const EffectIntended& intent, Millis limit);
  void limit_tool(const EffectIntended& intent, Millis limit, bool repeatable);
  void perform_timer(const EffectIntended& intent);
  Active* active(const EffectId& effect, std::uint32_t attempt);
  void settled(const EffectId& effect, std::uint32_t attempt, EffectSettled record);
  void model_done(const EffectId& effect, std::uint32_t attempt, Result<ModelResponse> response);
  void tool_done(const EffectId& effect, std::uint32_t attempt, Result<ToolOutput> output);
  void cancel_effects();
  Event transient(EventBody body);
  static ToolOutcome outcome_of(const ToolCallPart& call, ToolOutput output);

  // Hooks (review.cpp).
  AgentSpecPtr before_turn();
  bool hooks_for_turn();
  bool hooks_for_model(CallModel& decision);
  bool review_calls(const RunCalls& decision);
  void ask_hooks(std::vector<ToolCallPart> calls);
  Review review(const AgentSpec& agent, const ToolCallPart& call, const HookContext& context);
  void run_call(const CallId& id);
  std::optional<std::string> asked_to_pause(const HookContext& context);
  void hooks_answered(HookContext asked, std::optional<std::string> pause, Task take);
  bool run_hook(std::string_view name, const std::function<void()>& hook);

  const std::shared_ptr<Services> services_;
  const std::shared_ptr<const AgentDescription> agent_;
  const std::shared_ptr<Model> model_;
  const std::unique_ptr<Planner> planner_;
  const Lease lease_;
  Observers observers_;
  std::vector<std::shared_ptr<void>> agent_handlers_;

  Strand strand_;
  std::atomic<std::thread::id> strand_thread_;
  std::atomic<bool> usable_ = true;

  // All below belongs to the strand.
  std::optional<State> state_;  ///< empty while suspended: folded again from the journal when needed
  std::uint64_t durable_seq_ = 0;
  std::optional<Error> broken_;
  std::vector<PendingRecord> pending_;
  std::vector<AppendDone> waiters_;
  bool committing_ = false;
  bool winding_down_ = false;
  std::map<EffectId, Active> active_;
  std::unique_ptr<ModelSession> model_session_;
  Readers readers_;
  std::vector<Task> rest_waiters_;
  Executor::TimerId deadline_ = 0;
  bool hook_running_ = false;
  bool turn_hooked_ = false;  ///< the hooks before the next queued turn have run
  std::optional<ModelHookResult> model_hook_;
  std::map<CallId, Review> reviews_;  ///< of step `reviewed_step_` alone: models may use a call id again
  std::uint32_t reviewed_step_ = 0;
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
