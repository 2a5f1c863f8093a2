#include "praxis/domain/agent_spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "praxis/json/describe.hpp"

namespace praxis {

/// US dollars, as a number.
template <>
struct JsonForm<MicroUsd> {
  static Status read(const Json& json, const std::string& path, MicroUsd& out) {
    constexpr double kMost = 9e12;
    const auto usd = read_double(json, path);
    if (!usd) return fail(usd.error());
    if (!(*usd >= 0 && *usd <= kMost)) return misfit(path, "must be US dollars, 0 or more");
    out.value = std::llround(*usd * 1e6);
    return {};
  }
  static Json write(MicroUsd value) { return value.usd(); }
};

PRAXIS_FIELDS(Limits, max_steps, max_tool_calls, timeout, max_tokens, max_usd, max_context,
              max_parallel_tools, max_model_attempts, max_repeats, max_messages, max_model_retries,
              compact_at, max_wait, patience)
PRAXIS_ENUM(RouteOrder, kPriority, kCost, kLatency)
PRAXIS_FIELDS(Route, order, max_usd, restart)

namespace {

/// A limit's name in journals of earlier versions.
struct FormerName {
  std::string_view former, name;
};
constexpr std::array<FormerName, 3> kFormerNames{
    {{"max_time_ms", "timeout"}, {"max_wait_ms", "max_wait"}, {"max_cost_usd", "max_usd"}}};

Json to_json(const ToolSpec& tool) {
  JsonObject out = praxis::to_json(tool.definition).as_object();
  out["timeout_ms"] = tool.definition.timeout.count();
  if (tool.definition.idempotent) out["idempotent"] = true;
  if (tool.definition.safe_by_default) out["safe_by_default"] = true;
  if (tool.definition.needs_approval) out["needs_approval"] = true;
  if (tool.retries != 0) {
    out["retries"] = tool.retries;
    if (tool.retry_delay.count() != 0) out["retry_delay_ms"] = tool.retry_delay.count();
  }
  if (tool.fatal_errors) out["fatal_errors"] = true;
  if (tool.result_from == ResultFrom::kPerson) out["asks_person"] = true;
  if (tool.result_from == ResultFrom::kClient) out["run_by_client"] = true;
  return out;
}

Result<ToolSpec> tool_spec_from_json(const Json& json) {
  ToolSpec tool;
  tool.definition.name = json_string(json, "name");
  tool.definition.description = json_string(json, "description");
  tool.definition.parameters = json_at(json, "parameters");
  tool.definition.timeout = Millis{json_int(json, "timeout_ms", 30'000)};
  tool.definition.idempotent = json_bool(json, "idempotent");
  tool.definition.safe_by_default = json_bool(json, "safe_by_default");
  tool.definition.needs_approval = json_bool(json, "needs_approval");
  tool.retries = static_cast<std::uint32_t>(json_int(json, "retries"));
  tool.retry_delay = Millis{json_int(json, "retry_delay_ms")};
  tool.fatal_errors = json_bool(json, "fatal_errors");
  if (json_bool(json, "asks_person")) tool.result_from = ResultFrom::kPerson;
  if (json_bool(json, "run_by_client")) tool.result_from = ResultFrom::kClient;
  if (auto valid = check(tool.definition); !valid) return fail(valid.error());
  return tool;
}

Json to_json(const ModelProfile& profile) {
  JsonObject out;
  if (profile.context_window != 0) out["context_window"] = profile.context_window;
  if (profile.compacts) out["compacts"] = true;
  if (profile.price_input.value != 0) out["price_input"] = profile.price_input.value;
  if (profile.price_cached.value != 0) out["price_cached"] = profile.price_cached.value;
  const TokenCounting& counting = profile.counting;
  if (counting.percent != TokenCounting{}.percent) out["token_percent"] = counting.percent;
  if (counting.tool_tokens != 0) out["tool_tokens"] = counting.tool_tokens;
  return out;
}

ModelProfile profile_from_json(const Json& json) {
  return {json_int(json, "context_window"),
          json_bool(json, "compacts"),
          {json_int(json, "price_input")},
          {json_int(json, "price_cached")},
          {std::max<std::int64_t>(json_int(json, "token_percent", TokenCounting{}.percent), 1),
           json_int(json, "tool_tokens")}};
}

}  // namespace

const ToolSpec* AgentSpec::find_tool(std::string_view tool) const {
  for (const ToolSpec& candidate : tools) {
    if (candidate.definition.name == tool) return &candidate;
  }
  return nullptr;
}

std::string AgentSpec::with_preface(std::string own) const {
  if (preface.empty()) return own;
  return own.empty() ? preface : preface + "\n\n" + own;
}

Json to_json(const Route& route) { return to_json_value(route); }

Status read_route(const Json& table, Route& route) { return read_settings(table, "route", route); }

Json to_json(const Limits& limits) {
  Json json = to_json_value(limits);
  if (limits.patience == Millis{0}) json.as_object().erase("patience");
  return json;
}

Status read_limits(const Json& table, Limits& limits) { return read_settings(table, "limits", limits); }

Limits limits_from_json(const Json& json) {
  // Sessions recorded before these bounds existed continue without them.
  Limits limits;
  limits.max_model_retries = limits.compact_at = 0;
  const JsonObject* members = json.if_object();
  if (members == nullptr) return limits;
  for (const auto& [key, value] : *members) {
    const auto* renamed = std::ranges::find(kFormerNames, std::string_view(key), &FormerName::former);
    const std::string_view name = renamed == kFormerNames.end() ? std::string_view(key) : renamed->name;
    // A member that is invalid, or that a later version wrote, leaves the limit unchanged.
    Limits changed = limits;
    if (read_limits(JsonObject{{name, value}}, changed)) limits = changed;
  }
  return limits;
}

Json to_json(const AgentSpec& spec) {
  JsonArray tools;
  for (const ToolSpec& tool : spec.tools) tools.push_back(to_json(tool));
  JsonObject out{{"id", spec.id}, {"limits", to_json(spec.limits)}};
  if (!spec.name.empty()) out["name"] = spec.name;
  if (!spec.description.empty()) out["description"] = spec.description;
  if (!spec.model.empty()) out["model"] = spec.model;
  if (spec.route != Route{}) out["route"] = to_json(spec.route);
  if (!spec.preface.empty()) out["preface"] = spec.preface;
  if (!spec.instructions.empty()) out["instructions"] = spec.instructions;
  if (spec.options != ModelOptions{}) out["options"] = to_json(spec.options);
  if (!tools.empty()) out["tools"] = std::move(tools);
  if (spec.tool_failure == ToolFailureMode::kFail) out["tool_failure"] = "fail";
  if (spec.in_doubt == InDoubt::kTell) out["in_doubt"] = "tell";
  if (!spec.plan.is_null()) out["plan"] = spec.plan;
  if (!spec.policy.is_null()) out["policy"] = spec.policy;
  if (!spec.bounds.is_null()) out["bounds"] = spec.bounds;
  if (!spec.metadata.is_null()) out["metadata"] = spec.metadata;
  if (spec.profile != ModelProfile{}) out["profile"] = to_json(spec.profile);
  return out;
}

Result<AgentSpec> agent_spec_from_json(const Json& json) {
  if (!json.is_object()) return fail(ErrorCode::kInput, "agent: must be a JSON object");
  AgentSpec spec;
  spec.id = json_string(json, "id", spec.id);
  spec.name = json_string(json, "name");
  spec.description = json_string(json, "description");
  spec.model = json_string(json, "model");
  if (const Json& route = json_at(json, "route"); !route.is_null()) {
    if (auto read = read_route(route, spec.route); !read) return fail(read.error());
  }
  spec.preface = json_string(json, "preface");
  spec.instructions = json_string(json, "instructions");
  spec.options = model_options_from_json(json_at(json, "options"));
  spec.limits = limits_from_json(json_at(json, "limits"));
  spec.tool_failure =
      json_string(json, "tool_failure") == "fail" ? ToolFailureMode::kFail : ToolFailureMode::kContinue;
  spec.in_doubt = json_string(json, "in_doubt") == "tell" ? InDoubt::kTell : InDoubt::kPark;
  spec.plan = json_at(json, "plan");
  spec.policy = json_at(json, "policy");
  spec.bounds = json_at(json, "bounds");
  spec.metadata = json_at(json, "metadata");
  spec.profile = profile_from_json(json_at(json, "profile"));
  if (const Json& tools = json_at(json, "tools"); tools.is_array()) {
    for (const Json& item : tools.get_array()) {
      auto tool = tool_spec_from_json(item);
      if (!tool) return fail(tool.error());
      spec.tools.push_back(*std::move(tool));
    }
  }
  return spec;
}

}  // namespace praxis
