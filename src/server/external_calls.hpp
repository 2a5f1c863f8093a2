// Calls of tools that a client brings, in the formats of OpenAI: their definitions, and the ids by which the
// client names them when it gives their results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server {

/// A call that waits for its result: `call_RUN~p1`.
struct ExternalCallId {
  SessionId run;
  ParkId step;

  std::string text() const;
  /// Nothing if the text has another form.
  static std::optional<ExternalCallId> parse(std::string_view text);
};

/// A function as OpenAI's formats define it: `{name, description, parameters}`. Error `kInput` names `field`.
Result<ToolDefinition> external_tool_of(const Json& function, const std::string& field);

}  // namespace praxis::server
