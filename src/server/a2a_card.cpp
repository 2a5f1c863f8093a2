#include "server/a2a_card.hpp"
#include "server/route_rights.hpp"

#include <algorithm>
#include <utility>

namespace praxis::server {
namespace {

constexpr std::string_view kDefaultAgent = "default";
constexpr std::string_view kText = "text/plain", kJson = "application/json";

/// Where the client reached this server. A proxy in front says which scheme it was asked with.
std::string origin_of(const Call& call) {
  const bool is_https = find_header(call.headers, "x-forwarded-proto").value_or("") == "https";
  return std::string(is_https ? "https://" : "http://") +
         std::string(find_header(call.headers, "host").value_or("localhost"));
}

std::string address_of(const Call& call, const std::string& agent) {
  return origin_of(call) + "/a2a/" + agent;
}

Json skill(const std::string& id, const std::string& description) {
  return JsonObject{{"id", id}, {"name", id}, {"description", description}, {"tags", JsonArray{"agent"}}};
}

std::string description_of(const A2aAgent& agent) {
  if (!agent.about.empty()) return agent.about;
  return agent.file.empty() ? "Answers messages with the model of the server, without tools."
                            : "Runs the agent " + agent.name + " on the task that a message describes.";
}

JsonObject card_of(const Service& service, const Call& call, const std::string& name,
                   const std::string& description, JsonArray skills) {
  const std::string url = address_of(call, name);
  JsonArray interfaces;
  for (const char* binding : {"JSONRPC", "HTTP+JSON"})
    interfaces.push_back(JsonObject{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", "1.0"}});
  return JsonObject{
      {"name", name},
      {"description", description},
      {"supportedInterfaces", std::move(interfaces)},
      {"version", PRAXIS_VERSION},
      {"capabilities",
       JsonObject{
           {"streaming", true}, {"pushNotifications", service.push != nullptr}, {"extendedAgentCard", true}}},
      {"securitySchemes",
       JsonObject{{"token", JsonObject{{"httpAuthSecurityScheme", JsonObject{{"scheme", "Bearer"}}}}}}},
      {"securityRequirements",
       JsonArray{JsonObject{{"schemes", JsonObject{{"token", JsonObject{{"list", JsonArray{}}}}}}}}},
      {"defaultInputModes", JsonArray{kText, kJson}},
      {"defaultOutputModes", JsonArray{kText}},
      {"skills", std::move(skills)}};
}

HttpAnswer card_answer(const JsonObject& card) {
  HttpAnswer answer = json_answer(card);
  const std::string tag = "\"" + digest_of(answer.body).hex(16) + "\"";
  std::erase_if(answer.headers, [](const auto& header) { return header.first == "Cache-Control"; });
  answer.headers.emplace_back("Cache-Control", "private, max-age=60");
  answer.headers.emplace_back("ETag", tag);
  return answer;
}

bool has_file(Service& service, std::string_view name) {
  const auto names = app::agent_names(*service.workspace);
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<A2aAgent> a2a_agent(Service& service, const std::string& name) {
  if (name == kDefaultAgent && !has_file(service, name)) return A2aAgent{.name = name};
  const auto agent = service.runs->described(name);
  if (!agent) return fail(agent.error());
  return A2aAgent{name, name, agent->spec().id, agent->spec().description};
}

Json extended_card(Service& service, const Call& call, const A2aAgent& agent) {
  const std::string about = description_of(agent);
  JsonArray skills{skill(agent.name, about)};
  if (agent.name == kDefaultAgent) {
    for (const std::string& name : app::agent_names(*service.workspace)) {
      if (name == kDefaultAgent || !call.principal.may_use(name)) continue;
      const auto other = a2a_agent(service, name);
      if (!other) continue;  // its file is wrong: a run that names it says why
      skills.push_back(skill(name, description_of(*other) + " Its address: " + address_of(call, name)));
    }
  }
  return card_of(service, call, agent.name, about, std::move(skills));
}

/// Anybody may read it, so it names no agent of the server.
Result<HttpAnswer> show_server_card(Service& service, const Call& call) {
  const std::string about = "Runs agents. The extended card lists them to those who have a token.";
  return card_answer(
      card_of(service, call, std::string(kDefaultAgent), about, {skill("run", "Runs an agent on a task.")}));
}

Result<HttpAnswer> show_agent_card(Service& service, const Call& call) {
  if (auto may = check_agent(call, call.name("agent")); !may) return fail(may.error());
  const auto agent = a2a_agent(service, call.name("agent"));
  if (!agent) return fail(agent.error());
  return card_answer(extended_card(service, call, *agent).get_object());
}

}  // namespace praxis::server
