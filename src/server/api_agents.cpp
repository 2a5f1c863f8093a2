// Agents as they are configured, what their rules say about a call, and the settings of the server.
#include <string>
#include <utility>

#include "app/config_text.hpp"
#include "app/policy_check.hpp"
#include "praxis/base/environment.hpp"
#include "server/handlers.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

JsonArray rules_json(const AgentSpec& spec) {
  JsonArray layers;
  for (const PolicyRules& rules : app::rules_of(spec)) {
    layers.push_back(
        JsonObject{{"layer", rules.source.empty() ? "the agent" : rules.source}, {"rules", to_json(rules)}});
  }
  return layers;
}

}  // namespace

Result<HttpAnswer> show_agent(Service& service, const Call& call) {
  if (auto may = check_agent(call, call.name("agent")); !may) return fail(may.error());
  const auto agent = service.runs->described(call.name("agent"));
  if (!agent) return fail(agent.error());
  const AgentSpec& spec = agent->spec();
  JsonArray tools;
  for (const ToolSpec& tool : spec.tools) {
    tools.push_back(JsonObject{{"name", tool.definition.name},
                               {"description", tool.definition.description},
                               {"parameters", tool.definition.parameters}});
  }
  return json_answer(JsonObject{{"name", call.name("agent")},
                                {"description", spec.description},
                                {"model", spec.model},
                                {"instructions", spec.instructions},
                                {"tools", std::move(tools)},
                                {"limits", to_json(spec.limits)},
                                {"policy", rules_json(spec)}});
}

Result<HttpAnswer> try_policy(Service& service, const Call& call) {
  const auto body = call.object({"tool", "arguments"});
  if (!body) return fail(body.error());
  auto tool = text_of(*body, "tool");
  if (!tool) return fail(tool.error());
  if (tool->empty()) return fail(field_error("tool", "is missing: the name of the tool that is called"));
  const Json* const arguments = body->if_contains("arguments");
  if (arguments != nullptr && !arguments->is_object())
    return fail(field_error("arguments", "must be an object"));
  if (auto may = check_agent(call, call.name("agent")); !may) return fail(may.error());
  const auto agent = service.runs->described(call.name("agent"));
  if (!agent) return fail(agent.error());
  ToolCallPart wanted;
  wanted.name = *std::move(tool);
  wanted.arguments = arguments == nullptr ? "{}" : to_json_text(*arguments);
  const auto answer = app::check_policy(*agent, wanted, {system_environment()->now()});
  if (!answer) return fail(Error(answer.error()).set("field", "tool"));
  JsonArray judgements;
  for (const app::PolicyLayer& layer : answer->layers) {
    judgements.push_back(JsonObject{{"layer", layer.name},
                                    {"permission", app::permission_name(layer.judgement.permission)},
                                    {"by", layer.judgement.decided_by},
                                    {"reason", app::reason_of(layer.judgement.permission)}});
  }
  return json_answer(JsonObject{{"permission", app::permission_name(answer->permission)},
                                {"reason", app::reason_of(answer->permission)},
                                {"judgements", std::move(judgements)}});
}

Result<HttpAnswer> list_settings(Service& service, const Call& call) {
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token sees no settings"));
  const Config& config = service.workspace->config;
  JsonArray settings;
  for (const auto& [key, setting] : config.settings) {
    JsonArray layers;
    if (const auto given = config.given.find(key); given != config.given.end()) {
      for (const Setting& each : given->second)
        layers.push_back(JsonObject{
            {"layer", each.layer}, {"value", app::shown_value(key, each)}, {"origin", each.origin}});
    }
    settings.push_back(JsonObject{{"key", key},
                                  {"value", app::shown_value(key, setting)},
                                  {"origin", setting.origin},
                                  {"layers", std::move(layers)}});
  }
  JsonArray warnings;
  for (const std::string& warning : config.warnings) warnings.push_back(Json(warning));
  return json_answer(JsonObject{{"settings", std::move(settings)}, {"warnings", std::move(warnings)}});
}

}  // namespace praxis::server
