// What the handle of a running turn acts on: one session, or the conversation of a team.
#pragma once

#include <string>

#include "praxis/base/ids.hpp"
#include "praxis/domain/command.hpp"

namespace praxis {

/// Thread-safe.
class RunControl {
 public:
  virtual ~RunControl() = default;
  virtual SessionId session_id() const = 0;
  virtual void command(CommandVerb verb, std::string text) = 0;
  virtual void interrupt() = 0;
};

}  // namespace praxis
