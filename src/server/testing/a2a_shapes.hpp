// The messages of A2A 1.0.1 that a server sends, field by field as specification/a2a.proto lists them, in the
// JSON form of protocol buffers.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis::server::testing {

/// `name!` is required; `[X]` is a list of X; `{X}` a map to X; `<names>` has exactly one of the fields of
/// the group.
inline const Json& a2a_shapes() {
  static const Json shapes = parse_json(R"json({
    "Task": {"id!": "string", "contextId": "string", "status!": "TaskStatus", "artifacts": "[Artifact]",
             "history": "[Message]", "metadata": "object"},
    "TaskStatus": {"state!": "TASK_STATE_", "message": "Message", "timestamp": "time"},
    "Part": {"<text": "string", "<raw": "string", "<url": "string", "<data": "any", "metadata": "object",
             "filename": "string", "mediaType": "string"},
    "Message": {"messageId!": "string", "contextId": "string", "taskId": "string", "role!": "ROLE_",
                "parts!": "[Part]", "metadata": "object", "extensions": "[string]",
                "referenceTaskIds": "[string]"},
    "Artifact": {"artifactId!": "string", "name": "string", "description": "string", "parts!": "[Part]",
                 "metadata": "object", "extensions": "[string]"},
    "TaskStatusUpdateEvent": {"taskId!": "string", "contextId!": "string", "status!": "TaskStatus",
                              "metadata": "object"},
    "TaskArtifactUpdateEvent": {"taskId!": "string", "contextId!": "string", "artifact!": "Artifact",
                                "append": "bool", "lastChunk": "bool", "metadata": "object"},
    "StreamResponse": {"<task": "Task", "<message": "Message", "<statusUpdate": "TaskStatusUpdateEvent",
                       "<artifactUpdate": "TaskArtifactUpdateEvent"},
    "ListTasksResponse": {"tasks!": "[Task]", "nextPageToken!": "string", "pageSize!": "number",
                          "totalSize!": "number"},
    "AgentCard": {"name!": "string", "description!": "string", "supportedInterfaces!": "[AgentInterface]",
                  "provider": "object", "version!": "string", "documentationUrl": "string",
                  "capabilities!": "AgentCapabilities", "securitySchemes": "{SecurityScheme}",
                  "securityRequirements": "[SecurityRequirement]", "defaultInputModes!": "[string]",
                  "defaultOutputModes!": "[string]", "skills!": "[AgentSkill]", "signatures": "[object]",
                  "iconUrl": "string"},
    "AgentInterface": {"url!": "string", "protocolBinding!": "string", "tenant": "string",
                       "protocolVersion!": "string"},
    "AgentCapabilities": {"streaming": "bool", "pushNotifications": "bool", "extensions": "[object]",
                          "extendedAgentCard": "bool"},
    "SecurityScheme": {"<apiKeySecurityScheme": "object", "<httpAuthSecurityScheme": "HTTPAuthSecurityScheme",
                       "<oauth2SecurityScheme": "object", "<openIdConnectSecurityScheme": "object",
                       "<mtlsSecurityScheme": "object"},
    "HTTPAuthSecurityScheme": {"description": "string", "scheme!": "string", "bearerFormat": "string"},
    "SecurityRequirement": {"schemes": "{StringList}"},
    "StringList": {"list": "[string]"},
    "AgentSkill": {"id!": "string", "name!": "string", "description!": "string", "tags!": "[string]",
                   "examples": "[string]", "inputModes": "[string]", "outputModes": "[string]",
                   "securityRequirements": "[SecurityRequirement]"}
  })json")
                                 .value();
  return shapes;
}

/// What is wrong with a message of this kind; empty: nothing.
inline std::string a2a_mistakes(std::string_view kind, const Json& value) {
  const auto inner = kind.substr(1, kind.size() - 2);
  const auto said = [&](bool fits) {
    return fits ? "" : "not " + std::string(kind) + ": " + to_json_text(value);
  };
  if (kind == "any") return "";
  if (kind == "string") return said(value.is_string());
  if (kind == "bool") return said(value.is_bool());
  if (kind == "number") return said(value.is_number());
  if (kind == "object") return said(value.is_object());
  if (kind == "time")
    return said(value.is_string() && to_plain_text(value).size() == 24 &&
                to_plain_text(value).ends_with('Z'));
  if (kind.ends_with('_')) return said(value.is_string() && to_plain_text(value).starts_with(kind));
  if (kind.starts_with('[')) {
    if (!value.is_array()) return said(false);
    for (const Json& each : value.get_array()) {
      if (auto mistake = a2a_mistakes(inner, each); !mistake.empty()) return mistake;
    }
    return "";
  }
  if (!value.is_object()) return said(false);
  if (kind.starts_with('{')) {
    for (const auto& member : value.get_object()) {
      if (auto mistake = a2a_mistakes(inner, member.value()); !mistake.empty()) return mistake;
    }
    return "";
  }
  const Json& shape = json_at(a2a_shapes(), kind);
  if (!shape.is_object()) return "no such kind: " + std::string(kind);
  std::map<std::string, std::string> fields;
  std::size_t alternatives = 0, given = 0;
  for (const auto& member : shape.get_object()) {
    std::string name(member.key());
    const bool is_required = name.ends_with('!'), is_alternative = name.starts_with('<');
    if (is_required) name.pop_back();
    if (is_alternative) name.erase(0, 1);
    fields[name] = to_plain_text(member.value());
    const bool is_there = value.get_object().contains(name);
    if (is_required && !is_there) return std::string(kind) + " lacks " + name + ": " + to_json_text(value);
    alternatives += is_alternative ? 1 : 0;
    given += is_alternative && is_there ? 1 : 0;
  }
  if (alternatives > 0 && given != 1)
    return std::string(kind) + " needs one kind of content: " + to_json_text(value);
  for (const auto& member : value.get_object()) {
    const auto known = fields.find(std::string(member.key()));
    if (known == fields.end()) return std::string(kind) + " has no field " + std::string(member.key());
    if (auto mistake = a2a_mistakes(known->second, member.value()); !mistake.empty())
      return std::string(kind) + "." + known->first + ": " + mistake;
  }
  return "";
}

}  // namespace praxis::server::testing
