#include "praxis/domain/agent_spec.hpp"

#include <algorithm>

namespace praxis {
namespace {

Json to_json(const ToolSpec& tool) {
  JsonObject out = praxis::to_json(tool.definition).as_object();
  out["timeout_ms"] = tool.definition.timeout.count();
  if (tool.definition.idempotent) out["idempotent"] = true;
  if (tool.definition.safe_by_default) out["safe_by_default"] = true;
  if (tool.retries != 0) out["retries"] = tool.retries;
  if (tool.fatal_errors) out["fatal_errors"] = true;
  if (tool.asks_person) out["asks_person"] = true;
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
  tool.retries = static_cast<std::uint32_t>(json_int(json, "retries"));
  tool.fatal_errors = json_bool(json, "fatal_errors");
  tool.asks_person = json_bool(json, "asks_person");
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

Json to_json(const Limits& limits) {
  JsonObject out{{"max_steps", limits.max_steps},
                 {"max_tool_calls", limits.max_tool_calls},
                 {"max_time_ms", limits.max_time.count()},
                 {"max_tokens", limits.max_tokens},
                 {"max_cost_usd", limits.max_cost.usd()},
                 {"max_context", limits.max_context},
                 {"max_parallel_tools", limits.max_parallel_tools},
                 {"max_model_attempts", limits.max_model_attempts},
                 {"max_repeats", limits.max_repeats},
                 {"max_messages", limits.max_messages},
                 {"max_model_retries", limits.max_model_retries},
                 {"compact_at", limits.compact_at}};
  if (limits.max_wait.count() != 0) out["max_wait_ms"] = limits.max_wait.count();
  return out;
}

Limits limits_from_json(const Json& json) {
  const Limits defaults;
  const auto number = [&](std::string_view key, std::uint32_t fallback) {
    return static_cast<std::uint32_t>(json_int(json, key, fallback));
  };
  Limits limits;
  limits.max_steps = number("max_steps", defaults.max_steps);
  limits.max_tool_calls = number("max_tool_calls", defaults.max_tool_calls);
  limits.max_time = Millis{json_int(json, "max_time_ms")};
  limits.max_tokens = json_int(json, "max_tokens");
  limits.max_cost = {static_cast<std::int64_t>(json_double(json, "max_cost_usd") * 1e6 + 0.5)};
  limits.max_context = json_int(json, "max_context");
  limits.max_parallel_tools = number("max_parallel_tools", defaults.max_parallel_tools);
  limits.max_model_attempts = number("max_model_attempts", defaults.max_model_attempts);
  limits.max_repeats = number("max_repeats", defaults.max_repeats);
  limits.max_messages = number("max_messages", defaults.max_messages);
  // Sessions recorded before these bounds existed continue without them.
  limits.max_model_retries = number("max_model_retries", 0);
  limits.compact_at = number("compact_at", 0);
  limits.max_wait = Millis{json_int(json, "max_wait_ms")};
  return limits;
}

Json to_json(const AgentSpec& spec) {
  JsonArray tools;
  for (const ToolSpec& tool : spec.tools) tools.push_back(to_json(tool));
  JsonObject out{{"id", spec.id}, {"limits", to_json(spec.limits)}};
  if (!spec.name.empty()) out["name"] = spec.name;
  if (!spec.model.empty()) out["model"] = spec.model;
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
  spec.model = json_string(json, "model");
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
