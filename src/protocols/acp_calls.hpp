// Tool calls as editors show them (Agent Client Protocol): kind, title, files, and what they change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/core/records.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/json/json.hpp"

namespace praxis::protocols {

/// A call of a tool, by the agent that makes it.
struct AcpCall {
  std::string id;     ///< as the editor knows it: unique in the conversation
  std::string agent;  ///< empty, or the sub-agent that makes the call
  std::string tool;
  std::string arguments;  ///< JSON text
};

/// The id of a call for the editor: calls of sub-agents get that of their session.
std::string acp_call_id(const SessionId& root, const SessionId& session, const CallId& call);

/// `read`, `edit`, `search`, `execute`, `fetch`, or `other` for a tool that is not built in.
std::string_view acp_tool_kind(std::string_view tool, const Json& arguments);

/// The members `toolCallId`, `title`, `kind`, `locations` and `rawInput`. `spec`: the agent that makes the
/// call; null: unknown.
JsonObject acp_call_members(const AcpCall& call, const AgentSpec* spec);

/// The change that the call would make to a file now, as content of the type `diff`; null for a tool that
/// changes no file, and if the call would fail now. Reads the file.
Json acp_diff(const AcpCall& call, const AgentSpec* spec);

/// Content of the type `content` with this block.
Json acp_call_content(Json block);

/// What an approver sees of a parked step: the whole call as it would run, or the question.
std::string acp_step_text(const ParkedStep& step);

}  // namespace praxis::protocols
