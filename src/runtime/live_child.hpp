// A sub-agent's session as the handler that made it holds it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "praxis/tools/sub_agent.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {

/// Thread-safe.
class LiveChild final : public ChildSession {
 public:
  explicit LiveChild(std::shared_ptr<SessionActor> actor) : actor_(std::move(actor)) {}

  const SessionId& id() const override { return actor_->id(); }
  Status start(std::string prompt) override;
  Result<AgentResult> wait() override;
  void steer(std::string text) override { actor_->command(CommandVerb::kSteer, std::move(text)); }
  void interrupt() override { actor_->interrupt(); }

  const std::shared_ptr<SessionActor>& actor() const { return actor_; }
  /// The call is told to stop: so is the sub-agent. When the session above was given up rather than stopped,
  /// so is this one, and its log stays as it is.
  void stop_with(const SessionActor& above);
  /// Waits for the end of a turn in progress, which was told to stop, and lets no other begin.
  void close();

 private:
  const std::shared_ptr<SessionActor> actor_;
  std::mutex mutex_;
  std::size_t started_ = 0;  ///< turns begun by this handle
  std::shared_ptr<EventQueue> turn_;
};

}  // namespace praxis
