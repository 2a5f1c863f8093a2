#include "praxis/policy/flow_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace praxis {
namespace {

constexpr std::array kFlowModes{FlowMode::kOff, FlowMode::kAsk, FlowMode::kDeny};

std::unexpected<Error> no_flow(std::string why) {
  return fail(ErrorCode::kInput, "policy.flow" + std::move(why));
}

Result<std::vector<std::string>> flow_texts(const std::string& key, const Json& value) {
  const JsonArray* const list = value.if_array();
  std::vector<std::string> texts;
  if (list == nullptr) return no_flow(key + " must be an array of strings, not " + to_json_text(value));
  for (const Json& item : *list) {
    if (!item.is_string() || item.get_string().empty())
      return no_flow(key + " must have non-empty strings, not " + to_json_text(item));
    texts.emplace_back(item.get_string());
  }
  return texts;
}

Status read_sinks(const Json& value, FlowRules& rules) {
  if (!value.is_object())
    return no_flow(".sinks must be a table of tools with arrays of arguments, not " + to_json_text(value));
  for (const auto& [tool, arguments] : value.get_object()) {
    auto read = flow_texts(".sinks." + std::string(tool), arguments);
    if (!read) return fail(std::move(read.error()));
    rules.sinks.emplace(tool, *std::move(read));
  }
  return {};
}

Status read_given(const Json& value, FlowRules& rules) {
  rules.has_given = true;
  for (auto [key, list] : {std::pair{"words", &rules.given.words}, std::pair{"read", &rules.given.read}}) {
    auto read = flow_texts(std::string(".given.") + key, json_at(value, key));
    if (!read) return fail(std::move(read.error()));
    *list = *std::move(read);
  }
  return {};
}

Status read_mode(const Json& value, FlowRules& rules) {
  const auto mode = std::ranges::find_if(
      kFlowModes, [&](FlowMode each) { return value.is_string() && value.get_string() == to_string(each); });
  if (mode == kFlowModes.end())
    return no_flow(".mode must be \"off\", \"ask\" or \"deny\", not " + to_json_text(value));
  rules.mode = *mode;
  return {};
}

JsonArray array_of(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

}  // namespace

std::string_view to_string(FlowMode mode) {
  switch (mode) {
    case FlowMode::kOff:
      return "off";
    case FlowMode::kAsk:
      return "ask";
    case FlowMode::kDeny:
      return "deny";
  }
  std::unreachable();
}

Json to_json(const FlowRules& rules) {
  JsonObject out{{"mode", to_string(rules.mode)}};
  const auto add = [&out](const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) out[key] = array_of(texts);
  };
  add("sources", rules.sources);
  add("trusted", rules.trusted);
  add("reads", rules.reads);
  add("values", rules.values);
  if (!rules.sinks.empty()) {
    JsonObject& sinks = out["sinks"].emplace_object();
    for (const auto& [tool, arguments] : rules.sinks) sinks[tool] = array_of(arguments);
  }
  if (rules.has_given)
    out["given"] = JsonObject{{"words", array_of(rules.given.words)}, {"read", array_of(rules.given.read)}};
  return out;
}

Result<FlowRules> flow_rules_from_json(const Json& json) {
  if (!json.is_object()) return no_flow(" must be a table, not " + to_json_text(json));
  FlowRules rules;
  for (const auto& [key, value] : json.get_object()) {
    Status read;
    std::vector<std::string>* const list = key == "sources"   ? &rules.sources
                                           : key == "trusted" ? &rules.trusted
                                           : key == "reads"   ? &rules.reads
                                           : key == "values"  ? &rules.values
                                                              : nullptr;
    if (list != nullptr) {
      auto texts = flow_texts('.' + std::string(key), value);
      if (!texts) return fail(std::move(texts.error()));
      *list = *std::move(texts);
    } else if (key == "mode") {
      read = read_mode(value, rules);
    } else if (key == "sinks") {
      read = read_sinks(value, rules);
    } else if (key == "given") {
      read = read_given(value, rules);
    } else {
      read = no_flow(" has mode, sources, trusted, reads, sinks and values, not \"" + std::string(key) + '"');
    }
    if (!read) return fail(std::move(read.error()));
  }
  return rules;
}

FlowRules narrowed(const FlowRules& before, const FlowRules& after) {
  if (before.mode == FlowMode::kOff) return after;
  FlowRules both = before;
  both.mode = std::max(before.mode, after.mode);
  return both;
}

}  // namespace praxis
