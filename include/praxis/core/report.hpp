// What one turn amounted to: the result that every surface shows, and the numbers behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/records.hpp"

namespace praxis {

/// One tool call and how it went.
struct ActionResult {
  std::uint32_t step = 0;
  CallId call;
  std::string tool;
  Outcome outcome = Outcome::kOk;
  std::uint32_t attempts = 1;
  Millis duration{0};
};
/// One model call and what it took.
struct ModelCall {
  std::uint32_t step = 0;
  std::string model;  ///< as the vendor named it
  FinishReason finish = FinishReason::kStop;
  Usage usage;
  std::uint32_t attempts = 1;
  Millis duration{0};
  /// `summary` when it shortened the conversation, that of a consultation, empty when it answered.
  std::string purpose = {};
};
/// Failed attempts that were tried again.
struct RetryInfo {
  std::uint32_t attempts = 0;
  std::optional<Error> last_error;
};

/// The result of a turn (S3-24 to S3-27). `success` is `reason == kFinished`; `error` is set only when it is
/// not.
struct AgentResult {
  std::string id;  ///< `<session>/<turn>`
  SessionId session;
  std::string agent;
  std::string model;
  bool success = false;
  SessionStatus status = SessionStatus::kIdle;
  /// Empty while the turn waits for a person.
  std::optional<StopReason> reason;
  std::string text;       ///< the final answer
  std::string full_text;  ///< all that the model said in the turn, over all its calls
  Json structured;        ///< the final answer as JSON, when a schema was asked for and it fits; else null
  UnixMillis started_at;
  UnixMillis finished_at;
  std::optional<Error> error;
  std::uint32_t steps = 0;
  std::vector<ActionResult> actions;
  std::vector<ModelCall> model_calls;
  Usage usage;                       ///< of this turn
  Usage usage_children;              ///< of the turn's sub-agents and all below them
  Usage usage_total;                 ///< of the session so far
  std::vector<ParkedStep> pending;   ///< what waits for a person
  std::vector<std::string> denials;  ///< calls that a rule or person refused: `tool: reason`
  std::vector<std::string> warnings;
  Json memory_deltas;  ///< array of `{store, key, operation}`
  RetryInfo retries;
  std::uint64_t seed = 0;
  std::uint64_t last_seq = 0;  ///< of the session's log: where the event stream of this turn ends
  Millis duration{0};          ///< active time: model calls, tools and timers
  Millis tool_latency{0};

  bool aborted() const { return reason == StopReason::kCancelled; }
};

/// The envelope of the command line: `schema_version, run_id, status, termination, result, usage, cost_usd,
/// ...`.
Json to_json(const AgentResult& result);

}  // namespace praxis
