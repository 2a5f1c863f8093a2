// Keeps what sessions of the same agent share, so that each new session does not compute it again.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "praxis/core/records.hpp"

namespace praxis {

/// Remembers the last agent. Thread-safe. Keeps no description of a program's agent alive, which may own the
/// runtime.
class SharedSpecs {
 public:
  /// Returns the description completed with the profile of its model, the instructions of the runtime and,
  /// if it has none, the runtime's patience: one copy for sessions in a row.
  AgentSpecPtr completed(const AgentSpecPtr& spec, const ModelProfile& profile, const std::string& preface,
                         Millis patience = Millis{0});
  std::shared_ptr<const PreparedAgent> prepared(const AgentSpecPtr& spec);

 private:
  std::mutex mutex_;
  std::weak_ptr<const AgentSpec> original_;  ///< of `completed_`
  AgentSpecPtr completed_;
  std::weak_ptr<const AgentSpec> prepared_for_;
  std::shared_ptr<const PreparedAgent> prepared_;
};

}  // namespace praxis
