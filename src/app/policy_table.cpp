#include "app/policy_table.hpp"

#include <set>
#include <string>
#include <utility>

#include "app/setting_key.hpp"
#include "policy/filters.hpp"
#include "redact/redact_rules.hpp"

namespace praxis::app {
namespace {

/// Reads the tables at `path`, each with `read`.
template <class T>
Status read_tables(const TomlDocument& document, const std::string& path, Result<T> (*read)(const Json&),
                   std::vector<T>& out) {
  const JsonArray* const tables = document.at(path).if_array();
  for (std::size_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    auto item = read((*tables)[i]);
    if (!item) return document.mistake(path + '[' + std::to_string(i) + ']', item.error().message);
    out.push_back(*std::move(item));
  }
  return {};
}

Status check_ids(const TomlDocument& document, const std::vector<PolicyRule>& rules) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!ids.insert(rules[i].id).second)
      return document.mistake("policy.rules[" + std::to_string(i) + ']',
                              "another rule has the id \"" + rules[i].id + "\" as well");
  }
  return {};
}

Status read_flow(const TomlDocument& document, FlowRules& rules) {
  const Json& table = document.at("policy.flow");
  if (table.is_null()) return {};
  auto read = flow_rules_from_json(table);
  if (!read) return document.mistake("policy.flow", read.error().message);
  rules = *std::move(read);
  return {};
}

Status read_filters(const TomlDocument& document, Json& out) {
  const Json& tables = document.at("policy.filters");
  if (const auto read = filters::filters_from_json(tables); !read) {
    const std::int64_t index = json_int(read.error().detail(), "index", 0);
    return document.mistake("policy.filters[" + std::to_string(index) + ']', read.error().message);
  }
  out = tables;
  return {};
}

}  // namespace

Result<PolicyRules> policy_of(const TomlDocument& document) {
  PolicyRules rules{texts_of(document.at("policy.allow")), texts_of(document.at("policy.deny")),
                    texts_of(document.at("policy.ask"))};
  auto read = read_tables(document, "policy.calls", call_rule_from_json, rules.calls);
  if (read) read = read_tables(document, "policy.rules", policy_rule_from_json, rules.rules);
  if (read) read = check_ids(document, rules.rules);
  if (read) read = read_flow(document, rules.flow);
  if (read) read = read_filters(document, rules.filters);
  if (!read) return fail(std::move(read.error()));
  return rules;
}

Result<PolicyRules> policy_layer_of(const TomlDocument& document) {
  auto rules = policy_of(document);
  if (!rules) return rules;
  for (std::size_t i = 0; i < rules->rules.size(); ++i) {
    if (rules->rules[i].kind == RuleKind::kAllow)
      return document.mistake("policy.rules[" + std::to_string(i) + ']',
                              "a rule of the configuration asks or denies; what an agent may do is allowed "
                              "in its file");
  }
  rules->source = document.name();
  return rules;
}

std::vector<std::pair<std::string, std::string>> named_tools(const PolicyRules& rules) {
  std::vector<std::pair<std::string, std::string>> named;
  const auto add = [&](const char* list, std::size_t index, const std::vector<std::string>& tools) {
    for (const std::string& tool : tools)
      named.emplace_back("policy." + std::string(list) + '[' + std::to_string(index) + ']', tool);
  };
  for (std::size_t i = 0; i < rules.rules.size(); ++i) add("rules", i, rules.rules[i].tools);
  const auto read = filters::filters_from_json(rules.filters);
  for (std::size_t i = 0; read && i < read->size(); ++i) add("filters", i, (*read)[i].tools);
  return named;
}

Json redact_table(const Json& own, const Json& configured) {
  const std::string results = json_string(configured, "results");
  if (results.empty()) return own;
  Json table = own.is_null() ? Json(JsonObject()) : own;
  const auto level = [](const std::string& name) {
    return redact_level_from(name).value_or(RedactLevel::kUnset);
  };
  if (level(json_string(table, "results")) < level(results)) table.as_object()["results"] = results;
  return table;
}

Json bounds_of(const std::vector<PolicyRules>& layers) {
  if (layers.empty()) return nullptr;
  JsonArray bounds;
  for (const PolicyRules& layer : layers) bounds.push_back(to_json(layer));
  return bounds;
}

}  // namespace praxis::app
