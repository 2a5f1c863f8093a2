// The immutable description of an agent as plain data. A session records it when it is created, so that it
// can be resumed and replayed without the file or program that defined the agent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/domain/model_types.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Bounds on one turn. Tokens, money and tool calls include the turns of its sub-agents. 0 means no bound.
struct Limits {
  std::uint32_t max_steps = 100;  ///< steps of the loop
  std::uint32_t max_tool_calls = 0;
  Millis timeout{0};            ///< active time, without waits for an approver and sleep
  std::int64_t max_tokens = 0;  ///< input and output of all model calls
  MicroUsd max_usd;
  std::int64_t max_context = 0;          ///< tokens of one request, by the estimator
  std::uint32_t max_parallel_tools = 8;  ///< running at once, of one batch
  std::uint32_t max_model_attempts = 4;  ///< for one model call
  /// Identical calls or errors in a row; the model is warned at half of it.
  std::uint32_t max_repeats = 6;
  std::uint32_t max_messages = 50;       ///< sent to the model (sliding window)
  std::uint32_t max_model_retries = 16;  ///< over all model calls of the turn
  /// Percent of the context window at which older messages are summarised.
  std::uint32_t compact_at = 80;
  /// For a human decision; a step that is undecided by then counts as denied.
  Millis max_wait{0};
  /// How long one model call may keep failing because the network or its server is out of order, before the
  /// turn fails (docs/providers.md). 0: `max_model_attempts` bounds such failures like all others.
  Millis patience{0};
  bool operator==(const Limits&) const = default;
};

/// The consequence of a failed tool call for the turn.
enum class ToolFailureMode : std::uint8_t { kContinue, kFail };
/// The treatment of a call that may or may not have run when the process died.
enum class InDoubt : std::uint8_t {
  kPark,  ///< an approver decides
  kTell,  ///< the model gets the result "outcome unknown"
};

/// Where the result of a tool call comes from.
enum class ResultFrom : std::uint8_t {
  kHandler,
  kPerson,  ///< the call is a question to a human, whose answer is its result
  kClient,  ///< the program that brought the tool runs it; until it has, the call waits as a question does
};

/// A tool as the session knows it: the definition and what recovery needs.
struct ToolSpec {
  ToolDefinition definition;
  std::uint32_t retries = 0;
  bool fatal_errors = false;
  ResultFrom result_from = ResultFrom::kHandler;
  Millis retry_delay{0};  ///< before the first retry, about; doubles with each
};

/// Facts about the agent's model that decisions and totals depend on. Recorded with the
/// description, so that a replay decides the same even if the catalogue has changed.
struct ModelProfile {
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  bool compacts = false;            ///< summarises a conversation that nears its window by itself
  MicroUsd price_input = {};        ///< of a million tokens; zero if unknown
  MicroUsd price_cached = {};       ///< of a million tokens read from the vendor's cache
  TokenCounting counting = {};
  bool operator==(const ModelProfile&) const = default;
};

/// The order in which a call tries the models of a route.
enum class RouteOrder : std::uint8_t {
  kPriority,  ///< as named
  kCost,      ///< the cheapest estimate first
  kLatency,   ///< the shortest time to an answer first
};
/// How calls are distributed over the models of a route (`A|B`).
struct Route {
  RouteOrder order = RouteOrder::kPriority;
  /// Skips models whose estimated cost of the call exceeds this. Zero: no bound.
  MicroUsd max_usd = {};
  /// Whether another model may take over after the failed one has streamed part of its answer.
  bool restart = false;
  bool operator==(const Route&) const = default;
};

struct AgentSpec {
  std::string id = "agent";
  std::string name;
  /// What the agent is good at, for those who choose one: routing, supervisors, hand-overs.
  std::string description = {};
  std::string model;  ///< `provider:model`, or a route over several; empty for an agent that follows a plan
  Route route = {};
  std::string preface = {};  ///< instructions of the runtime, sent before those of the agent
  std::string instructions;
  ModelOptions options;
  std::vector<ToolSpec> tools;
  Limits limits;
  ToolFailureMode tool_failure = ToolFailureMode::kContinue;
  InDoubt in_doubt = InDoubt::kPark;
  /// Steps of a written plan, or an object that names the kind of planner (`six_steps`, `reflect`, `host`);
  /// null if the model decides.
  Json plan;
  Json policy;  ///< the rules, in the form of `policy/`
  /// Array of the rules of the agents above in the tree, root first; null for a root.
  Json bounds = {};
  Json metadata;              ///< defined by the caller
  ModelProfile profile = {};  ///< of `model`; set when a session is created or resumed

  const ToolSpec* find_tool(std::string_view tool) const;
  /// `own`, the agent's instructions or what a hook put in their place, after the preface.
  std::string with_preface(std::string own) const;
};
using AgentSpecPtr = std::shared_ptr<const AgentSpec>;

/// JSON form with every field that differs from its default.
Json to_json(const AgentSpec& spec);
Result<AgentSpec> agent_spec_from_json(const Json& json);
/// Every limit under its own name, `patience` if there is one; durations in milliseconds, money in US
/// dollars.
Json to_json(const Limits& limits);
/// Also reads the names that earlier programs wrote into journals. Ignores what does not fit.
Limits limits_from_json(const Json& json);
/// Lays the limits that `table` sets over `limits`; durations may be strings such as "30s". Error `kInput`,
/// as `read_settings`.
Status read_limits(const Json& table, Limits& limits);
Json to_json(const Route& route);
/// Lays the settings of `table` over `route`. Error `kInput`, as `read_settings`.
Status read_route(const Json& table, Route& route);

}  // namespace praxis
#pragma GCC visibility pop
