// The result of one turn, which every surface shows, and the figures behind it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"
#include "praxis/core/records.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One tool call and its outcome.
struct ActionResult {
  std::uint32_t step = 0;
  CallId call;
  std::string tool;
  Outcome outcome = Outcome::kOk;
  std::uint32_t attempts = 1;
  Millis duration{0};
  std::uint32_t position = 0;  ///< among the calls of its step, from 0
  std::string arguments = {};  ///< JSON text as it ran; the first 16 KiB
  std::string result = {};     ///< what the model read; the first 16 KiB
};
/// One model call and its cost.
struct ModelCall {
  std::uint32_t step = 0;
  std::string model;  ///< as the vendor named it
  FinishReason finish = FinishReason::kStop;
  Usage usage;
  std::uint32_t attempts = 1;
  Millis duration{0};
  /// `summary` for a summary, the purpose of a side query, or empty for an answer.
  std::string purpose = {};
  std::string provider = {};  ///< that answered; empty if a router does not say which
  /// Of the conversation that was sent: the reference to the prompt. The same for the same messages.
  Digest prompt = {};
};
/// What the turn was made from: the description of the agent, and the models that answered.
struct Provenance {
  std::string agent;
  Digest instructions;              ///< of model, instructions and options
  Digest tools;                     ///< of their definitions
  std::vector<std::string> models;  ///< as their vendors named them, each once
};
/// Failed attempts that were retried.
struct RetryInfo {
  std::uint32_t attempts = 0;
  std::optional<Error> last_error;
};

/// Why a request does not extend the bytes of the previous one, and what that may cost.
struct PrefixBreak {
  std::string cause;  ///< `model`, `hook`, `settings`, `tools`, `compaction`, `cut`, `rewind`
  std::int64_t tokens = 0;
  MicroUsd cost;
};

/// The result of a turn (S3-24 to S3-27). `success` is `reason == kFinished`; `error` is set only otherwise.
struct AgentResult {
  std::string id;  ///< `<session>/<turn>`
  SessionId session;
  std::string agent;
  std::string model;
  bool success = false;
  SessionStatus status = SessionStatus::kIdle;
  /// Empty while the turn waits for an approver.
  std::optional<StopReason> reason;
  std::string text;  ///< the final answer
  /// The message with the final answer; null without one.
  MessagePtr message;
  /// The messages of the turn, from the prompt to the answer, as far as the window still has them.
  std::vector<MessagePtr> messages;
  /// All text of the model in the turn, over all its calls.
  std::string full_text;
  /// The final answer as JSON if a schema was requested and the answer matches; else null.
  Json structured;
  UnixMillis started_at;
  UnixMillis finished_at;
  std::optional<Error> error;
  std::uint32_t steps = 0;
  std::vector<ActionResult> actions;  ///< in the order of the calls
  std::vector<ModelCall> model_calls;
  Usage usage;                       ///< of this turn
  Usage usage_children;              ///< of the turn's sub-agents and all below them
  Usage usage_total;                 ///< of the session so far, with its sub-agents
  std::vector<ParkedStep> pending;   ///< parked steps
  std::vector<std::string> denials;  ///< calls that a rule or approver refused: `tool: reason`
  std::vector<std::string> warnings;
  Json memory_deltas;  ///< array of `{store, key, operation}`
  RetryInfo retries;
  Provenance provenance;
  std::uint64_t seed = 0;
  /// Of the session's log: where the event stream of this turn ends.
  std::uint64_t last_seq = 0;
  /// Active time: how long model calls, tools or timers ran. Those that run at the same time count once.
  Millis duration{0};
  Millis tool_latency{0};

  bool aborted() const { return reason == StopReason::kCancelled; }
};

/// How long the calls of each tool took.
std::map<std::string, Millis> latency_by_tool(const AgentResult& result);

/// `report` if its turn has finished or waits for an approver. Otherwise the reason as an error with the
/// details `session` and `reason`; it states `Reach::kSent` if the turn was stopped and the outcome of one of
/// its calls is unknown.
Result<AgentResult> finished(Result<AgentResult> report);

/// The envelope of the command line: `schema_version, run_id, status, termination, result, usage, cost_usd,
/// ...`.
Json to_json(const AgentResult& result);

}  // namespace praxis
#pragma GCC visibility pop
