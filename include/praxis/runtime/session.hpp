// Handles on a session and on a running turn. Both are cheap to copy, thread-safe, and keep the session
// alive; dropping them cancels nothing.
#pragma once

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"
#include "praxis/domain/approval.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/runtime/hooks.hpp"
#include "praxis/runtime/subscription.hpp"
#include "praxis/runtime/text_stream.hpp"
#include "praxis/runtime/typed.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class SessionActor;
struct State;
class EventQueue;
class PromptSource;
class RunControl;

/// The structured answer of a turn that requested one. Error: that of the turn, or `kPolicy` while the turn
/// waits for an approver.
Result<Json> structured_of(const Result<AgentResult>& result);

/// A running turn: its events as a range, its result, and the operations on it.
class Run {
 public:
  Run(std::shared_ptr<SessionActor> actor, std::shared_ptr<EventQueue> events);
  /// A run that `control` acts on, such as that of a team.
  Run(std::shared_ptr<RunControl> control, std::shared_ptr<EventQueue> events);
  /// A run that could not start: no events, and `error` as its result.
  static Run failed(Error error);

  /// Input iterator over the events of the turn, from the first. Blocks until the next event; ends when the
  /// turn ends or is parked. Copies of a `Run` share one position.
  class Iterator {
   public:
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(EventQueue* events) : events_(events) { ++*this; }
    const Event& operator*() const { return *event_; }
    const Event* operator->() const { return &*event_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return event_ == nullptr; }

   private:
    EventQueue* events_;
    std::shared_ptr<const Event> event_;
  };
  Iterator begin() { return Iterator(events_.get()); }
  std::default_sentinel_t end() const { return {}; }

  /// The text alone of what the agent's model writes. Reads the same events as `begin`.
  TextStream text() const { return {events_, session_id()}; }

  /// The next event, as the range gives it, once it is there; nothing at the end and after `limit`.
  std::optional<Event> next(std::chrono::milliseconds limit);
  /// Waits for the result, at most `limit`; whether it is there.
  bool wait(std::chrono::milliseconds limit);
  /// Blocks until the turn has finished or waits for an approver (`pending` is not empty). Error: the turn
  /// could not run or did not finish (see `finished`).
  Result<AgentResult> result();
  /// The same with the whole report of every turn that ran, also of one that failed or was cancelled. Error:
  /// the turn could not run (journal failure, second message while running).
  Result<AgentResult> report();

  SessionId session_id() const;
  void steer(std::string text);    ///< reaches the model at the next safe boundary
  void enqueue(std::string text);  ///< becomes the next turn
  void interrupt();                ///< stop now
  void pause(std::string reason = {});
  void unpause();

 private:
  std::shared_ptr<RunControl> control_;  ///< null: the run could not start
  std::shared_ptr<EventQueue> events_;
};

/// One message of the conversation, with the usage of making it.
struct TurnView {
  MessagePtr message;
  Usage usage;
};

/// A conversation with an agent: each turn sees the earlier ones.
class Session {
 public:
  /// Called with the report of a turn.
  using TurnDone = std::move_only_function<void(Result<AgentResult>)>;

  explicit Session(std::shared_ptr<SessionActor> actor) : actor_(std::move(actor)) {}

  const SessionId& session_id() const;
  SessionStatus status() const;
  /// The conversation so far, even while a turn is running.
  std::vector<TurnView> turns() const;
  /// As the model sees it: what was cut or summarised is missing.
  History history() const;
  /// The whole conversation, also what was cut or summarised for the model since. Reads the log. Error
  /// `kJournal`.
  Result<Conversation> transcript() const;
  /// Cumulative over the session, with its sub-agents.
  Usage token_usage() const;
  /// Used part of the context window (`State::context_window`), 0 to 100; 0 when the window is unknown.
  int context_usage_percent() const;
  /// Used tokens and those of the whole window; the second is 0 if the window is unknown.
  std::pair<std::int64_t, std::int64_t> context_usage() const;
  /// A copy of the state (`praxis/core/state.hpp`): what the log folds to now, the agent and the conversation
  /// among it.
  State state() const;
  /// The result of the last turn, or the known part of the result of a running turn.
  AgentResult last_result() const;
  std::string comment() const;
  /// The servers with prompts for the user of the agent.
  std::vector<std::shared_ptr<PromptSource>> prompt_sources() const;

  /// Adds a user message without starting a turn. Error `kInput` while a turn is running.
  Status add_user_turn(std::string text);
  /// Starts a turn. While another is running, the run's only event is `turn.failed` and its result is the
  /// error.
  /// `stop` interrupts the turn, also after the run has been dropped.
  Run send_user_message(std::string text, std::stop_token stop = {});
  /// With `output_schema`, a JSON Schema, the answer must be JSON that follows it; `AgentResult::structured`
  /// is its value. The model gets two chances to correct an invalid answer before the turn fails.
  Run send(Message message, Json output_schema = nullptr, std::stop_token stop = {});
  /// Starts a turn on the messages added so far.
  Run run(std::stop_token stop = {});
  /// Runs one turn from start to end; `stop` interrupts it. Error: the turn did not finish, as
  /// `Run::result`.
  Result<AgentResult> ask(std::string text, std::stop_token stop = {}, Json output_schema = nullptr);
  /// Runs one turn whose answer is a `T`, described with PRAXIS_FIELDS.
  template <DescribedStruct T>
  Result<Typed<T>> ask(std::string text, std::stop_token stop = {}) {
    return typed<T>(ask(std::move(text), stop, schema_of<T>()));
  }
  /// Runs one turn without blocking a thread: `done` is called once, on the session's strand, with what the
  /// blocking `ask` returns, and must return soon.
  void ask(std::string text, std::move_only_function<void(Result<AgentResult>)> done);
  /// Starts a turn as `send` does, without blocking a thread and without collecting its events: `done` is
  /// called once the turn has ended or waits for an approver, on the session's strand, and must return soon.
  /// An error is that of `Run::report`.
  void send(Message message, Json output_schema, TurnDone done);
  /// The same for `resume` without approvals.
  void resume(TurnDone done);
  /// Resumes a turn that was parked or cut off by a crash, with approvals (as `decide` accepts them) of
  /// parked steps, or else begins the turn of the first queued message. Applies all approvals or, if one is
  /// invalid, none. Error `kInput`: there is no such turn.
  Run resume(const Approvals& approvals = {}, const Author& author = person_by_library());

  /// Decides a parked step of this session or, by an id such as `<session>/p1`, of one below it, also when
  /// that is idle or another process runs it. Error `kInput` when `park` is not open (the id of a step is
  /// never used again), or does not accept this approval. The turn then continues automatically.
  Status decide(const ParkId& park, Approval approval, Author author = person_by_library());
  /// The same as `decide(park, praxis::answer(text), author)`.
  Status answer(const ParkId& park, std::string text, Author author = person_by_library());

  void steer(std::string text);
  void enqueue(std::string text);
  std::size_t queued() const;  ///< messages from `enqueue` whose turn has not begun
  /// Messages that the model has not got, those for the next step first.
  std::vector<WaitingMessage> waiting() const;
  /// Takes a waiting message back. Error `kInput`: it does not wait, because the model has it, for example.
  Status withdraw(std::uint64_t message);
  /// Puts a waiting message before another one of its kind. Error as `withdraw`.
  Status move(std::uint64_t message, std::uint64_t before);
  Status compact();  ///< summarises older messages before the next model call
  void interrupt();
  void pause(std::string reason = {});
  void unpause();  ///< undoes `pause`; `resume` continues a turn
  void annotate(std::string comment);
  /// Gives the agent a new task from the next safe boundary on. Error `kInput`: the agent was deleted, or has
  /// ended.
  Status modify(std::string content);
  /// Stops the agent and all agents below it permanently: the turn ends as deleted and no other can start.
  /// Error as `modify`.
  Status remove();
  /// Returns the conversation to the state before `turn`. Error `kInput`: a turn is running, or `turn` is
  /// unknown.
  Status rewind(const TurnId& turn);

  /// Releases the session, so that it can be opened again with another agent or by another process. Its
  /// handles become unusable. Error `kInput` while a turn is running.
  Status close();

  /// Publishes a transient event of the program to the observers and readers of this session and of those
  /// above it. Error `kInput`: see `check_event_name`.
  Status emit(std::string name, Json payload);
  /// Subscribes to the events that match `pattern` (see `selects`) until the returned object is destroyed.
  /// Throws `std::invalid_argument` if no event can ever match (`check_pattern`).
  Subscription on(std::string pattern, EventHandler handler);

 private:
  friend class Team;
  std::shared_ptr<SessionActor> actor_;
};

}  // namespace praxis
#pragma GCC visibility pop
