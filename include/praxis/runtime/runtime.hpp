// A runtime holds the sessions of one process, with their journal, threads, clock and network. It also offers
// operations on logs that need no running session: list, fork, replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/journal/journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/session.hpp"
#include "praxis/runtime/team.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Configuration of a runtime; null members get defaults.
struct RuntimeOptions {
  std::shared_ptr<Journal> journal;          ///< default: in memory
  std::shared_ptr<Environment> environment;  ///< default: the system's clock and random numbers
  std::shared_ptr<Executor> executor;
  std::shared_ptr<HttpClient>
      http;  ///< without the component `http` it stays null, and models of vendors fail
  std::shared_ptr<const Catalog> catalog;  ///< facts about providers and models; null: the built-in catalogue
  /// The program's own model providers by name: `house` serves `house:big`.
  ModelProviders providers;
  /// For whom the sessions work: the author of commands through `Session`, `Run` and `Team`.
  Author principal = by_library();
  /// Instructions for every agent, sent before its own and recorded with its description.
  std::string instructions;
  /// How long calls of models wait for the network. Patience is recorded with each agent's description.
  NetworkWaits network;
  bool stream = true;     ///< request deltas from models
  std::string record_to;  ///< folder in which model calls are recorded (docs/cassettes.md); empty: none
  /// Drop a session's state whenever it waits, and rebuild it from the journal when needed: least memory,
  /// most work.
  bool suspend_when_waiting = false;
  /// Begin a turn for each queued message as soon as the turn before it has ended. If false, a root begins it
  /// with `Session::resume` only, so that the returned run shows it.
  bool begin_queued_turns = true;
  /// Time for a cancelled tool to return, before its outcome is recorded as unknown.
  std::chrono::milliseconds cancel_grace{100};
};

/// The condition of a runtime.
struct RuntimeHealth {
  bool accepts_work = true;  ///< false once it was stopped
  Status journal;            ///< whether the journal can be read
  std::size_t sessions = 0;  ///< active ones, sub-agents among them
  std::size_t running = 0;   ///< of them, with a turn that works: it does not sleep
  std::size_t waiting = 0;   ///< of them, with a turn that waits for an approver

  bool ok() const { return accepts_work && journal.has_value(); }
};

/// Decides a parked step: `approve()`, `reject(reason)`, `edit(arguments)`, or `answer(text)` to a question;
/// `std::nullopt` leaves the step parked. Called on a worker thread and may take as long as a human does.
/// `stop` is requested when the decision is no longer needed (decided elsewhere, expired, turn ended); then
/// return soon.
using ApprovalHandler =
    std::function<std::optional<Approval>(const ParkedStep& step, const std::stop_token& stop)>;
/// Answers a question; `std::nullopt` if the user declines. `path` names the agents from the root to the one
/// that asks. `prompt` is the question, with its choices if there are any.
using QueryUserHandler = std::function<std::optional<std::string>(
    const SessionId& session, const std::string& path, const std::string& prompt)>;
/// An approval handler that answers questions only.
ApprovalHandler answers_questions(QueryUserHandler handler);

/// Thread-safe. The destructor stops every session; running effects remain in doubt in the journal.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  static std::shared_ptr<Runtime> create(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Creates a session. Its first record shares one append with the first input: a process that dies leaves
  /// no session without its prompt. Until then only this process finds the session. Without any input, the
  /// record is written when the session is closed, its last handle is dropped or the runtime ends. A journal
  /// that cannot write reports the error to the first input. `caller` is the span for which the session works
  /// (`trace_from_header`); without one the session starts a trace.
  Result<Session> create_session(const Agent& agent, Json metadata = nullptr, TraceContext caller = {});
  /// Creates a session that starts from the messages of `start`, which keep their ids, with its metadata, and
  /// with its id unless that is empty. The messages are durable when this returns. Errors: `kInput` for an id
  /// that is taken or not of 1 to 64 letters, digits, `.`, `_` or `-`, and for messages that are not a valid
  /// conversation (see `Repair`); `kJournal`.
  Result<Session> create_session(const Agent& agent, Conversation start, TraceContext caller = {});
  /// Opens a session from the journal. The agent provides tools, hooks and model; if its description differs
  /// from the recorded one, the difference is recorded. With `force`, takes the session over from a live
  /// owner. Errors: `kJournal`.
  Result<Session> open_session(const SessionId& session, const Agent& agent, bool force = false);
  /// As `open_session`, for a session that another process left with a turn or queued messages. If it has
  /// neither any more, nothing is recorded. Errors: `kInput` with `kConflict` then; `kJournal`.
  Result<Session> open_unfinished(const SessionId& session, const Agent& agent);
  /// Runs one turn in a new session.
  Result<AgentResult> run_once(const Agent& agent, std::string prompt, std::stop_token stop = {});
  /// Interrupts all running sessions and waits until they have settled, at most `grace`. Turns that wait for
  /// an approver and queued messages stay in the journal unchanged. Final: from now on the runtime creates
  /// and opens no session and starts no turn (error `kCancelled`).
  void stop(std::chrono::milliseconds grace = std::chrono::seconds{5});

  /// Whether the runtime takes work, and what it does.
  RuntimeHealth health() const;

  /// Sets the handler that decides parked steps of any session in this process, as soon as they are durable.
  /// Null: they wait for `Session::decide`. Steps that are already parked go to the handler too, several at
  /// the same time. While a handler works on a step, the run does not end with `awaiting_user`. An approval
  /// that the step does not accept is reported as `hook.failed`.
  void set_approval_handler(ApprovalHandler handler);
  /// The same for questions only; approvals wait for `Session::decide`.
  void set_query_user_handler(QueryUserHandler handler);

  /// A consistent snapshot of every active session, and of all sessions below an active root, without
  /// conversations. Parents precede their children.
  std::vector<AgentNode> agent_tree() const;
  /// One session with its conversation, active or not. Errors `kInput` for an unknown id, `kJournal`.
  Result<AgentState> agent_state(const SessionId& session) const;
  /// Carries out commands on one session at any depth: active, idle or in another process. All of them are
  /// recorded at once, or none; they take effect at the next safe point. Error `kInput`: unknown session,
  /// deleted already, ended, a verb that callers cannot send, or several targets.
  Status command(Commands commands);

  /// The team of the runtime itself: agents that share one conversation. It has no agents at first and ends
  /// with the runtime; handlers and strategies in it must not keep the runtime alive.
  Team& team();

  /// Subscribes to the events of all sessions until the returned object is destroyed. Throws
  /// `std::invalid_argument` if no event can ever match `pattern` (`check_pattern`).
  Subscription on(std::string pattern, EventHandler handler);
  /// Publishes a transient event of the program to the observers and readers of every level: the runtime's,
  /// and those of each active session. Error `kInput`: see `check_event_name`.
  Status emit(std::string name, Json payload);

  Journal& journal() const;
  Environment& environment() const;
  /// Shared services for tools that the host makes.
  const std::shared_ptr<HttpClient>& http() const;  ///< null without the component `http`
  ModelServices model_services() const;

 private:
  struct Parts;
  explicit Runtime(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The runtime that `Agent::run` uses by default: in-memory journal, created on first use.
std::shared_ptr<Runtime> default_runtime();

}  // namespace praxis
#pragma GCC visibility pop
