// The handle that a tool handler holds on the session of a sub-agent it created.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "praxis/tools/sub_agent.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {

/// The error of every request of a call that was itself asked to stop.
std::unexpected<Error> call_cancelled();

/// Thread-safe.
class LiveChild final : public ChildSession {
 public:
  explicit LiveChild(std::shared_ptr<SessionActor> actor) : actor_(std::move(actor)) {}

  const SessionId& id() const override { return actor_->id(); }
  Status start(std::string prompt) override;
  Result<AgentResult> wait() override;
  void on_end(ReportDone done) override;
  void steer(std::string text) override { actor_->command(CommandVerb::kSteer, std::move(text)); }
  void interrupt() override { actor_->interrupt(); }

  const std::shared_ptr<SessionActor>& actor() const { return actor_; }
  /// Stops the sub-agent with its call: interrupts it, or abandons it without writing to its log when the
  /// session above was itself abandoned.
  void stop_with(const SessionActor& above);
  /// Waits until no turn is in progress. The caller has stopped the sub-agent.
  void close();

 private:
  Status begin_turn(std::string prompt);
  /// The last started turn. Error: none was started.
  Result<std::shared_ptr<EventQueue>> last_turn() const;

  const std::shared_ptr<SessionActor> actor_;
  mutable std::mutex mutex_;
  std::size_t started_ = 0;  ///< turns started by this handle
  std::shared_ptr<EventQueue> turn_;
};

}  // namespace praxis
