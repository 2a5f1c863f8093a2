// The place where sessions live: journal, threads, clock and network of one process, and the operations on
// the log that need no running session: list, fork, replay.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/base/http_client.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/session.hpp"

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

/// Thread-safe. Destroying it stops every session: effects under way stay in doubt in the journal.
class Runtime : public std::enable_shared_from_this<Runtime> {
 public:
  static std::shared_ptr<Runtime> create(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// A new session; its record is durable when this returns.
  Result<Session> create_session(const Agent& agent, Json metadata = nullptr);
  /// A session from the journal. The agent brings tools, hooks and model; when its description differs from
  /// the recorded one the difference is recorded. With `force`, also from a live owner. Errors: `kJournal`.
  Result<Session> open_session(const SessionId& session, const Agent& agent, bool force = false);
  /// One turn in a session of its own.
  Result<AgentResult> run_once(const Agent& agent, std::string prompt, std::stop_token stop = {});
  /// Interrupts all running sessions and waits until they have settled, at most `grace`. Turns that wait for
  /// a person and queued messages stay in the journal as they are.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds{5});

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
