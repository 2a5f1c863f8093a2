// The server itself: health, metrics, its description, the agents that it finds.
#include <fmt/format.h>

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

// The text format of Prometheus, version 0.0.4.
Result<HttpAnswer> show_metrics(Service& service, const Call& call) {
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token sees no metrics"));
  const RuntimeHealth health = service.runtime->health();
  std::string text;
  const auto metric = [&](const char* name, const char* type, const char* help, std::uint64_t value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  metric("praxis_runs_created_total", "counter", "Runs created through the server.",
         service.counters.runs_created);
  metric("praxis_sessions_active", "gauge", "Sessions in memory, with sub-agents.", health.sessions);
  metric("praxis_sessions_running", "gauge", "Sessions with a turn that works.", health.running);
  metric("praxis_sessions_waiting", "gauge", "Sessions with a turn that waits for an approver.",
         health.waiting);
  metric("praxis_runs_queued", "gauge", "Runs that begin when fewer turns are at work.",
         service.runs->queued());
  metric("praxis_observers", "gauge", "Open event streams.", service.feed->observers());
  text +=
      "# HELP praxis_http_answers_total Answers by class of status.\n# TYPE praxis_http_answers_total "
      "counter\n";
  for (std::size_t i = 1; i < service.counters.answers.size(); ++i)
    text += fmt::format("praxis_http_answers_total{{class=\"{}xx\"}} {}\n", i,
                        service.counters.answers.at(i).load());
  return HttpAnswer{200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, std::move(text)};
}

Result<HttpAnswer> show_openapi(Service&, const Call&) { return json_answer(openapi()); }

Result<HttpAnswer> list_agents(Service& service, const Call& call) {
  JsonArray agents;
  for (const std::string& name : app::agent_names(*service.workspace)) {
    if (call.principal.may_use(name)) agents.push_back(JsonObject{{"name", name}});
  }
  return json_answer(JsonObject{{"agents", std::move(agents)}});
}

}  // namespace praxis::server
