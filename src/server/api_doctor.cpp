// Whether the server is set up well.
#include <string>
#include <utility>
#include <vector>

#include "app/doctor.hpp"
#include "server/handlers.hpp"

namespace praxis::server {

Result<HttpAnswer> show_doctor(Service& service, const Call& call) {
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token does not see how the server is set up"));
  std::vector<app::Finding> findings =
      app::examine_workspace(*service.workspace, call.parameter("online") == "true");
  for (app::Finding& finding : app::examine_sandbox()) findings.push_back(std::move(finding));
  JsonArray checks;
  for (const app::Finding& finding : findings) {
    checks.push_back(JsonObject{
        {"name", finding.name}, {"status", app::to_string(finding.health)}, {"detail", finding.detail}});
  }
  return json_answer(JsonObject{{"healthy", app::are_healthy(findings)}, {"checks", std::move(checks)}});
}

}  // namespace praxis::server
