// The session above, as a sub-agent knows it: an address that takes messages. The sub-agent's shell never
// reaches into the session itself, which may be active in this process or elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/input.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/event.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

struct AgentDescription;

/// Thread-safe. Messages arrive in the order in which one thread sends them.
class ParentLink {
 public:
  virtual ~ParentLink() = default;

  /// The session and its lease: a sub-agent is written only while this lease is valid.
  virtual const Lease& lease() const = 0;
  /// The root of the agent tree.
  virtual SessionId root() const = 0;
  /// The agents with approval hooks down to this session, root first.
  virtual const std::vector<std::shared_ptr<const AgentDescription>>& approvers() const = 0;
  /// The place of the session in the agent tree.
  struct Place {
    std::uint32_t depth = 0;
    std::string path;
  };
  virtual Place place() = 0;
  /// False once the session has given up: nothing more can be done on its behalf.
  virtual bool usable() const = 0;
  /// Whether a reader or observer here or above wants events of sub-agents; with `deltas`, also deltas.
  virtual bool hears(bool deltas) const = 0;

  virtual void tell(driver::ChildNews news) = 0;
  /// Publishes an event of a session below to the observers and readers here and further up.
  virtual void overhear(std::shared_ptr<const Event> event) = 0;
  /// A step of a session below was decided. Calls `done` once all sessions above know.
  virtual void forget_step(ParkId step, Task done) = 0;
  /// There are at least `height` levels of sub-agents below: each level gets its own time to stop.
  virtual void reach_down(std::uint32_t height) = 0;
};

}  // namespace praxis
