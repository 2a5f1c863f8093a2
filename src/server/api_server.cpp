// The server itself: health, metrics, its description, the agents that it finds.
#include "server/handlers.hpp"
#include "server/route_rights.hpp"
#include "server/routes.hpp"

namespace praxis::server {

Result<HttpAnswer> show_health(Service&, const Call&) { return json_answer(JsonObject{{"status", "ok"}}); }

Result<HttpAnswer> show_readiness(Service& service, const Call&) {
  const RuntimeHealth health = service.runtime->health();
  if (service.draining || !health.ok()) {
    return problem(
        503, make_error(ErrorCode::kCancelled,
                        service.draining ? "the server is shutting down"
                        : health.journal ? "the runtime was stopped"
                                         : "the journal cannot be read: " + health.journal.error().message));
  }
  return json_answer(JsonObject{{"status", "ready"}});
}

// Made once: it needs no token, and making it takes a hundred times the memory of sending it.
Result<HttpAnswer> show_openapi(Service&, const Call&) {
  static const HttpAnswer answer = json_answer(openapi());
  return answer;
}

Result<HttpAnswer> list_agents(Service& service, const Call& call) {
  JsonArray agents;
  for (const std::string& name : app::agent_names(*service.workspace)) {
    if (call.principal.may_use(name)) agents.push_back(JsonObject{{"name", name}});
  }
  return json_answer(JsonObject{{"agents", std::move(agents)}});
}

}  // namespace praxis::server
