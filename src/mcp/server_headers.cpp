#include "mcp/server_headers.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/trimmed.hpp"
#include "mcp/server_answers.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

std::optional<std::string> trimmed_header(const HttpHeaders& headers, std::string_view name) {
  const auto found = find_header(headers, name);
  if (!found) return std::nullopt;
  return std::string(trimmed(*found, " \t"));
}

/// The opposite of `mcp_header_value`; nothing if the value is marked as Base64 and is not.
std::optional<std::string> decoded_header(std::string text) {
  constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
  if (text.size() < kBegin.size() + kEnd.size() || !text.starts_with(kBegin) || !text.ends_with(kEnd))
    return text;
  auto decoded =
      base64_decode(std::string_view(text).substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  if (!decoded) return std::nullopt;
  return *std::move(decoded);
}

McpAnswer mismatch(const std::string& header, const std::string& what) {
  return {{}, kRpcHeaderMismatch, "the header " + header + " must be " + what + " of the request", nullptr};
}

/// The member of the parameters that `Mcp-Name` repeats; empty if the method needs none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method.starts_with("tasks/")) return "taskId";
  return method == "resources/read" ? "uri" : "";
}

bool is_known_version(std::string_view version) {
  const auto older = mcp_versions_with_handshake();
  return version == kStatelessMcp || std::ranges::find(older, version) != older.end();
}

}  // namespace

std::optional<McpAnswer> refuse_mcp_headers(const HttpHeaders& headers, const McpMessage& request) {
  const auto header = trimmed_header(headers, "mcp-protocol-version");
  const std::string version = mcp_version_of(request);
  if (!version.empty() && header != version) return mismatch("MCP-Protocol-Version", "the version");
  if (header && !is_known_version(*header)) {
    return McpAnswer{{},
                     kRpcUnsupportedVersion,
                     "this server does not support version " + *header,
                     JsonObject{{"supported", JsonArray{kStatelessMcp}}, {"requested", *header}}};
  }
  if (version.empty()) {
    if (header != kStatelessMcp) return std::nullopt;
    return McpAnswer{{}, kRpcInvalidParams, "a request of this version has it in \"_meta\"", nullptr};
  }
  if (trimmed_header(headers, "mcp-method") != request.method) return mismatch("Mcp-Method", "the method");
  const std::string_view member = named_by(request.method);
  if (member.empty()) return std::nullopt;
  const auto name = trimmed_header(headers, "mcp-name");
  if (!name || decoded_header(*name) != json_string(request.body, member))
    return mismatch("Mcp-Name", "\"" + std::string(member) + "\"");
  return std::nullopt;
}

}  // namespace praxis
