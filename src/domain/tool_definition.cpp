#include "praxis/domain/tool_definition.hpp"

#include <algorithm>

namespace praxis {

Json to_json(const ToolDefinition& definition) {
  return JsonObject{{"name", definition.name},
                    {"description", definition.description},
                    {"parameters", definition.parameters}};
}

Status check(const ToolDefinition& definition) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const std::string& name = definition.name;
  if (name.empty() || name.size() > 64 || !std::ranges::all_of(name, allowed)) {
    return fail(ErrorCode::kInput, "tool name \"" + name + "\" must be 1 to 64 letters, digits, '_' or '-'");
  }
  if (json_string(definition.parameters, "type") != "object") {
    return fail(ErrorCode::kInput,
                "tool \"" + name + "\": parameters must be a JSON Schema with \"type\": \"object\"");
  }
  if (definition.timeout < std::chrono::milliseconds::zero()) {
    return fail(ErrorCode::kInput, "tool \"" + name + "\": timeout must not be negative");
  }
  return {};
}

}  // namespace praxis
