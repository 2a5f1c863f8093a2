#include "server/external_calls.hpp"

#include "server/problem.hpp"

namespace praxis::server {
namespace {

constexpr std::string_view kCall = "call_";
constexpr char kBeforeStep = '~';  // occurs in no id of a session

}  // namespace

std::string ExternalCallId::text() const { return std::string(kCall) + run.str() + kBeforeStep + step.str(); }

std::optional<ExternalCallId> ExternalCallId::parse(std::string_view text) {
  const std::size_t mark = text.find(kBeforeStep);
  if (!text.starts_with(kCall) || mark == std::string_view::npos || mark + 1 == text.size())
    return std::nullopt;
  return ExternalCallId{SessionId(std::string(text.substr(kCall.size(), mark - kCall.size()))),
                        ParkId(std::string(text.substr(mark + 1)))};
}

Result<ToolDefinition> external_tool_of(const Json& function, const std::string& field) {
  ToolDefinition definition;
  definition.name = json_string(function, "name");
  definition.description = json_string(function, "description");
  definition.parameters = json_at(function, "parameters");
  if (definition.parameters.is_null())
    definition.parameters = JsonObject{{"type", "object"}, {"properties", JsonObject{}}};
  if (auto checked = check(definition); !checked)
    return fail(field_error(field, "has no valid function: " + checked.error().message));
  return definition;
}

}  // namespace praxis::server
