// What leaves the program without secrets: the rules of `[policy.redact]` and the configured keys, as one
// value that each surface calls.
#pragma once

#include <memory>
#include <string>

#include "app/workspace.hpp"
#include "policy/event_texts.hpp"
#include "policy/filters.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "redact/redact_rules.hpp"
#include "redact/redaction.hpp"

namespace praxis::app {

/// The redaction of messages of failures and of the progress on standard error: secrets, always.
const redact::Redaction& redaction_of_errors();

/// `[policy.redact]` of all layers of the configuration: none lowers the level of another.
RedactRules redact_rules_of(const Config& config);

/// A place where text leaves the program, such as `&RedactRules::exports`.
using RedactPoint = RedactLevel RedactRules::*;

/// Gives each surface its redaction. The tokens of equal values are equal in all of them. Cheap to copy;
/// thread-safe.
class Redactions {
 public:
  /// By the rules without any configuration; knows no keys.
  Redactions();
  /// By the rules of the configuration. The keys of providers are looked up when text is redacted first.
  explicit Redactions(const Workspace& workspace);

  /// For text that belongs to no run.
  redact::Redaction at(RedactPoint point) const;
  /// For a run of this agent: also by the rules that it was created with.
  redact::Redaction at(RedactPoint point, const AgentSpec& agent) const;
  /// The content filters of the agent, of those above it and of the present configuration; null: no filter
  /// applies.
  filters::FilterSetPtr filters_of(const AgentSpec& agent) const;
  /// Only the content filters at `export`.
  redact::Redaction filters_of_exports(const AgentSpec& agent) const {
    return redact::Redaction().then(filters_at(&RedactRules::exports, agent));
  }
  /// Only the content filters at `shown`.
  redact::Redaction filters_of_shown(const AgentSpec& agent) const {
    return redact::Redaction().then(filters_at(&RedactRules::events, agent));
  }

 private:
  struct Shared;
  redact::TextRulePtr filters_at(RedactPoint point, const AgentSpec& agent) const;
  redact::Redaction made(RedactPoint point, const RedactRules& rules) const;

  std::shared_ptr<Shared> shared_;
};

}  // namespace praxis::app
