#include "app/without_secrets.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "app/secret_broker.hpp"
#include "models/provider_access.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::app {
namespace {

std::string random_key() {
  const auto environment = system_environment();
  std::string key;
  for (int i = 0; i < 4; ++i) key += std::to_string(environment->random());
  return key;
}

/// The secrets of tools that can be read without a command. Others are known once they were handed out.
void add_tool_secrets(const Workspace& workspace, std::vector<std::string>& secrets) {
  using Kind = SecretSource::Kind;
  if (!workspace.secrets) return;
  for (const SecretRule& rule : std::views::values(workspace.secrets->rules())) {
    if (rule.source.kind != Kind::kFile && rule.source.kind != Kind::kVariable) continue;
    if (const auto value = read_secret_value(rule)) secrets.emplace_back(value->reveal());
  }
}

/// The keys of all providers that are configured here. Those that cannot be read are not used either.
std::vector<std::string> configured_secrets(const Workspace& workspace) {
  std::vector<std::string> secrets;
  add_tool_secrets(workspace, secrets);
  const auto catalog = open_catalog(workspace);
  if (!catalog) return secrets;
  const auto variable = [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  for (const std::string& id : (*catalog)->providers()) {
    const auto access = access_to(*(*catalog)->provider(id), variable);
    if (access) secrets.insert(secrets.end(), access->secrets.begin(), access->secrets.end());
  }
  return secrets;
}

/// The rules of the agent's own file. An agent below others cannot turn redaction off.
RedactRules redact_rules_of(const AgentSpec& agent) {
  constexpr RedactLevel kAll = RedactLevel::kStrict;  // what cannot be read may have asked for everything
  const Json& table = json_at(agent.policy, "redact");
  if (table.is_null()) return {};
  const RedactRules own = redact_rules_from_json(table).value_or(RedactRules{kAll, kAll, kAll, true});
  const JsonArray* const bounds = agent.bounds.if_array();
  const bool is_below =
      bounds != nullptr && std::ranges::any_of(*bounds, [](const Json& rules) {
        return json_string(rules, "source").empty();  // with one: a layer of the configuration
      });
  return is_below ? narrowed({}, own) : own;
}

}  // namespace

RedactRules redact_rules_of(const Config& config) {
  RedactRules rules;
  const auto each = [&](const std::string& path, const auto& use) {
    const auto given = config.given.find(path);
    if (given == config.given.end()) return;
    for (const Setting& setting : given->second) use(setting.value);
  };
  for (const auto& [name, level] : kRedactPoints) {
    each("policy.redact." + std::string(name), [&, at = level](const std::string& value) {
      rules.*at = std::max(rules.*at, redact_level_from(value).value_or(RedactLevel::kStrict));
    });
  }
  each("policy.redact.personal", [&](const std::string& value) { rules.personal |= value == "true"; });
  return rules;
}

struct Redactions::Shared {
  RedactRules configured;
  std::vector<PolicyRules> layers;  ///< of the configuration
  std::string key = random_key();
  std::function<std::vector<std::string>()> find_secrets;
  std::shared_ptr<SecretBroker> broker;

  /// Masks what is configured, and what tools were given since.
  std::shared_ptr<const Redactor> known() {
    const std::vector<std::string> given = broker ? broker->handed_out() : std::vector<std::string>();
    const std::lock_guard lock(mutex_);
    if (!configured_ones_) configured_ones_ = find_secrets ? find_secrets() : std::vector<std::string>();
    if (!redactor_ || given.size() != given_before_) {
      std::vector<std::string> all = *configured_ones_;
      all.insert(all.end(), given.begin(), given.end());
      redactor_ = std::make_shared<const Redactor>(all);
      given_before_ = given.size();
    }
    return redactor_;
  }

 private:
  std::mutex mutex_;
  std::optional<std::vector<std::string>> configured_ones_;
  std::size_t given_before_ = 0;
  std::shared_ptr<const Redactor> redactor_;
};

Redactions::Redactions() : shared_(std::make_shared<Shared>()) {}

Redactions::Redactions(const Workspace& workspace) : Redactions() {
  shared_->configured = redact_rules_of(workspace.config);
  shared_->layers = workspace.config.policy;
  shared_->find_secrets = [workspace] { return configured_secrets(workspace); };
  shared_->broker = workspace.secrets;
}

redact::Redaction Redactions::at(RedactPoint point) const {
  return made(point, shared_->configured).then(filters_at(point, {}));
}

redact::Redaction Redactions::at(RedactPoint point, const AgentSpec& agent) const {
  return made(point, stricter(shared_->configured, redact_rules_of(agent))).then(filters_at(point, agent));
}

filters::FilterSetPtr Redactions::filters_of(const AgentSpec& agent) const {
  AgentSpec all;
  all.policy = agent.policy;
  JsonArray bounds;
  if (const JsonArray* const above = agent.bounds.if_array()) bounds = *above;
  for (const PolicyRules& layer : shared_->layers) {
    Json rules = to_json(layer);
    if (std::ranges::find(bounds, rules) == bounds.end()) bounds.push_back(std::move(rules));
  }
  all.bounds = std::move(bounds);
  return filters::filters_of(all);
}

redact::TextRulePtr Redactions::filters_at(RedactPoint point, const AgentSpec& agent) const {
  if (point == &RedactRules::results) return nullptr;
  const bool exports = point == &RedactRules::exports;
  return filters::text_rule(filters_of(agent), exports ? filters::Point::kExport : filters::Point::kShown);
}

redact::Redaction Redactions::made(RedactPoint point, const RedactRules& rules) const {
  return redact::redaction(rules.*point, rules.personal, shared_->known(), shared_->key);
}

const redact::Redaction& redaction_of_errors() {
  static const redact::Redaction redaction =
      redact::redaction(RedactLevel::kBalanced, false, nullptr, random_key());
  return redaction;
}

}  // namespace praxis::app
