// The place where sessions live: journal, threads, clock and network of one process, and the operations on
// the log that need no running session: list, fork, replay.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/session.hpp"
#include "praxis/runtime/team.hpp"

namespace praxis {

/// What a runtime stands on; whatever is null is made with its defaults.
struct RuntimeOptions {
  std::shared_ptr<Journal> journal;          ///< in-memory by default
  std::shared_ptr<Environment> environment;  ///< the system's by default
  std::shared_ptr<Executor> executor;
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<const Catalog> catalog;  ///< of providers and models; null: what is compiled in
  bool stream = true;                      ///< ask models for deltas
  std::string record_to;  ///< a folder that gets every exchange with models (docs/cassettes.md); empty: none
  /// Drop a session's state whenever it waits and fold it again from the journal: least memory, most work.
  bool suspend_when_waiting = false;
  std::chrono::milliseconds cancel_grace{
      100};  ///< what a cancelled tool gets before it is settled as unknown
};

/// Decides a parked step: `approve()`, `reject(reason)`, `edit(arguments)`, or `answer(text)` to a question;
/// `std::nullopt` leaves the step parked. Called on a worker thread and may take as long as a human does;
/// `stop` says that the answer is no longer needed (decided otherwise, expired, the turn is over): then
/// return soon.
using ApprovalHandler =
    std::function<std::optional<Approval>(const ParkedStep& step, const std::stop_token& stop)>;
/// Answers a question; nothing when the person declines. `path` names the agents from the root down to the
/// one that asks; `prompt` is its question, with the choices if it is one of several.
using QueryUserHandler = std::function<std::optional<std::string>(
    const SessionId& session, const std::string& path, const std::string& prompt)>;
/// An approval handler that answers questions only.
ApprovalHandler answers_questions(QueryUserHandler handler);

/// Thread-safe. Destroying it stops every session: effects under way stay in doubt in the journal.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  static std::shared_ptr<Runtime> create(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// A new session. Its record is written but not waited for: this process finds it at once, and it is
  /// durable before anything that is done with the session is. A journal that cannot write says so there.
  Result<Session> create_session(const Agent& agent, Json metadata = nullptr);
  /// A session from the journal. The agent brings tools, hooks and model; when its description differs from
  /// the recorded one the difference is recorded. With `force`, also from a live owner. Errors: `kJournal`.
  Result<Session> open_session(const SessionId& session, const Agent& agent, bool force = false);
  /// One turn in a session of its own.
  Result<AgentResult> run_once(const Agent& agent, std::string prompt, std::stop_token stop = {});
  /// Interrupts all running sessions and waits until they have settled, at most `grace`. Turns that wait for
  /// a person and queued messages stay in the journal as they are.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds{5});

  /// Sets the handler that decides parked steps of any session in this process, as soon as they are durable.
  /// Null: they wait for `Session::decide`. Steps that are parked already go to the handler too, several at
  /// once. While a handler is at work a run does not end with `awaiting_user`. An approval that the step does
  /// not take is reported as `hook.failed`.
  void set_approval_handler(ApprovalHandler handler);
  /// The same for questions alone; approvals wait for `Session::decide`.
  void set_query_user_handler(QueryUserHandler handler);

  /// Every session that is awake, and those below a root that is, without conversations: parents before their
  /// children, all from one moment.
  std::vector<AgentNode> agent_tree() const;
  /// One session with its conversation, also when it is asleep. Errors `kInput` for an unknown id,
  /// `kJournal`.
  Result<AgentState> agent_state(const SessionId& session) const;
  /// Carries out commands on one session at any depth: active, idle or in another process. All of them are
  /// recorded at once, or none; they take effect at the next safe point. Error `kInput`: unknown session,
  /// deleted already, ended, a verb that callers cannot send, or several targets.
  Status command(Commands commands);

  /// The agents that share one conversation of this runtime's own: who they are, who answers, and by which
  /// strategy; as the methods of `Team` say. What is said goes through `team`.
  void register_agent(Agent agent);
  void set_agent(const Agent& agent);
  Status set_agent_by_id(const std::string& id);
  Agent current_agent() const;
  void route_message(Strategy strategy);
  /// That conversation, with the messages. Lives as long as the runtime. Handlers and strategies in it must
  /// not keep the runtime alive.
  Team& team();

  /// Subscribes to the events of all sessions until the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> on(std::string pattern, EventHandler handler);
  /// Publishes an event of the host's own to subscribers of the runtime.
  void emit(std::string name, Json payload);

  Journal& journal() const;
  Environment& environment() const;
  /// What tools made by the host may share with the runtime.
  const std::shared_ptr<HttpClient>& http() const;
  ModelServices model_services() const;

 private:
  struct Parts;
  explicit Runtime(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The runtime behind `Agent::run` when none was named: in-memory journal, made at first use.
std::shared_ptr<Runtime> default_runtime();

}  // namespace praxis
