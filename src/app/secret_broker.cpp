#include "app/secret_broker.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <utility>

#include "app/plain_text.hpp"
#include "app/setting_key.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {
namespace {

using app::SecretSource;

constexpr std::string_view kSecretTable = "secrets.";

std::unexpected<Error> wrong_secret(const std::string& name, const std::string& what) {
  return fail(ErrorCode::kInput, "the secret " + app::in_quotes(name) + ' ' + what);
}

/// The fields of each table `[secrets.NAME]`, as the layers of the configuration left them.
std::map<std::string, std::map<std::string, Setting>> secret_tables(const Config& config) {
  std::map<std::string, std::map<std::string, Setting>> tables;
  for (const auto& [path, setting] : config.settings) {
    if (!path.starts_with(kSecretTable)) continue;
    const std::size_t field = path.rfind('.');
    tables[path.substr(kSecretTable.size(), field - kSecretTable.size())][path.substr(field + 1)] = setting;
  }
  return tables;
}

std::vector<std::string> list_in(const std::map<std::string, Setting>& fields, const std::string& key) {
  const auto found = fields.find(key);
  if (found == fields.end()) return {};
  return texts_of(parse_json(found->second.value).value_or(Json()));
}

bool is_word_for_secret(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// Error: what is wrong with the table.
Result<SecretRule> rule_of(const std::string& name, const std::map<std::string, Setting>& fields) {
  const std::string origin = fields.begin()->second.origin + ": ";
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorCode::kInput, origin + "[secrets." + name + "] " + what);
  };
  if (!is_word_for_secret(name)) return wrong("must have a name of letters, digits, \"_\" and \"-\"");
  const auto from = fields.find("from");
  if (from == fields.end()) return wrong("needs \"from\": where the secret comes from");
  SecretRule rule{.name = name};
  auto source = SecretSource::parse(from->second.value);
  if (!source) return wrong("has the wrong \"from\": " + source.error().message);
  rule.source = *std::move(source);
  rule.hosts = list_in(fields, "hosts");
  auto hosts = HostRules::parse(rule.hosts);
  if (!hosts) return wrong("has the wrong \"hosts\": " + hosts.error().message);
  rule.host_rules = *std::move(hosts);
  rule.tools = list_in(fields, "tools");
  rule.agents = list_in(fields, "agents");
  return rule;
}

bool names_one(const std::vector<std::string>& all, const std::string& wanted) {
  return std::ranges::find(all, wanted) != all.end();
}

/// Whether a later value of the source can differ without the source being asked at some cost.
bool is_cheap(const SecretSource& source) {
  return source.kind == SecretSource::Kind::kFile || source.kind == SecretSource::Kind::kVariable;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }

}  // namespace

Result<std::shared_ptr<SecretBroker>> SecretBroker::of(const Config& config) {
  std::map<std::string, SecretRule> rules;
  for (const auto& [name, fields] : secret_tables(config)) {
    auto rule = rule_of(name, fields);
    if (!rule) return fail(std::move(rule.error()));
    rules.emplace(name, *std::move(rule));
  }
  return std::shared_ptr<SecretBroker>(new SecretBroker(std::move(rules)));
}

Result<const SecretRule*> SecretBroker::find(const std::string& name, const SecretUser& user) const {
  const auto found = rules_.find(name);
  if (found == rules_.end()) {
    std::vector<std::string> names;
    for (const std::string& known : std::views::keys(rules_)) names.push_back(known);
    const auto meant = closest(name, names);
    return wrong_secret(
        name, "is not in the configuration" + (meant ? "; did you mean " + app::in_quotes(*meant) + '?'
                                                     : ", which names it in a table [secrets." + name + "]"));
  }
  const SecretRule& rule = found->second;
  if (!rule.tools.empty() && !names_one(rule.tools, user.tool))
    return wrong_secret(name, "is not for the tool " + app::in_quotes(user.tool) + "; its \"tools\" are " +
                                  app::joined(rule.tools));
  const bool is_named = names_one(rule.agents, user.agent_file);
  if (!is_named && !rule.agents.empty())
    return wrong_secret(name, "is not for the agent " + app::in_quotes(user.agent_file) +
                                  ", which its \"agents\" do not name");
  if (!is_named && user.is_project)
    return wrong_secret(name, "is given to an agent of a project only if its \"agents\" name " +
                                  app::in_quotes(user.agent_file));
  return &rule;
}

Result<SecretBytes> read_secret_value(const SecretRule& rule) {
  const auto wrong = [&](const std::string& what) {
    return wrong_secret(rule.name, "cannot be read from " + rule.source.shown() + ": " + what);
  };
  auto read = app::read_secret(rule.source, SecretBroker::kMostBytes);
  if (!read) return wrong(read.error().message);
  std::string_view text = read->reveal();
  text = text.substr(0, text.find_last_not_of("\r\n") + 1);
  if (text.size() < SecretBroker::kLeastBytes)
    return wrong("it has less than " + std::to_string(SecretBroker::kLeastBytes) +
                 " bytes, so it could not be hidden where it occurs");
  if (std::ranges::any_of(text, is_control)) return wrong("it must be one line of text");
  return SecretBytes(text);
}

Result<std::shared_ptr<const SecretBytes>> SecretBroker::hand_out(const SecretRule& rule) {
  const std::lock_guard reading(reading_);
  if (const auto kept = kept_.find(rule.name); kept != kept_.end()) return kept->second;
  auto read = read_secret_value(rule);
  if (!read) return fail(std::move(read.error()));
  auto value = std::make_shared<const SecretBytes>(*std::move(read));
  if (!is_cheap(rule.source)) kept_[rule.name] = value;
  const std::lock_guard lock(mutex_);
  if (!names_one(handed_out_, std::string(value->reveal()))) {
    handed_out_.emplace_back(value->reveal());
    redactor_ = std::make_shared<const Redactor>(handed_out_);
  }
  return value;
}

std::vector<std::string> SecretBroker::handed_out() const {
  const std::lock_guard lock(mutex_);
  return handed_out_;
}

redact::Redaction SecretBroker::redaction() const {
  const std::lock_guard lock(mutex_);
  return redactor_ ? redact::Redaction(redactor_) : redact::Redaction();
}

}  // namespace praxis
