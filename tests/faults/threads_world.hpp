// A simulated process on a simulated disk, with its users: sessions and trees of them, killed at any step and
// started again, until all are idle. Everything follows from the seed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "jumping_clock.hpp"
#include "sim_checks.hpp"
#include "threads_journal.hpp"
#include "threads_outside.hpp"
#include "threads_schedule.hpp"

namespace praxis::faults::threads {

using sim::Checks;
using sim::Log;
using sim::Promise;
using sim::RunOutcome;

class World {
 public:
  explicit World(std::uint64_t seed);
  /// Runs for at least `steps`, then until everything is idle.
  RunOutcome run(std::uint64_t steps);

 private:
  /// A session that a program began, and what it will say there.
  struct Root {
    Agent agent;
    SessionId id = {};  ///< empty: none yet, or the last one was deleted
    bool over = false;  ///< nothing more will be said in this life
  };

  void begin_life();
  void kill();
  void check(bool at_rest);

  // Programs and people; each on a thread of its own.
  void client(Root& root);
  Log log_of(const SessionId& session);
  bool on_disk_at_rest(const SessionId& session);
  bool one_turn(Root& root, Session& session);
  void ended(const Session& session, const AgentResult& result);
  void decide(Session& session, const AgentResult& result);
  void meddle();
  void meddle_once(const SessionId& session);
  void unpause(const SessionId& session);
  std::optional<Approval> approval_on(const ParkedStep& step, bool always);
  void nap(std::uint64_t most_ms) { schedule_.sleep(Millis{random_.below(most_ms)}); }
  void promise(const SessionId& session, std::string what, std::function<bool(const Log&)> kept);
  bool closing() const { return outside_->calm; }

  Schedule schedule_;
  Random& random_;
  const std::shared_ptr<Outside> outside_;
  const std::shared_ptr<Journal> disk_ = memory_journal();
  const std::shared_ptr<JumpingClock> environment_;
  std::deque<Root> roots_;
  std::vector<Promise> promises_;
  std::shared_ptr<SimJournal> journal_;
  std::shared_ptr<Runtime> runtime_;
  RunOutcome outcome_;
};

}  // namespace praxis::faults::threads
