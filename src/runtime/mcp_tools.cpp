#include "praxis/runtime/mcp_tools.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <utility>

#include "praxis/base/digest.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/media.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxToolName = 64;
constexpr std::size_t kDigestBytes = 4;  ///< that tell cut names apart
constexpr std::size_t kMaxServerName = 24;
constexpr const char* kSeparator = "__";
/// Makes the runtime's own deadline expire after ours, so that the server hears of the cancellation.
constexpr Millis kLeeway{1'000};

/// The tools of Praxis, which a model and a human must be able to tell from a server's.
constexpr std::array<std::string_view, 19> kBuiltIn{
    "ask_user", "edit",        "file_read", "file_write", "fork",   "forget",   "glob",
    "grep",     "http",        "kv",        "python",     "recall", "remember", "shell",
    "skill",    "sql_execute", "sql_query", "sql_schema", "text"};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// The name without case and with single separators, to compare names that look alike.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool is_separator = c == '_' || c == '-' || c == '.' || c == '/' || c == ' ';
    if (is_separator && (plain.empty() || plain.back() == '_')) continue;
    plain += is_separator ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  while (plain.ends_with('_')) plain.pop_back();
  return plain;
}

bool is_built_in(std::string_view name) {
  return std::ranges::find(kBuiltIn, plain_name(name)) != kBuiltIn.end();
}

std::string full_name(const std::string& server, const std::string& tool) {
  std::string name = mcp_prefix(server);
  for (const char c : tool) name += is_name_letter(c) ? c : '_';
  if (name.size() <= kMaxToolName) return name;
  name.resize(kMaxToolName - 2 * kDigestBytes - 1);
  return name + '_' + digest_of(tool).hex(kDigestBytes);
}

bool names_tool(const std::vector<std::string>& patterns, const std::string& tool) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return rule_names(pattern, tool); });
}

ToolOutput output_of(McpResult result) {
  ToolOutput output;
  output.text = std::move(result.text);
  output.value = std::move(result.value);
  for (ImagePart& image : result.images) {
    auto checked = image_of(std::move(image.source.data), "the image of the tool");
    if (checked) {
      output.images.push_back(*std::move(checked));
    } else {
      output.text += "\n[" + checked.error().message + ']';
    }
  }
  return output;
}

Result<ToolOutput> call_of(McpClient& client, const std::string& tool, const ToolContext& context,
                           const Json& arguments, Millis timeout) {
  McpCallOptions options;
  options.stop = context.stop;
  options.deadline = std::chrono::steady_clock::now() + timeout;
  options.on_progress = [&](const std::string& text, std::optional<double> fraction) {
    context.progress(text, fraction);
  };
  auto result = client.call(tool, arguments, options);
  if (!result) return fail(std::move(result.error()));
  if (!result->is_error) return output_of(*std::move(result));
  const std::string text =
      result->text.empty() ? "the tool failed and gave no reason" : std::move(result->text);
  return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed, text), Reach::kAnswered));
}

Tool tool_of(const std::shared_ptr<McpClient>& client, const McpTool& listed, const McpToolOptions& options) {
  Tool tool;
  tool.definition.name = full_name(options.server, listed.name);
  tool.definition.description = listed.description;
  tool.definition.parameters = listed.parameters;
  tool.definition.timeout = options.timeout + kLeeway;
  tool.definition.idempotent = names_tool(options.idempotent, listed.name);
  tool.handler = [client, name = listed.name, timeout = options.timeout](ToolContext& context,
                                                                         const Json& arguments) {
    return call_of(*client, name, context, arguments, timeout);
  };
  return tool;
}

}  // namespace

std::string mcp_prefix(const std::string& server) { return server + kSeparator; }

Status check_mcp_name(const std::string& server) {
  const bool is_usable =
      !server.empty() && server.size() <= kMaxServerName && std::ranges::all_of(server, is_name_letter) &&
      server.find(kSeparator) == std::string::npos && server.front() != '_' && server.back() != '_';
  if (is_usable) return {};
  return fail(ErrorCode::kInput,
              "the name of an MCP server must be 1 to 24 letters, digits, '-' or single '_' within");
}

Result<McpOffer> offer_mcp_tools(const McpServer& server, const McpToolList& list) {
  const McpToolOptions& options = server.options;
  McpOffer offer{{}, {}, list.left_out};
  std::map<std::string, McpTool> changed;
  if (options.acceptance) {
    auto compared = options.acceptance->changed(list.tools);
    if (!compared) return fail(std::move(compared.error()));
    changed = *std::move(compared);
  }
  std::set<std::string> taken;
  for (const McpTool& listed : list.tools) {
    if (!options.only.empty() && !names_tool(options.only, listed.name)) continue;
    const auto accepted = changed.find(listed.name);
    Tool tool = tool_of(server.client, accepted == changed.end() ? listed : accepted->second, options);
    const std::string& name = tool.definition.name;
    if (is_built_in(listed.name) || is_built_in(name)) {
      offer.left_out.push_back({listed.name, "it could be taken for a built-in tool of that name"});
    } else if (!taken.insert(plain_name(name)).second) {
      offer.left_out.push_back({listed.name, "another tool of the server has nearly the same name"});
    } else {
      if (accepted != changed.end()) {
        tool.definition.needs_approval = true;
        offer.changed.push_back(name);
      }
      offer.tools.push_back(std::move(tool));
    }
  }
  return offer;
}

ToolSource mcp_tools(McpServer server) {
  return [server = std::move(server)] {
    const auto list = server.client->tools();
    auto offer = list ? offer_mcp_tools(server, *list) : Result<McpOffer>(fail(list.error()));
    if (!offer)
      throw std::runtime_error("the MCP server \"" + server.options.server + "\": " + offer.error().message);
    return std::move(offer->tools);
  };
}

}  // namespace praxis
