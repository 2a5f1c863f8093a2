#include "mcp/requests.hpp"

#include <algorithm>
#include <utility>

#include "mcp/tasks.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxProgressBytes = 200;

/// What the client says of itself.
JsonObject mcp_client_info() { return {{"name", "praxis"}, {"version", "0.1"}}; }

/// What the client can be asked for. One that answers questions shows forms, and addresses that its user may
/// open.
JsonObject mcp_capabilities(const McpBounds& bounds) {
  JsonObject capabilities;
  if (bounds.answers_questions)
    capabilities["elicitation"] = JsonObject{{"form", JsonObject{}}, {"url", JsonObject{}}};
  if (bounds.answers_questions && bounds.gives_samples) capabilities["sampling"] = JsonObject{};
  return capabilities;
}

}  // namespace

JsonObject mcp_handshake_params(std::string_view version, const McpBounds& bounds) {
  JsonObject capabilities = mcp_capabilities(bounds);
  if (!bounds.roots.empty()) capabilities["roots"] = JsonObject{};
  return {{"protocolVersion", version},
          {"capabilities", std::move(capabilities)},
          {"clientInfo", mcp_client_info()}};
}

JsonObject mcp_modern_params(JsonObject params, const McpBounds& bounds) {
  JsonObject capabilities = mcp_capabilities(bounds);
  if (bounds.takes_tasks) capabilities["extensions"] = JsonObject{{kMcpTasks, JsonObject{}}};
  params["_meta"] = JsonObject{{std::string(kMcpMeta) + "protocolVersion", kMcpModernVersion},
                               {std::string(kMcpMeta) + "clientInfo", mcp_client_info()},
                               {std::string(kMcpMeta) + "clientCapabilities", std::move(capabilities)}};
  return params;
}

bool names_mcp_version(const Error& error, std::string_view version) {
  if (json_int(error.detail(), "rpc_code") != kRpcUnsupportedVersion) return false;
  const auto* const named = json_at(json_at(error.detail(), "rpc_data"), "supported").if_array();
  return named != nullptr && std::ranges::find(*named, Json(version)) != named->end();
}

McpRequest mcp_request_of(const std::string& method, JsonObject params, const std::string& name,
                          const McpCallOptions& options) {
  McpRequest request{method, std::move(params), name, options.stop, options.deadline};
  if (!options.traceparent.empty()) {
    Json& meta = request.params["_meta"];
    if (!meta.is_object()) meta = JsonObject{};
    meta.get_object()["traceparent"] = options.traceparent;
    if (!options.tracestate.empty()) meta.get_object()["tracestate"] = options.tracestate;
  }
  if (!options.on_progress) return request;
  request.on_progress = [&](const Json& progress) {
    const double total = json_double(progress, "total");
    const double done = json_double(progress, "progress");
    const auto fraction = total > 0 ? std::optional(std::clamp(done / total, 0.0, 1.0)) : std::nullopt;
    options.on_progress(mcp_shown(json_text(progress, "message"), kMaxProgressBytes), fraction);
  };
  return request;
}

}  // namespace praxis
