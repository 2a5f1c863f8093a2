#include "server/route_rights.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace praxis::server {
namespace {

struct Row {
  std::string_view method, path;
  RouteNeeds needs;
};

constexpr std::array kRows{
    Row{"GET", "/", OpenToAll{}},
    Row{"GET", "/assets/{file}", OpenToAll{}},
    Row{"POST", "/api/v1/login", OpenToAll{}},
    Row{"GET", "/healthz", OpenToAll{}},
    Row{"GET", "/readyz", OpenToAll{}},
    Row{"GET", "/metrics", Right::kReadConfiguration},
    Row{"GET", "/api/v1/openapi.json", OpenToAll{}},
    Row{"GET", "/api/v1/agents", Right::kRun},
    Row{"GET", "/api/v1/agents/{agent}", Right::kReadConfiguration},
    Row{"POST", "/api/v1/agents/{agent}/policy", Right::kReadConfiguration},
    Row{"POST", "/api/v1/runs", Right::kRun},
    Row{"GET", "/api/v1/runs", Right::kReadHistory},
    Row{"POST", "/api/v1/import", Right::kAdminister},
    Row{"GET", "/api/v1/models", Right::kReadConfiguration},
    Row{"GET", "/api/v1/runs/{id}", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/messages", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/context", Right::kReadHistory},
    Row{"POST", "/api/v1/runs/{id}/messages", Right::kRun},
    Row{"GET", "/api/v1/runs/{id}/events", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/history", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/tree", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/tree/rows", Right::kReadHistory},
    Row{"GET", "/api/v1/tree", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/export", Right::kReadHistory},
    Row{"POST", "/api/v1/runs/{id}/commands", Right::kIntervene},
    Row{"GET", "/api/v1/runs/{id}/steps/{step}", Right::kReadHistory},
    Row{"POST", "/api/v1/runs/{id}/steps/{step}", Right::kApprove},
    Row{"POST", "/api/v1/runs/{id}/resume", Right::kRun},
    Row{"DELETE", "/api/v1/runs/{id}", Right::kIntervene},
    Row{"POST", "/api/v1/runs/{id}/fork", Right::kRun},
    Row{"GET", "/api/v1/runs/{id}/branches", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/diff", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/records", Right::kReadHistory},
    Row{"POST", "/api/v1/runs/{id}/rewind", Right::kIntervene},
    Row{"POST", "/api/v1/runs/{id}/undo", Right::kIntervene},
    Row{"POST", "/api/v1/runs/{id}/replay", Right::kReadHistory},
    Row{"GET", "/api/v1/events", Right::kReadHistory},
    Row{"GET", "/api/v1/runs/{id}/compare/{other}", Right::kReadHistory},
    Row{"GET", "/api/v1/usage", Right::kReadHistory},
    Row{"GET", "/api/v1/stats", Right::kReadHistory},
    Row{"GET", "/api/v1/settings", Right::kReadConfiguration},
    Row{"GET", "/api/v1/doctor", Right::kReadConfiguration},
    Row{"GET", "/api/v1/prompts", Right::kChangePrompts},
    Row{"GET", "/api/v1/prompts/{prompt}", Right::kChangePrompts},
    Row{"POST", "/api/v1/prompts/{prompt}/labels", Right::kChangePrompts},
    Row{"GET", "/api/v1/memory", Right::kReadMemory},
    Row{"GET", "/api/v1/blobs/{digest}", Right::kReadHistory},
    Row{"GET", "/api/v1/pending", Right::kReadHistory},
    Row{"GET", "/v1/models", Right::kRun},
    Row{"GET", "/v1/models/{model}", Right::kRun},
    Row{"POST", "/v1/chat/completions", Right::kRun},
    Row{"POST", "/v1/responses", Right::kRun},
    Row{"GET", "/v1/responses/{response}", Right::kReadHistory},
    Row{"POST", "/v1/responses/{response}/cancel", Right::kIntervene},
    Row{"DELETE", "/v1/responses/{response}", Right::kIntervene},
    Row{"GET", "/v1/responses/{response}/input_items", Right::kReadHistory},
    Row{"POST", "/v1/conversations", Right::kRun},
    Row{"GET", "/v1/conversations/{conversation}", Right::kReadHistory},
    Row{"POST", "/v1/conversations/{conversation}", Right::kRun},
    Row{"DELETE", "/v1/conversations/{conversation}", Right::kIntervene},
    Row{"GET", "/v1/conversations/{conversation}/items", Right::kReadHistory},
    Row{"POST", "/v1/conversations/{conversation}/items", Right::kRun},
    Row{"GET", "/v1/conversations/{conversation}/items/{item}", Right::kReadHistory},
    Row{"DELETE", "/v1/conversations/{conversation}/items/{item}", Right::kIntervene},
    Row{"POST", "/api/ai/chat", Right::kRun},
    Row{"GET", "/api/ai/chat/{chat}/stream", Right::kReadHistory},
    Row{"POST", "/api/agui/{agent}", Right::kRun},
    Row{"GET", "/.well-known/agent-card.json", OpenToAll{}},
    Row{"GET", "/a2a/{agent}/.well-known/agent-card.json", Right::kRun},
    Row{"POST", "/a2a/{agent}", ByOperation{}},
    Row{"POST", "/a2a/{agent}/message:send", Right::kRun},
    Row{"POST", "/a2a/{agent}/message:stream", Right::kRun},
    Row{"GET", "/a2a/{agent}/tasks", Right::kReadHistory},
    Row{"GET", "/a2a/{agent}/tasks/{task}:subscribe", Right::kReadHistory},
    Row{"POST", "/a2a/{agent}/tasks/{task}:subscribe", Right::kReadHistory},
    Row{"POST", "/a2a/{agent}/tasks/{task}:cancel", Right::kIntervene},
    Row{"GET", "/a2a/{agent}/tasks/{task}", Right::kReadHistory},
    Row{"POST", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs", Right::kRun},
    Row{"GET", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs", Right::kRun},
    Row{"GET", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{config}", Right::kRun},
    Row{"DELETE", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{config}", Right::kRun},
    Row{"GET", "/a2a/{agent}/extendedAgentCard", Right::kRun},
    Row{"POST", "/mcp", ByOperation{}},
    Row{"DELETE", "/mcp", ByOperation{}},
    Row{"GET", "/agent/stream", Right::kRun},
    Row{"GET", "/agent/tree", Right::kReadHistory},
    Row{"GET", "/agent/{id}", Right::kReadHistory},
    Row{"POST", "/agent/{id}/intervene", Right::kIntervene},
};

}  // namespace

std::optional<RouteNeeds> needs_of(const Route& route) {
  const auto found = std::ranges::find_if(
      kRows, [&](const Row& row) { return row.method == route.method && row.path == route.path; });
  return found == kRows.end() ? std::nullopt : std::optional(found->needs);
}

Status check_right(const Principal& principal, Right right) {
  if (principal.rights.has(right)) return {};
  const std::string name(to_string(right));
  return fail(
      make_error(
          ErrorCode::kPolicy,
          "\"" + principal.name + "\" needs the right \"" + name + "\"" +
              (principal.role.empty() ? "" : ", which the role \"" + principal.role + "\" does not have"))
          .set("right", name));
}

Status check_agent(const Call& call, const std::string& agent) {
  if (call.principal.may_use(agent)) return {};
  return fail(not_found("agent", agent));
}

}  // namespace praxis::server
