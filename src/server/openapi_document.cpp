// The OpenAPI document of the routes.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "server/answer_schemas.hpp"
#include "server/route_rights.hpp"
#include "server/routes.hpp"
#include "server/split.hpp"

namespace praxis::server {
namespace {

constexpr std::string_view kSocket =
    "The same events over WebSocket, if the request asks for an upgrade: each message is a JSON object";

JsonObject parameter_json(const Field& field, const char* where) {
  return JsonObject{{"name", field.name},
                    {"in", where},
                    {"required", field.is_required},
                    {"description", field.text},
                    {"schema", JsonObject{{"type", field.type}}}};
}

JsonArray parameters_of(const Route& route) {
  JsonArray parameters;
  split(route.path.substr(1), '/', [&](std::string_view segment) {
    if (!segment.starts_with('{')) return;
    parameters.push_back(
        parameter_json({segment.substr(1, segment.find('}') - 1), "string", "", true}, "path"));
  });
  for (const Field& field : route.query) parameters.push_back(parameter_json(field, "query"));
  return parameters;
}

JsonObject body_of(const Route& route) {
  if (!route.body_media.empty()) {
    return JsonObject{
        {"required", true},
        {"content", JsonObject{{route.body_media, JsonObject{{"schema", JsonObject{{"type", "string"}}}}}}}};
  }
  JsonObject properties;
  JsonArray required;
  for (const Field& field : route.body) {
    properties[field.name] = JsonObject{{"type", field.type}, {"description", field.text}};
    if (field.is_required) required.push_back(Json(field.name));
  }
  const bool must = !required.empty();
  JsonObject schema{
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (must) schema["required"] = std::move(required);
  return JsonObject{{"required", must},
                    {"content", JsonObject{{"application/json", JsonObject{{"schema", std::move(schema)}}}}}};
}

JsonObject operation_of(const Route& route) {
  std::string id(route.method);
  for (const char c : route.path) id += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool streams = std::holds_alternative<StreamHandler>(route.handler);
  const JsonObject problem{{"description", "A problem document (RFC 9457)"},
                           {"content", JsonObject{{"application/problem+json",
                                                   JsonObject{{"schema", JsonObject{{"type", "object"}}}}}}}};
  JsonObject operation{{"operationId", id}, {"summary", route.summary}};
  if (auto parameters = parameters_of(route); !parameters.empty())
    operation["parameters"] = std::move(parameters);
  if (!route.body.empty() || !route.body_media.empty()) operation["requestBody"] = body_of(route);
  const std::string_view media = streams ? "text/event-stream" : route.media;
  JsonObject answer{{"type", streams ? "string" : "object"}};
  if (const auto schema = answer_schema_of(route.method, route.path); !schema.empty())
    answer = JsonObject{{"$ref", "#/components/schemas/" + std::string(schema)}};
  JsonObject responses{
      {std::to_string(route.success),
       JsonObject{{"description", route.summary},
                  {"content", JsonObject{{media, JsonObject{{"schema", std::move(answer)}}}}}}},
      {"default", problem}};
  if (route.has_socket) responses["101"] = JsonObject{{"description", kSocket}};
  operation["responses"] = std::move(responses);
  if (!route.needs_token) operation["security"] = JsonArray{};
  const auto needs = needs_of(route);
  if (const Right* const right = needs ? std::get_if<Right>(&*needs) : nullptr; right != nullptr)
    operation["x-praxis-right"] = to_string(*right);
  return operation;
}

}  // namespace

Json openapi() {
  JsonObject paths;
  for (const Route& route : routes()) {
    std::string method(route.method);
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    Json& path = paths[route.path];
    if (!path.is_object()) path = JsonObject{};
    path.get_object()[method] = operation_of(route);
  }
  return JsonObject{
      {"openapi", "3.1.0"},
      {"info", JsonObject{{"title", "Praxis"}, {"version", "1"}}},
      {"security", JsonArray{JsonObject{{"token", JsonArray{}}}}},
      {"components", JsonObject{{"securitySchemes",
                                 JsonObject{{"token", JsonObject{{"type", "http"}, {"scheme", "bearer"}}}}},
                                {"schemas", answer_schemas()}}},
      {"paths", std::move(paths)}};
}

}  // namespace praxis::server
