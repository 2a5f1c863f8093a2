// What a model is told of a tool, and what the runtime needs to know to run it safely.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "praxis/json/json.hpp"

namespace praxis {

/// `parameters` is a JSON Schema (2020-12) of type object. Names are `[A-Za-z0-9_-]{1,64}`, unique in an
/// agent.
struct ToolDefinition {
  std::string name;
  std::string description;
  Json parameters;
  std::chrono::milliseconds timeout{30'000};  ///< time in which it waits for people does not count; 0: none
  bool idempotent = false;                    ///< may be repeated with the same idempotency key after a crash
  bool safe_by_default =
      false;  ///< needs no allow rule: reads nothing private, changes nothing outside the run
};

/// `{name, description, parameters}`: the part a model sees.
Json to_json(const ToolDefinition& definition);
/// Error `kInput`: a name out of range, or parameters that are no object schema.
Status check(const ToolDefinition& definition);

}  // namespace praxis
