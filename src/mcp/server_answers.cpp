#include "mcp/server_answers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mcp/tasks.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

constexpr std::array<std::string_view, 4> kWithHandshake{"2025-11-25", "2025-06-18", "2025-03-26",
                                                         "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr std::int64_t kListAgeMs = 60'000;
constexpr int kMissingCapability = -32021;

McpAnswer refusal_of(int code, std::string why, Json data = nullptr) {
  return {{}, code, std::move(why), std::move(data)};
}

Json server_info(const McpServed& offer) {
  return JsonObject{{"name", "praxis"}, {"version", offer.version}};
}

/// A result as the version wants it.
McpAnswer complete(const McpServed& offer, JsonObject result, bool stateless) {
  if (stateless) {
    result["resultType"] = "complete";
    result["_meta"] = JsonObject{{kServerKey, server_info(offer)}};
  }
  return {std::move(result), 0, {}, nullptr};
}

/// The same, of what a client may keep for some time.
McpAnswer complete_for(std::int64_t age_ms, const McpServed& offer, JsonObject result, bool stateless) {
  if (stateless) {
    result["ttlMs"] = age_ms;
    result["cacheScope"] = "private";
  }
  return complete(offer, std::move(result), stateless);
}

JsonObject capabilities(const McpServed& offer, bool stateless) {
  JsonObject offered;
  if (offer.has_tools) offered["tools"] = JsonObject{};
  if (offer.reading.read) offered["resources"] = JsonObject{};
  if (offer.reading.prompts) offered["prompts"] = JsonObject{};
  if (stateless && offer.tasks.find) offered["extensions"] = JsonObject{{kMcpTasks, JsonObject{}}};
  return offered;
}

JsonObject handshake(const McpServed& offer, const Json& params) {
  const std::string wanted = json_string(params, "protocolVersion");
  const bool is_known = std::ranges::find(kWithHandshake, wanted) != kWithHandshake.end();
  JsonObject result{{"protocolVersion", is_known ? std::string_view(wanted) : kWithHandshake.front()},
                    {"capabilities", capabilities(offer, false)},
                    {"serverInfo", server_info(offer)}};
  if (!offer.instructions.empty()) result["instructions"] = offer.instructions;
  return result;
}

JsonObject discovery(const McpServed& offer) {
  JsonObject result{{"supportedVersions", JsonArray{kStatelessMcp}},
                    {"capabilities", capabilities(offer, true)}};
  if (!offer.instructions.empty()) result["instructions"] = offer.instructions;
  return result;
}

JsonObject tool_list(const McpServed& offer) {
  JsonArray tools;
  for (const ServedTool& tool : offer.tools) {
    tools.push_back(
        JsonObject{{"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.parameters}});
  }
  return JsonObject{{"tools", std::move(tools)}};
}

/// Why a request is not valid in the stateless version; empty: it is, or its client has had a handshake.
std::string missing_in(const McpMessage& request) {
  const Json& meta = json_at(request.body, "_meta");
  const std::string version = mcp_version_of(request);
  const bool has_keys = !json_at(meta, kClientKey).is_null() || !json_at(meta, kCapabilitiesKey).is_null();
  if (!has_keys && request.method != "server/discover" && version.empty()) return {};
  if (version.empty()) return kVersionKey;
  return json_at(meta, kCapabilitiesKey).is_object() ? "" : kCapabilitiesKey;
}

/// The capabilities of the client that a request of the stateless version names.
const Json& capabilities_in(const McpMessage& request) {
  return json_at(json_at(request.body, "_meta"), kCapabilitiesKey);
}

bool takes_tasks(const McpMessage& request) {
  return !mcp_version_of(request).empty() &&
         json_at(json_at(capabilities_in(request), "extensions"), kMcpTasks).is_object();
}

McpAnswer about_task(const McpServed& offer, const McpMessage& request) {
  if (!takes_tasks(request)) {
    const JsonObject needed{{"extensions", JsonObject{{kMcpTasks, JsonObject{}}}}};
    return refusal_of(kMissingCapability, "the client must declare the extension for tasks",
                      JsonObject{{"requiredCapabilities", needed}});
  }
  const Json& forms = json_at(json_at(capabilities_in(request), "elicitation"), "form");
  McpAnswer answer = answer_about_task(offer.tasks, request.method, request.body, forms.is_object());
  return answer.error != 0 ? answer : complete(offer, std::move(answer.result), true);
}

McpAnswer readable(const McpServed& offer, const McpMessage& request, bool stateless) {
  McpAnswer answer = answer_reading(offer.reading, request.method, request.body, stateless);
  if (answer.error != 0) return answer;
  // What runs and people add in between is there at once.
  if (request.method == "prompts/get") return complete(offer, std::move(answer.result), stateless);
  return complete_for(0, offer, std::move(answer.result), stateless);
}

std::variant<McpAnswer, McpCallRequest> call_in(const McpServed& offer, const McpMessage& request) {
  McpCallRequest call;
  call.tool = json_string(request.body, "name");
  call.arguments = json_at(request.body, "arguments");
  if (call.arguments.is_null()) call.arguments = JsonObject{};
  const Json& meta = json_at(request.body, "_meta");
  call.progress_token = json_at(meta, "progressToken");
  call.caller = trace_from_header(json_string(meta, "traceparent"), json_string(meta, "tracestate"))
                    .value_or(TraceContext{});
  call.as_task = offer.tasks.find && takes_tasks(request);
  const auto tool = std::ranges::find(offer.tools, call.tool, &ServedTool::name);
  if (tool == offer.tools.end())
    return refusal_of(kRpcInvalidParams, "there is no tool \"" + call.tool + '"');
  if (!call.arguments.is_object()) return refusal_of(kRpcInvalidParams, "arguments: must be an object");
  const auto schema = JsonSchema::compile(tool->parameters);
  const auto problems = schema ? schema->validate(call.arguments, 1) : std::vector<SchemaProblem>{};
  // A model can correct these, so they are a result.
  if (!problems.empty()) {
    const std::string why = "arguments" + problems[0].path + ": " + problems[0].message;
    return mcp_call_answer(offer, {why, nullptr, true}, !mcp_version_of(request).empty());
  }
  return call;
}

}  // namespace

std::span<const std::string_view> mcp_versions_with_handshake() { return kWithHandshake; }

std::string mcp_version_of(const McpMessage& request) {
  return json_string(json_at(request.body, "_meta"), kVersionKey);
}

std::variant<McpAnswer, McpCallRequest> answer_mcp(const McpServed& offer, const McpMessage& request) {
  const std::string version = mcp_version_of(request);
  const bool stateless = !version.empty();
  if (stateless && version != kStatelessMcp) {
    return refusal_of(kRpcUnsupportedVersion, "this server does not support version " + version,
                      JsonObject{{"supported", JsonArray{kStatelessMcp}}, {"requested", version}});
  }
  if (const std::string missing = missing_in(request); !missing.empty())
    return refusal_of(kRpcInvalidParams, "\"_meta\" needs \"" + missing + '"');
  if (request.method == "initialize" && !stateless)
    return complete(offer, handshake(offer, request.body), false);
  if (request.method == "ping" && !stateless) return McpAnswer{};
  if (request.method == "server/discover" && stateless)
    return complete_for(kListAgeMs, offer, discovery(offer), true);
  if (request.method == "tools/list") return complete_for(kListAgeMs, offer, tool_list(offer), stateless);
  if (request.method == "tools/call") return call_in(offer, request);
  if (stateless && offer.tasks.find && request.method.starts_with("tasks/"))
    return about_task(offer, request);
  if (is_readable(offer.reading, request.method)) return readable(offer, request, stateless);
  return refusal_of(kRpcUnknownMethod, "this server has no method " + request.method);
}

McpAnswer mcp_call_answer(const McpServed& offer, const ServedAnswer& given, bool stateless) {
  return complete(offer, mcp_result_members(given), stateless);
}

McpAnswer mcp_task_answer(const McpServed& offer, const ServedTask& task) {
  McpAnswer answer = complete(offer, mcp_task_members(task), true);
  answer.result["resultType"] = "task";
  return answer;
}

std::string mcp_progress(const Json& token, std::int64_t count, const std::string& text) {
  return mcp_notification("notifications/progress",
                          JsonObject{{"progressToken", token}, {"progress", count}, {"message", text}});
}

std::string mcp_answer_text(const Json& id, const McpAnswer& answer) {
  return answer.error != 0 ? mcp_error(id, answer.error, answer.why, answer.data)
                           : mcp_result(id, answer.result);
}

}  // namespace praxis
