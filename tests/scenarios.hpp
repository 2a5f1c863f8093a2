// The runs on which the guarantees are tested: each is a model script or a plan, with prompts, approvals, and
// tools that count their executions. A `Stage` plays them with any runtime settings and records what an
// observer sees.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "must.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/praxis.hpp"

namespace praxis::testing {

/// A temporary folder; in memory if possible, because a killed process loses nothing that it wrote,
/// regardless of the medium.
class MemoryFolder {
 public:
  MemoryFolder();
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }

 private:
  std::string path_;
};

/// Shared by the tools of one stage: the sessions that they control, and the events so far. Tools count their
/// executions here. Thread-safe.
class World {
 public:
  void enter(const Session& session);
  /// Drops the sessions, to break the cycle of sessions, agents, tools and this world.
  void close();
  Session session(const SessionId& id) const;

  void executed(const std::string& tool);
  std::map<std::string, int> executions() const;

  /// Observes the runtime.
  void hear(const Event& event);
  std::vector<Event> events() const;
  /// Waits until `count` tool calls have completed, so that parallel tools finish in a fixed order. Does not
  /// wait in a world that begins in the middle of a session.
  void await_completions(std::size_t count);
  void await_turns(std::size_t count);
  void out_of_order();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<SessionId, Session> sessions_;
  std::map<std::string, int> executions_;
  std::vector<Event> events_;
  std::size_t completions_ = 0;
  std::size_t turns_ = 0;
  bool in_order_ = true;
};

/// What was played: the results of the turns, and the session in its journal.
struct Played {
  std::shared_ptr<Journal> journal;
  SessionId session;
  std::vector<AgentResult> results;
};

/// One run. Parked step `p<n>` gets the n-th approval, or the last one.
struct Scenario {
  std::string name;
  std::string script{};  ///< of the model; empty for a plan
  std::string plan{};
  std::vector<std::string> prompts{"go"};
  std::vector<Approval> approvals{};
  std::function<Approval(const ParkedStep&)> decide{};  ///< instead of `approvals`
  std::function<void(Agent&)> shape{};
  StopReason ends = StopReason::kFinished;
  std::size_t turns = 1;  ///< started by the prompts, including queued ones
  /// Plays it in another way than one stage does, for the baseline alone; null: `Stage::play`.
  std::function<Played(const Scenario&)> play{};
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

/// Makes all scenarios (scenario_list.cpp).
std::vector<Scenario> all_scenarios();
/// Makes further ones for the baseline alone (scenario_flows.cpp), and those of several sessions, processes
/// and servers (scenario_sessions.cpp).
std::vector<Scenario> flow_scenarios();
std::vector<Scenario> session_scenarios();
/// Returns all scenarios, made once.
const std::vector<Scenario>& scenarios();

/// Runtime settings that must not change the outcome of a run.
struct Setting {
  std::shared_ptr<Journal> journal = memory_journal();
  std::shared_ptr<Environment> environment{};  ///< null: fixed
  std::shared_ptr<Executor> executor{};        ///< null: the default
  std::shared_ptr<HttpClient> http{};          ///< null: the default
  /// Runs a call of the session on some thread and waits for it; empty: runs it on the calling thread.
  std::function<void(Task)> call{};
  bool stream = true;
  std::size_t chunk = 8;
  bool suspend = false;
  /// Wraps the model; empty: uses it unwrapped.
  std::function<std::shared_ptr<Model>(std::shared_ptr<Model>)> wrap{};
};

/// A scenario in one setting. Time and randomness are fixed, so two stages create the same ids.
class Stage {
 public:
  Stage(const Scenario& scenario, Setting setting);
  ~Stage() { world_->close(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Plays from the first prompt to the end; returns the results of its turns, including parked ones. Throws
  /// if the run cannot be resumed.
  std::vector<AgentResult> play();
  /// Brings a session from the journal to an end: resumes its turn, or sends it another prompt.
  AgentResult finish(const SessionId& session);

  const Agent& agent() const { return agent_; }
  const SessionId& session() const { return session_; }
  World& world() { return *world_; }
  Journal& journal() { return runtime_->journal(); }
  Environment& environment() { return runtime_->environment(); }

 private:
  template <class F>
  std::invoke_result_t<F> call(F work) const {
    if (!call_) return work();
    std::optional<std::invoke_result_t<F>> result;
    call_([&] { result.emplace(work()); });
    return *std::move(result);
  }
  void play_queued(const Session& session, std::vector<AgentResult>& results) const;
  AgentResult decide_all(const Session& session, Result<AgentResult> result,
                         std::vector<AgentResult>* all) const;

  const Scenario& scenario_;
  const std::function<void(Task)> call_;
  const std::shared_ptr<World> world_ = std::make_shared<World>();
  const std::shared_ptr<Runtime> runtime_;
  const Subscription observer_;
  Agent agent_;
  SessionId session_;
};

}  // namespace praxis::testing
