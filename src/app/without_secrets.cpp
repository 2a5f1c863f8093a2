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

/// Redacts the members of events in place. Values that are shared are copied first.
class EventTexts {
 public:
  explicit EventTexts(const redact::Redaction& redaction) : redaction_(redaction) {}

  void operator()(events::TurnStarted& e) const { agent(e.config); }
  void operator()(events::MessageAdded& e) const { message(e.message); }
  void operator()(events::StepCompleted& e) const { message(e.message); }
  void operator()(events::TurnCompleted& e) const { result(e.result); }
  void operator()(events::TurnFailed& e) const { result(e.result); }
  void operator()(events::TurnTimedOut& e) const { result(e.result); }
  void operator()(events::TurnCancelled& e) const { result(e.result); }
  void operator()(events::TextDelta& e) const { text(e.text); }
  void operator()(events::ReasoningDelta& e) const { text(e.text); }
  void operator()(events::ToolCallDelta& e) const { text(e.arguments); }
  void operator()(events::AssistantText& e) const { text(e.text); }
  void operator()(events::AssistantReasoning& e) const { text(e.text); }
  void operator()(events::ModelResponded& e) const { message(e.message); }
  void operator()(events::ModelFailed& e) const { redaction_.redact(e.error); }
  void operator()(events::ModelWaiting& e) const {
    if (e.error) redaction_.redact(*e.error);
  }
  void operator()(events::ToolCalled& e) const { json(e.arguments); }
  void operator()(events::ToolStarted& e) const { json(e.arguments); }
  void operator()(events::ToolProgress& e) const { text(e.text); }
  void operator()(events::ToolCompleted& e) const {
    text(e.text);
    json(e.arguments);
    redaction_.redact(e.value);
    if (!e.result) return;
    auto copy = std::make_shared<ToolResultPart>(*e.result);
    part(*copy);
    e.result = std::move(copy);
  }
  void operator()(events::ToolFailed& e) const {
    json(e.arguments);
    redaction_.redact(e.error);
  }
  void operator()(events::ToolTimedOut& e) const { json(e.arguments); }
  void operator()(events::StepParked& e) const { step(e.step); }
  void operator()(events::StepDecided& e) const { json(e.decision.text); }
  void operator()(events::SessionPaused& e) const { text(e.reason); }
  void operator()(events::SessionIntervened& e) const {
    text(e.intervention.text);
    text(e.intervention.original);
    agent(e.intervention.agent);
  }
  void operator()(events::HistoryCut& e) const { text(e.summary); }
  void operator()(events::AgentStatus& e) const {
    text(e.content);
    text(e.comment);
  }
  void operator()(events::HookFailed& e) const { text(e.message); }
  void operator()(events::Custom& e) const { redaction_.redact(e.payload); }
  // These hold names, ids and figures.
  void operator()(events::StepStarted&) const {}
  void operator()(events::ModelRequested&) const {}
  void operator()(events::AttemptSuperseded&) const {}
  void operator()(events::ChildSpawned&) const {}
  void operator()(events::ChildSettled&) const {}
  void operator()(events::SessionUnpaused&) const {}
  void operator()(events::SessionRecovered&) const {}
  void operator()(events::PrefixBroken&) const {}

 private:
  void text(std::string& text) const { text = redaction_.text(std::move(text)); }
  void json(std::string& text) const { text = redaction_.json_text(std::move(text)); }

  void agent(AgentSpecPtr& spec) const {
    if (!spec) return;
    auto copy = std::make_shared<AgentSpec>(*spec);
    text(copy->preface);
    text(copy->instructions);
    text(copy->description);
    redaction_.redact(copy->plan);
    redaction_.redact(copy->metadata);
    redaction_.redact(copy->policy);
    redaction_.redact(copy->bounds);
    for (ToolSpec& tool : copy->tools) text(tool.definition.description);
    spec = std::move(copy);
  }

  void message(MessagePtr& message) const {
    if (!message) return;
    auto copy = std::make_shared<Message>(*message);
    for (Part& one : copy->parts) std::visit([this](auto& p) { part(p); }, one);
    redaction_.redact(copy->metadata);
    message = std::move(copy);
  }

  // What the vendor wants back byte by byte is in `vendor`, which stays.
  void part(TextPart& p) const {
    text(p.text);
    for (Citation& citation : p.citations) {
      text(citation.url);
      text(citation.title);
      text(citation.quote);
    }
  }
  void part(ReasoningPart& p) const {
    text(p.text);
    text(p.summary);
  }
  void part(ToolCallPart& p) const { json(p.arguments); }
  void part(ToolResultPart& p) const {
    text(p.text);
    for (ImagePart& image : p.images) part(image);
    for (FilePart& file : p.files) part(file);
  }
  void part(ImagePart& p) const { text(p.source.url); }
  void part(FilePart& p) const {
    text(p.source.url);
    text(p.name);
  }
  void part(RefusalPart& p) const { text(p.text); }
  void part(CompactionPart& p) const { text(p.summary); }
  void part(OpaquePart&) const {}

  void step(ParkedStep& step) const {
    text(step.prompt);
    json(step.arguments);
    redaction_.redact(step.schema);
  }

  void result(AgentResult& result) const {
    text(result.text);
    text(result.full_text);
    redaction_.redact(result.structured);
    message(result.message);
    for (MessagePtr& each : result.messages) message(each);
    if (result.error) redaction_.redact(*result.error);
    if (result.retries.last_error) redaction_.redact(*result.retries.last_error);
    for (ActionResult& action : result.actions) {
      json(action.arguments);
      text(action.result);
    }
    for (ParkedStep& each : result.pending) step(each);
    for (std::string& each : result.denials) text(each);
    for (std::string& each : result.warnings) text(each);
    redaction_.redact(result.memory_deltas);
  }

  const redact::Redaction& redaction_;
};

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
  shared_->find_secrets = [workspace] { return configured_secrets(workspace); };
  shared_->broker = workspace.secrets;
}

redact::Redaction Redactions::at(RedactPoint point) const { return made(point, shared_->configured); }

redact::Redaction Redactions::at(RedactPoint point, const AgentSpec& agent) const {
  return made(point, stricter(shared_->configured, redact_rules_of(agent)));
}

redact::Redaction Redactions::made(RedactPoint point, const RedactRules& rules) const {
  return redact::redaction(rules.*point, rules.personal, shared_->known(), shared_->key);
}

void redact(Event& event, const redact::Redaction& redaction) {
  if (!redaction.is_off()) std::visit(EventTexts(redaction), event.body);
}

const redact::Redaction& redaction_of_errors() {
  static const redact::Redaction redaction =
      redact::redaction(RedactLevel::kBalanced, false, nullptr, random_key());
  return redaction;
}

}  // namespace praxis::app
