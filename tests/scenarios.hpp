// The runs on which the promises are tested: each is a model script or a plan, the prompts and decisions of a
// person, and tools that count what they do. A `Stage` plays them in any runtime setting and keeps what an
// observer saw.
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
#include <vector>

#include "praxis/praxis.hpp"

namespace praxis::testing {

/// A folder that goes away; in memory where there is such a place, because a killed process loses nothing
/// that it wrote, whatever it wrote to.
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

/// What the tools of one stage have to know of the world: the sessions they act on, and what has happened.
/// They count their executions here. Thread-safe.
class World {
 public:
  void enter(const Session& session);
  /// Lets go of the sessions, which hold their agents, which hold their tools, which hold this world.
  void close();
  Session session(const SessionId& id) const;

  void executed(const std::string& tool);
  std::map<std::string, int> executions() const;

  /// The observer of the runtime.
  void hear(const Event& event);
  std::vector<Event> events() const;
  /// Waits until `count` tool calls were completed. This is how a tool takes its turn among parallel ones; in
  /// a world out of order (one that begins in the middle of a session) nobody waits.
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

/// One run. Parked step `p<n>` gets the n-th verdict, or the last.
struct Scenario {
  std::string name;
  std::string script{};  ///< of the model; empty for a plan
  std::string plan{};
  std::vector<std::string> prompts{"go"};
  std::vector<Verdict> verdicts{};
  std::function<Verdict(const ParkedStep&)> decide{};  ///< instead of `verdicts`
  std::function<void(Agent&)> shape{};
  StopReason ends = StopReason::kFinished;
  std::size_t turns = 1;  ///< that the prompts lead to, queued ones included
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

const std::vector<Scenario>& scenarios();

/// The settings of a runtime that must make no difference to what a run amounts to.
struct Setting {
  std::shared_ptr<Journal> journal = memory_journal();
  std::shared_ptr<Environment> environment{};  ///< null: fixed
  std::shared_ptr<Executor> executor{};        ///< null: the usual one
  std::shared_ptr<HttpClient> http{};          ///< null: the usual one
  /// Runs a call of the session somewhere and waits for it; empty: here.
  std::function<void(Task)> call{};
  bool stream = true;
  std::size_t chunk = 8;
  bool suspend = false;
  /// Wraps the model; empty leaves it as it is.
  std::function<std::shared_ptr<Model>(std::shared_ptr<Model>)> wrap{};
};

/// A scenario in one setting. Time and randomness are fixed, so two stages make the same ids.
class Stage {
 public:
  Stage(const Scenario& scenario, Setting setting);
  ~Stage() { world_->close(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Plays from the first prompt to the end; the results of its turns, parked ones included. Throws what
  /// cannot be carried on.
  std::vector<AgentResult> play();
  /// Brings a session from the journal to an end: carries its turn on, or sends it another prompt.
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
  const std::shared_ptr<void> observer_;
  Agent agent_;
  SessionId session_;
};

}  // namespace praxis::testing
