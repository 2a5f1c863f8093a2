// Describes a tool: the part that a model sees, and what the runtime needs to run it safely.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// `parameters` is a JSON Schema (2020-12) of type object. Names match `[A-Za-z0-9_-]{1,64}` and are unique
/// within an agent.
struct ToolDefinition {
  std::string name;
  std::string description;
  Json parameters;
  /// Time spent waiting for humans does not count; 0: no timeout.
  std::chrono::milliseconds timeout{30'000};
  /// The call may be repeated with the same idempotency key after a crash.
  bool idempotent = false;
  /// Needs no allow rule: it reads nothing private and changes nothing outside the run.
  bool safe_by_default = false;
  /// Every call waits for an approval, unless a call rule pre-approves it. An allow rule does not.
  bool needs_approval = false;
};

/// What a person said to a question that a call asked while it ran.
struct CallAnswer {
  enum class Kind : std::uint8_t { kGiven, kDeclined, kExpired };
  Kind kind = Kind::kGiven;
  std::string text;      ///< the answer; JSON if the question has a schema of another type than string
  Json state = nullptr;  ///< what the call gave with its question
};

/// `{name, description, parameters}`: the part that a model sees.
Json to_json(const ToolDefinition& definition);
/// Error `kInput`: an invalid name, or parameters that are not an object schema.
Status check(const ToolDefinition& definition);

}  // namespace praxis
#pragma GCC visibility pop
