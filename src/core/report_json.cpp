#include "praxis/core/report.hpp"

namespace praxis {
namespace {

JsonArray actions_json(const AgentResult& result) {
  JsonArray out;
  for (const ActionResult& action : result.actions) {
    out.push_back(JsonObject{{"step", action.step},
                             {"call", action.call.str()},
                             {"tool", action.tool},
                             {"outcome", to_string(action.outcome)},
                             {"arguments", action.arguments},
                             {"result", action.result},
                             {"attempts", action.attempts},
                             {"duration_ms", action.duration.count()}});
  }
  return out;
}

JsonArray model_calls_json(const AgentResult& result) {
  JsonArray out;
  for (const ModelCall& call : result.model_calls) {
    JsonObject item{{"step", call.step},
                    {"model", call.model},
                    {"finish", to_string(call.finish)},
                    {"usage", to_json(call.usage)},
                    {"attempts", call.attempts},
                    {"duration_ms", call.duration.count()}};
    if (!call.purpose.empty()) item["purpose"] = call.purpose;
    if (!call.provider.empty()) item["provider"] = call.provider;
    item["prompt"] = call.prompt.hex().substr(0, 32);
    out.push_back(std::move(item));
  }
  return out;
}

Json latency_json(const AgentResult& result) {
  JsonObject out;
  for (const auto& [tool, latency] : latency_by_tool(result)) out[tool] = latency.count();
  return out;
}

Json provenance_json(const AgentResult& result) {
  const Provenance& from = result.provenance;
  return JsonObject{{"session", result.session.str()},
                    {"last_seq", result.last_seq},
                    {"agent", from.agent},
                    {"instructions", from.instructions.hex()},
                    {"tools", from.tools.hex()},
                    {"models", JsonArray(from.models.begin(), from.models.end())}};
}

Json usage_json(const AgentResult& result) {
  std::map<std::string, Usage> per_model;
  for (const ModelCall& call : result.model_calls) per_model[call.model] += call.usage;
  JsonObject models;
  for (const auto& [model, usage] : per_model) models[model] = to_json(usage);
  return JsonObject{{"self", to_json(result.usage)},
                    {"subtree", to_json(result.usage + result.usage_children)},
                    {"per_model", std::move(models)}};
}

/// The cost of the turn and of all below it; null if some of it has no known price.
Json cost_json(const AgentResult& result) {
  const auto is_unknown = [](const Usage& usage) { return usage.total() != 0 && usage.cost.value == 0; };
  const Usage all = result.usage + result.usage_children;
  bool unknown = is_unknown(all) || is_unknown(result.usage_children);
  for (const ModelCall& call : result.model_calls) unknown = unknown || is_unknown(call.usage);
  return unknown ? Json(nullptr) : Json(all.cost.usd());
}

}  // namespace

std::map<std::string, Millis> latency_by_tool(const AgentResult& result) {
  std::map<std::string, Millis> tools;
  for (const ActionResult& action : result.actions) tools[action.tool] += action.duration;
  return tools;
}

Json to_json(const AgentResult& result) {
  JsonArray pending, errors;
  for (const ParkedStep& step : result.pending) pending.push_back(to_json(step));
  if (result.error) errors.push_back(to_json(*result.error));
  JsonObject retries{{"attempts", result.retries.attempts}};
  if (result.retries.last_error) retries["last_error"] = to_json(*result.retries.last_error);
  return JsonObject{
      {"schema_version", 1},
      {"run_id", result.session.str()},
      {"id", result.id},
      {"agent", result.agent},
      {"model", result.model},
      {"success", result.success},
      {"status", to_string(result.status)},
      {"termination", result.reason ? Json(to_string(*result.reason)) : Json(nullptr)},
      {"result", result.text},
      {"full_text", result.full_text},
      {"structured", result.structured},
      {"started_at", to_iso8601(result.started_at)},
      {"finished_at", result.finished_at.value == 0 ? Json(nullptr) : Json(to_iso8601(result.finished_at))},
      {"steps", result.steps},
      {"actions", actions_json(result)},
      {"model_calls", model_calls_json(result)},
      {"usage", usage_json(result)},
      {"cost_usd", cost_json(result)},
      {"denials", JsonArray(result.denials.begin(), result.denials.end())},
      {"pending", std::move(pending)},
      {"errors", std::move(errors)},
      {"memory_deltas", result.memory_deltas},
      {"retry_info", std::move(retries)},
      {"aborted", result.aborted()},
      {"provenance", provenance_json(result)},
      {"diagnostics", JsonObject{{"warnings", JsonArray(result.warnings.begin(), result.warnings.end())}}},
      {"seed", std::to_string(result.seed)},  // more than the 53 bits of other languages
      {"metrics", JsonObject{{"duration_ms", result.duration.count()},
                             {"tool_latency_ms", result.tool_latency.count()},
                             {"latency_by_tool_ms", latency_json(result)}}},
  };
}

}  // namespace praxis
