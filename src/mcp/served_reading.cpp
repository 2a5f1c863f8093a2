#include "mcp/served_reading.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mcp/message.hpp"

namespace praxis {
namespace {

constexpr int kNoResource = -32002;  // of the versions with a handshake; kRpcInvalidParams since

McpAnswer reading_refused(const Error& error, int code = kRpcInvalidParams) {
  return {{}, error.code == ErrorCode::kInput ? code : kRpcInternal, error.message, nullptr};
}

JsonObject resource_json(const ServedResource& resource, const char* uri_key) {
  return {{uri_key, resource.uri},
          {"name", resource.name},
          {"title", resource.title},
          {"mimeType", resource.media_type}};
}

McpAnswer list_served(const McpReading& reading) {
  const auto resources = reading.resources();
  if (!resources) return reading_refused(resources.error());
  JsonArray list;
  for (const ServedResource& each : *resources) list.push_back(resource_json(each, "uri"));
  return {{{"resources", std::move(list)}}, 0, {}, nullptr};
}

McpAnswer read_served(const McpReading& reading, const Json& params, bool stateless) {
  const std::string uri = json_string(params, "uri");
  auto text = reading.read(uri);
  if (!text) {
    McpAnswer refusal = reading_refused(text.error(), stateless ? kRpcInvalidParams : kNoResource);
    refusal.data = JsonObject{{"uri", uri}};
    return refusal;
  }
  const JsonObject content{{"uri", uri}, {"mimeType", reading.all.media_type}, {"text", *std::move(text)}};
  return {{{"contents", JsonArray{content}}}, 0, {}, nullptr};
}

McpAnswer list_served_prompts(const McpReading& reading) {
  const auto prompts = reading.prompts();
  if (!prompts) return reading_refused(prompts.error());
  JsonArray list;
  for (const ServedPrompt& prompt : *prompts) {
    JsonArray arguments;
    for (const auto& each : prompt.arguments)
      arguments.push_back(
          JsonObject{{"name", each.name}, {"description", each.description}, {"required", true}});
    list.push_back(
        JsonObject{{"name", prompt.name}, {"title", prompt.title}, {"arguments", std::move(arguments)}});
  }
  return {{{"prompts", std::move(list)}}, 0, {}, nullptr};
}

McpAnswer get_served_prompt(const McpReading& reading, const Json& params) {
  auto text = reading.prompt(json_string(params, "name"), json_at(params, "arguments"));
  if (!text) return reading_refused(text.error());
  const JsonObject message{{"role", "user"},
                           {"content", JsonObject{{"type", "text"}, {"text", *std::move(text)}}}};
  return {{{"messages", JsonArray{message}}}, 0, {}, nullptr};
}

}  // namespace

bool is_readable(const McpReading& reading, std::string_view method) {
  constexpr std::array<std::string_view, 3> kOfResources{"resources/list", "resources/templates/list",
                                                         "resources/read"};
  if (reading.read && std::ranges::find(kOfResources, method) != kOfResources.end()) return true;
  return reading.prompts && (method == "prompts/list" || method == "prompts/get");
}

McpAnswer answer_reading(const McpReading& reading, std::string_view method, const Json& params,
                         bool stateless) {
  if (method == "resources/list") return list_served(reading);
  if (method == "resources/read") return read_served(reading, params, stateless);
  if (method == "prompts/list") return list_served_prompts(reading);
  if (method == "prompts/get") return get_served_prompt(reading, params);
  return {{{"resourceTemplates", JsonArray{resource_json(reading.all, "uriTemplate")}}}, 0, {}, nullptr};
}

}  // namespace praxis
