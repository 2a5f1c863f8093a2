// The runs of the server: it creates them, opens those of the journal again, and lets them wait without a
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/run_files.hpp"
#include "app/run_stats.hpp"
#include "app/workspace.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/runtime/runtime.hpp"
#include "server/acknowledgements.hpp"
#include "server/call.hpp"
#include "server/load.hpp"
#include "server/open_runs.hpp"
#include "server/projection.hpp"
#include "server/queued_turn.hpp"

namespace praxis::server {

/// What a client asks for.
struct NewRun {
  std::string agent = {};      ///< by name; empty: the default agent
  bool may_be_preset = false;  ///< the user chose the agent: it may be one of the program
  std::string prompt = {};
  std::vector<Part> content = {};  ///< of the message, with images and files; empty: the prompt alone
  std::string model = {};          ///< empty: that of the agent or the configuration
  /// Replaces limits of the agent; of principals that do not see all, only lower ones count.
  Json limits = nullptr;
  Json schema = nullptr;  ///< of the answer; null: free text
  std::string idempotency =
      {};                    ///< key: the same key of the same principal is the same run; empty: a new run
  std::string request = {};  ///< canonical text of the request, to notice a key that is used for another one
  std::vector<Message> before = {};        ///< the conversation so far
  Json metadata = nullptr;                 ///< of the message of the user
  std::vector<ToolDefinition> tools = {};  ///< that the client brings and runs itself
  /// Called with the id of a new run before its first record, so that a subscription misses nothing of it.
  /// Its error prevents the run. Must not use `Runs`. Null: nothing.
  std::function<Status(const SessionId&)> prepare = nullptr;
  /// Called with the report of the turn, on the session's strand; must return soon. Null: nothing.
  std::function<void(const Result<AgentResult>&)> done = nullptr;
};

/// What a branch does otherwise than the run that it is made of.
struct BranchChange {
  std::string model = {};                                  ///< empty: that of the run
  std::optional<std::string> instructions = std::nullopt;  ///< nothing: those of the run
  Json limits = nullptr;                                   ///< as of `NewRun`
  /// The turn ends after the next answer of the model, and no tool that it calls is run.
  bool once = false;
  Principal principal = {};  ///< for whom
};

/// A run that was asked for.
struct Created {
  SessionId id;
  bool is_new = true;  ///< false: the key named a run that exists
};

/// Error `kInput`: clients must not choose this model, because it is a file of the server.
Status check_model(const std::string& model);

/// Thread-safe. Reads of the journal and of agent files block, so call it on workers. Owned by a
/// `shared_ptr`.
class Runs : public std::enable_shared_from_this<Runs> {
 public:
  /// `patience` is how long a request waits until its message is durable.
  Runs(std::shared_ptr<const app::Workspace> workspace, std::shared_ptr<Runtime> runtime,
       std::shared_ptr<Journal> journal, std::shared_ptr<Executor> executor, std::shared_ptr<Load> load,
       std::chrono::milliseconds patience);

  /// Gets the run once its first message is durable, or the error that prevented it; called
  /// once, on a worker.
  using WhenCreated = std::move_only_function<void(Result<Created>)>;
  /// The same for a turn of a run that exists.
  using WhenBegun = Acknowledgements::Then;

  /// The id of the run that a key of an account names: the same in every process and after every restart.
  static SessionId id_of_key(const std::string& account, const std::string& key);
  /// Starts a run, which waits, paused, if as many turns are at work as may be. Errors: of `agent_for_run`,
  /// of `Load::begin_turn`; `kConflict`, the key was used for another request; `kOverloaded`, the journal did
  /// not take it.
  void create(NewRun wanted, const Principal& principal, WhenCreated then);
  /// Room for a turn of a principal, to be asked for before anything is changed for it. Errors as
  /// `Load::begin_turn`.
  Result<Load::Slot> begin_turn(const Principal& principal, Load::WhenFree when_free = nullptr);
  /// Whether a run waits until fewer turns are at work.
  bool is_queued(const SessionId& run) const;
  std::size_t queued() const;
  /// Error `kConflict`: a command would let a run that waits begin before its time.
  Status check_commands(const Commands& commands) const;
  /// Starts a turn in a run. Errors: of `open`; `kConflict`: it is in the middle of a turn; `kOverloaded`,
  /// the journal did not take the message. `done` as in `NewRun`; `change` is for a run that is not open.
  void send(const SessionId& run, Load::Slot slot, Message message, Json schema, WhenBegun then,
            std::function<void(const Result<AgentResult>&)> done = nullptr, const BranchChange& change = {});
  /// Continues the open turn of a run, or begins that of its first queued message or of one that was meant
  /// for a step of a turn that had ended. `change` as of `send`. Errors as `send`, without a turn to continue
  /// `kConflict`.
  Status resume(const SessionId& run, const BranchChange& change = {});
  /// Reads an agent by its name, without starting anything. Error `kNotFound`, or `kInput` of its file.
  Result<Agent> described(const std::string& name);
  /// Removes a run and all below it for good; returns how many sessions. The blobs and files that it leaves
  /// are removed soon after. Errors `kNotFound`; `kConflict`: it is not finished, or a sub-agent;
  /// `kLeaseHeld`: another process has it open.
  Result<std::size_t> remove(const SessionId& run);
  /// Takes the conversation of a run back to before a turn. Errors as `rewind_session`.
  Status rewind(const SessionId& run, const TurnId& turn);
  /// Closes a run that is open here and at rest, and keeps its lease, so that no turn of it begins. Error
  /// `kConflict`: it is not finished; `kLeaseHeld`: another process has it open.
  Result<std::unique_ptr<app::HeldRun>> hold_finished(const SessionId& run);
  /// Decides a parked step of a session at any depth; its run then continues. Errors `kInput`; `kPolicy`: the
  /// principal has not the right `approve`, unless it gives the result of a tool that its client runs, or the
  /// rule of four eyes keeps it from it.
  Status decide(const SessionId& session, const std::string& step, Approval approval,
                const Principal& principal);
  using Warn = std::function<void(const std::string&)>;
  /// Continues the runs that a process left in the middle of a turn. Those that cannot continue are reported
  /// to `warn`.
  void take_up(const Warn& warn);
  /// The runs that a process left in the middle of a turn. Those that this program cannot read are reported
  /// to `warn`, which may be null.
  std::vector<SessionId> left(const Warn& warn) const;

  /// Reads a session of any depth. Error `kNotFound`.
  Result<app::StoredSession> stored(const SessionId& session) const;
  /// The session that a client names: a whole id, or a beginning or end of at least four characters that is
  /// unique. Errors: `kNotFound`, also if the principal may not see it; `kConflict` if it names several.
  Result<SessionId> find(const std::string& name, const Principal& principal);
  /// Whether a principal may see the tree of a root.
  bool may_see(const Principal& principal, const SessionId& root);
  /// Makes the run that holds a conversation of a client: it has no turn, and its log begins with the
  /// annotation `fact`, durably. Error `kJournal`.
  Result<SessionId> create_conversation(const std::string& fact, const Principal& principal);
  /// Whether a run holds a conversation of the principal's tenant.
  bool may_see_conversation(const Principal& principal, const SessionId& run);
  Lineages& lineages() { return lineages_; }
  /// Whether this process has the tree of a session open. May block for a read of the journal.
  bool has_open(const SessionId& session) { return open_->find(lineages_.root_of(session)).has_value(); }
  /// Begins to watch what becomes durable. Call once.
  void start() { acknowledgements_->start(); }
  /// Runs `work` on a worker.
  void post(Task work) { executor_->post_blocking(std::move(work)); }

 private:
  void sweep_soon();
  Status release(const SessionId& run, const char* before);
  Result<Agent> agent_of(const NewRun& wanted, const Principal& principal) const;
  enum class Opening : std::uint8_t { kAny, kUnfinished };
  Result<OpenRuns::Use> open(const SessionId& run, const BranchChange& change = {},
                             Opening opening = Opening::kAny);
  Result<Created> found_again(const SessionId& id, const std::string& request) const;
  void find_again(const SessionId& id, const NewRun& wanted, WhenCreated then);
  Result<Session> new_session(NewRun& wanted, const SessionId& id, const Principal& principal);
  Result<Load::Slot> begin_or_queue(const Principal& principal, const std::weak_ptr<QueuedTurn>& turn);
  void hold(const SessionId& run, Session session);
  void let_go(const SessionId& run);
  void forget_queued(const SessionId& run);
  Session::TurnDone when_done(const SessionId& run, Load::Slot slot = nullptr,
                              std::function<void(const Result<AgentResult>&)> also = nullptr,
                              Acknowledgements::Ticket ticket = 0);
  Load::Waiting waiting_for(const Principal& principal);
  // Names in the metadata of a run: whose it is, and who has started it.
  static constexpr const char* kTenant = app::kTenantOfRun;
  static constexpr const char* kStarter = "started_by";
  static constexpr const char* kConversation = "conversation";  ///< true: it holds one, and has no turns
  /// What decides who may see a run and decide its steps.
  struct Belonging {
    std::string tenant, agent, starter;
    bool is_branch = false;
    bool is_conversation = false;
  };
  Status may_decide(const SessionId& root, const SessionId& session, const std::string& step,
                    const Approval& approval, const Principal& principal);
  Belonging belonging_of(const SessionId& root);
  void note_belonging(const SessionId& root, Belonging belonging);

  const std::shared_ptr<const app::Workspace> workspace_;
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Load> load_;
  const std::shared_ptr<Acknowledgements> acknowledgements_;
  const std::shared_ptr<OpenRuns> open_;
  Lineages lineages_;
  std::mutex reading_agents_;  // agents are read one at a time: their files are read in the current folder
  std::atomic<bool> sweeps_ = false;  // what removed runs leave is about to be removed
  mutable std::mutex mutex_;          // guards the next members
  std::map<SessionId, Belonging> belongings_;
  std::set<SessionId> queued_;
};

}  // namespace praxis::server
