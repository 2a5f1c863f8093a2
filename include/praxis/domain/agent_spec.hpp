// The immutable description of an agent as plain data: what a session records at its birth, so that it can be
// resumed and replayed without the file or program that made it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/domain/model_types.hpp"

namespace praxis {

/// Bounds on one turn, with the turns of its sub-agents where tokens, money and calls are counted; 0 means no
/// bound.
struct Limits {
  std::uint32_t max_steps = 100;  ///< passes of the loop
  std::uint32_t max_tool_calls = 0;
  Millis max_time{0};           ///< active time; waiting for a person does not count
  std::int64_t max_tokens = 0;  ///< input and output of all model calls
  MicroUsd max_cost;
  std::int64_t max_context = 0;          ///< tokens of one request, by the estimator
  std::uint32_t max_parallel_tools = 8;  ///< of one batch, running at once
  std::uint32_t max_model_attempts = 4;  ///< for one model call
  std::uint32_t max_repeats = 6;         ///< identical calls or errors in a row; warned at half of it
  std::uint32_t max_messages = 50;       ///< sent to the model (sliding window)
  std::uint32_t max_model_retries = 16;  ///< of all model calls of the turn together
  std::uint32_t compact_at = 80;  ///< percent of the context window at which older messages are summarised
  Millis max_wait{0};             ///< for a person's decision; what is not decided by then counts as denied
  bool operator==(const Limits&) const = default;
};

/// What a failed tool call means for the turn.
enum class ToolFailureMode : std::uint8_t { kContinue, kFail };
/// What happens to a call that may or may not have run when the process died.
enum class InDoubt : std::uint8_t {
  kPark,  ///< a person decides
  kTell,  ///< the model is told that the outcome is unknown
};

/// A tool as the session knows it: the definition and what recovery needs.
struct ToolSpec {
  ToolDefinition definition;
  std::uint32_t retries = 0;
  bool fatal_errors = false;
  bool asks_person = false;  ///< a call is a question to a person, whose answer is its result
};

/// What a session decides and counts by, of all that is known of its model. Recorded along with the
/// description, so that a replay decides the same whatever is known by then.
struct ModelProfile {
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  bool compacts = false;            ///< shortens a conversation that nears its window by itself
  MicroUsd price_input = {};        ///< of a million tokens; zero when unknown
  MicroUsd price_cached = {};       ///< of a million tokens read from the vendor's cache
  TokenCounting counting = {};
  bool operator==(const ModelProfile&) const = default;
};

struct AgentSpec {
  std::string id = "agent";
  std::string name;
  std::string model;  ///< `provider:model`; empty for an agent that only follows a plan
  std::string instructions;
  ModelOptions options;
  std::vector<ToolSpec> tools;
  Limits limits;
  ToolFailureMode tool_failure = ToolFailureMode::kContinue;
  InDoubt in_doubt = InDoubt::kPark;
  Json plan;                  ///< written, or `{"kind": "six_steps"}`; null when the model decides
  Json policy;                ///< the rules, in the form of `policy/`
  Json bounds = {};           ///< array of the rules of the agents above, root first; null for a root
  Json metadata;              ///< the caller's own
  ModelProfile profile = {};  ///< of `model`; filled in when a session begins or goes on

  const ToolSpec* find_tool(std::string_view tool) const;
};
using AgentSpecPtr = std::shared_ptr<const AgentSpec>;

/// JSON form with every field that differs from its default.
Json to_json(const AgentSpec& spec);
Result<AgentSpec> agent_spec_from_json(const Json& json);
Json to_json(const Limits& limits);
Limits limits_from_json(const Json& json);

}  // namespace praxis
