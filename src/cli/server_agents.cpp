#include "cli/server_agents.hpp"

#include <fmt/format.h>

#include "app/hints.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {

Result<std::vector<std::string>> agents_at_server(const ServerClient& client) {
  const auto answer = client.call_surely("GET", "/api/v1/agents");
  if (!answer) return fail(answer.error());
  std::vector<std::string> names;
  if (const JsonArray* agents = json_at(*answer, "agents").if_array()) {
    for (const Json& agent : *agents) names.push_back(json_string(agent, "name"));
  }
  return names;
}

Error no_such_agent_at_server(const std::string& name, const std::vector<std::string>& known) {
  if (name.ends_with(".toml") || name.contains('/')) {
    return app::usage_error("\"" + name + "\" is a file, and a server knows agents by name",
                            "praxis api GET /api/v1/agents lists them");
  }
  const auto nearest = closest(name, known);
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  return app::usage_error(
      fmt::format("the server has no agent \"{}\"{}", name,
                  nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
      all.empty() ? "agents lie in the folder that docs/server.md names" : "it has: " + all);
}

}  // namespace praxis::cli
