#include "protocols/acp_calls.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/call_text.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "tools/file_changes.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kTitleColumns = 100;
constexpr std::size_t kStepColumns = 100;
constexpr std::size_t kMostDiffBytes = std::size_t{1} << 20;  ///< of each side

struct KindOfTool {
  std::string_view tool, kind;
};
constexpr std::array<KindOfTool, 12> kKinds{{{"file_read", "read"},
                                             {"file_write", "edit"},
                                             {"edit", "edit"},
                                             {"glob", "search"},
                                             {"grep", "search"},
                                             {"search_tools", "search"},
                                             {"memory_search", "search"},
                                             {"shell", "execute"},
                                             {"python", "execute"},
                                             {"sql", "execute"},
                                             {"http", "fetch"},
                                             {"skill", "read"}}};

bool names_a_path(std::string_view tool) {
  return tool == "file_read" || tool == "file_write" || tool == "edit" || tool == "grep" || tool == "glob";
}

/// The file or folder that a relative path of a call means: the first that exists below the folders of the
/// tool, which end its description. Empty: none.
std::string found_below(const std::string& path, std::string_view description) {
  constexpr std::string_view kBegin = ": ", kBetween = ", ";
  const std::size_t begin = description.rfind(kBegin);
  if (begin == std::string_view::npos) return {};
  description.remove_prefix(begin + kBegin.size());
  while (!description.empty()) {
    const std::size_t end = std::min(description.find(kBetween), description.size());
    const auto whole = (std::filesystem::path(description.substr(0, end)) / path).lexically_normal();
    std::error_code ignored;
    if (whole.is_absolute() && std::filesystem::exists(whole, ignored)) return whole.string();
    description.remove_prefix(std::min(end + kBetween.size(), description.size()));
  }
  return {};
}

JsonArray locations_of(const AcpCall& call, const Json& arguments, const AgentSpec* spec) {
  std::string path = names_a_path(call.tool) ? json_string(arguments, "path") : "";
  if (!path.empty() && path.front() != '/') {
    const ToolSpec* const tool = spec == nullptr ? nullptr : spec->find_tool(call.tool);
    path = tool == nullptr ? "" : found_below(path, tool->definition.description);
  }
  if (path.empty()) return {};
  return {JsonObject{{"path", path}}};
}

}  // namespace

std::string acp_call_id(const SessionId& root, const SessionId& session, const CallId& call) {
  return session.empty() || session == root ? call.str() : session.str() + '/' + call.str();
}

std::string_view acp_tool_kind(std::string_view tool, const Json& arguments) {
  if (tool == "file_read" && json_text(arguments, "op") == "search") return "search";
  for (const KindOfTool& each : kKinds) {
    if (each.tool == tool) return each.kind;
  }
  return "other";
}

JsonObject acp_call_members(const AcpCall& call, const AgentSpec* spec) {
  const auto parsed = parse_json(call.arguments);
  const Json arguments = parsed ? *parsed : Json(nullptr);
  std::string title = app::call_line(call.tool, call.arguments, kTitleColumns).text;
  while (title.ends_with('\n')) title.pop_back();
  if (title.empty()) title = call.tool;
  if (!call.agent.empty()) title = app::one_line(call.agent, kTitleColumns) + ": " + title;
  JsonObject members{{"toolCallId", call.id},
                     {"title", std::move(title)},
                     {"kind", acp_tool_kind(call.tool, arguments)},
                     {"locations", locations_of(call, arguments, spec)}};
  members["rawInput"] = parsed ? arguments : Json(JsonObject{{"text", call.arguments}});
  return members;
}

Json acp_diff(const AcpCall& call, const AgentSpec* spec) {
  const ToolSpec* const tool = spec == nullptr ? nullptr : spec->find_tool(call.tool);
  const auto arguments = parse_json(call.arguments);
  if (tool == nullptr || !arguments) return nullptr;
  const auto change = file_change(tool->definition, *arguments);
  if (!change || !*change) return nullptr;
  const FileChange& found = **change;
  if (found.after.size() > kMostDiffBytes || found.before.value_or("").size() > kMostDiffBytes)
    return nullptr;
  JsonObject diff{{"type", "diff"}, {"path", found.file}, {"newText", found.after}};
  diff["oldText"] = found.before ? Json(*found.before) : Json(nullptr);
  return diff;
}

Json acp_call_content(Json block) { return JsonObject{{"type", "content"}, {"content", std::move(block)}}; }

std::string acp_step_text(const ParkedStep& step) {
  return app::step_view(step, kStepColumns, app::Extent::kWhole).text;
}

}  // namespace praxis::protocols
