#include "praxis/runtime/mcp_tools.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "praxis/base/digest.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/media.hpp"
#include "runtime/handoff.hpp"
#include "runtime/mcp_input.hpp"
#include "runtime/mcp_sampling.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxToolName = 64;
constexpr std::size_t kDigestBytes = 4;  ///< that tell cut names apart
constexpr std::size_t kMaxServerName = 24;
constexpr const char* kSeparator = "__";
constexpr const char* kListResources = "list_resources";
constexpr const char* kReadResource = "read_resource";
constexpr const char* kAwaitTask = "await_task";
/// Makes the runtime's own deadline expire after ours, so that the server hears of the cancellation.
constexpr Millis kLeeway{1'000};

/// The tools of Praxis, which a model and a human must be able to tell from a server's.
constexpr std::array<std::string_view, 21> kBuiltIn{
    "ask_user", "edit",         "file_read",    "file_write",  "fork",      "forget",     "glob",
    "grep",     "http",         "kv",           "python",      "recall",    "remember",   "shell",
    "skill",    "search_tools", "send_message", "sql_execute", "sql_query", "sql_schema", "text"};

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
  const std::string plain = plain_name(name);
  return std::ranges::find(kBuiltIn, plain) != kBuiltIn.end() || plain.starts_with(handoff_tool_name(""));
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

McpCallOptions call_options(const ToolContext& context, Millis timeout) {
  McpCallOptions options;
  options.stop = context.stop;
  if (!context.trace.trace.empty()) {
    options.traceparent = traceparent(context.trace);
    options.tracestate = context.trace.state;
  }
  options.deadline = std::chrono::steady_clock::now() + timeout;
  options.on_progress = [&context](const std::string& text, std::optional<double> fraction) {
    context.progress(text, fraction);
  };
  return options;
}

/// The handle of a task, which the log keeps as the result of the call before anything else is done with it:
/// a run that is continued finds it there.
ToolOutput handle_of(const std::string& server, const McpResult& result) {
  ToolOutput output;
  output.text = "Task " + result.task + " is not finished" + (result.text.empty() ? "" : ": ") + result.text +
                "\n[" + mcp_prefix(server) + kAwaitTask + " with {\"task\": \"" + result.task +
                "\"} waits for its result]";
  output.value = JsonObject{{"task", result.task}};
  return output;
}

Result<ToolOutput> output_or_error(const std::string& server, Result<McpResult> result) {
  if (!result) return fail(std::move(result.error()));
  if (!result->task.empty()) return handle_of(server, *result);
  if (!result->is_error) return output_of(*std::move(result));
  const std::string text =
      result->text.empty() ? "the tool failed and gave no reason" : std::move(result->text);
  return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed, text), Reach::kAnswered));
}

/// One request to a server, which may answer with a question.
using McpAsking = std::function<Result<McpResult>(const McpCallOptions& options)>;

/// Gets the answers of a model that the server asks for, but for those that a person still decides about.
void give_samples(const McpServer& server, ToolContext& context, McpRound& round) {
  const bool gives = server.client->bounds().gives_samples;
  if (!gives || round.input.requests.size() > McpRound::kMostAtOnce) return;
  for (const auto& [name, request] : round.input.requests) {
    const bool is_decided =
        !server.options.asks_before_samples || std::ranges::find(round.allowed, name) != round.allowed.end();
    if (!asks_for_sample(request) || !is_decided || round.answers.contains(name)) continue;
    auto answer = sample(context, server.options.server, request);
    if (!answer) context.progress(answer.error().message);
    round.answers[name] = std::move(answer).value_or(nullptr);
  }
}

/// Asks the server. If it asks something first, the call waits for the answer, and the server is asked again
/// with it.
Result<ToolOutput> ask_in_rounds(const McpServer& server, ToolContext& context, const McpAsking& ask) {
  McpCallOptions options = call_options(context, server.options.timeout);
  McpRound round = round_of(context.answers);
  give_samples(server, context, round);
  while (round.is_complete()) {
    options.answers = std::move(round.answers);
    options.state = std::move(round.input.state);
    auto result = ask(options);
    if (!result || !result->input) return output_or_error(server.options.server, std::move(result));
    round = {round.number + 1, *std::move(result->input)};
    if (round.number > McpRound::kMost) break;
    give_samples(server, context, round);
  }
  return fail(next_question(server.options.server, round, server.client->bounds()));
}

std::string line_of_resource(const McpResource& resource) {
  std::string line = resource.uri + (resource.is_template ? " (template)" : "");
  if (!resource.name.empty()) line += "  " + resource.name;
  if (!resource.description.empty()) line += ": " + resource.description;
  return line + '\n';
}

/// Lists the resources, as far as a result has room.
Result<ToolOutput> resources_of(McpClient& client, const McpCallOptions& options) {
  const auto resources = client.resources(options);
  if (!resources) return fail(resources.error());
  ToolOutput output;
  std::size_t left_out = 0;
  for (const McpResource& each : *resources) {
    const std::string line = line_of_resource(each);
    const bool fits = !each.uri.empty() && output.text.size() + line.size() <= client.bounds().result_bytes;
    if (fits) output.text += line;
    left_out += fits ? 0U : 1U;
  }
  if (left_out != 0) output.text += "[" + std::to_string(left_out) + " left out]\n";
  if (resources->empty()) output.text = "The server has no resources.";
  return output;
}

/// A tool of ours for a server, which may be called again: by the protocol it only reads.
Tool reading_tool(const McpServer& server, const char* name, std::string about, JsonObject fields,
                  JsonArray required) {
  Tool tool;
  tool.definition.name = mcp_prefix(server.options.server) + name;
  tool.definition.description = std::move(about);
  tool.definition.parameters =
      JsonObject{{"type", "object"}, {"properties", std::move(fields)}, {"required", std::move(required)}};
  tool.definition.timeout = server.options.timeout + kLeeway;
  tool.definition.idempotent = true;
  return tool;
}

/// The tool that waits for tasks. After a crash it is called again, and asks for the same task.
Tool await_task_tool(const McpServer& server) {
  Tool tool = reading_tool(
      server, kAwaitTask,
      "Waits for the result of a task of the server \"" + server.options.server +
          "\": a call that answered with the id of a task.",
      {{"task", JsonObject{{"type", "string"}, {"description", "Id of the task, as the call gave it"}}}},
      {"task"});
  tool.definition.safe_by_default = true;  // what it waits for was judged when it was called
  tool.handler = [server](ToolContext& context, const Json& arguments) {
    return ask_in_rounds(server, context, [&](const McpCallOptions& options) {
      return server.client->await_task(json_string(arguments, "task"), options);
    });
  };
  return tool;
}

/// The tools for the resources of a server.
std::vector<Tool> resource_tools(const McpServer& server) {
  Tool list =
      reading_tool(server, kListResources,
                   "Lists the resources of the server \"" + server.options.server +
                       "\": address, name and description. A template has parts in braces to fill in.",
                   {}, {});
  list.handler = [client = server.client, timeout = server.options.timeout](ToolContext& context,
                                                                            const Json&) {
    return resources_of(*client, call_options(context, timeout));
  };
  Tool read = reading_tool(
      server, kReadResource, "Reads a resource of the server \"" + server.options.server + "\".",
      {{"uri", JsonObject{{"type", "string"}, {"description", "Its address, as the list has it"}}}}, {"uri"});
  read.handler = [server](ToolContext& context, const Json& arguments) {
    return output_or_error(server.options.server,
                           server.client->read_resource(json_string(arguments, "uri"),
                                                        call_options(context, server.options.timeout)));
  };
  return {std::move(list), std::move(read)};
}

Tool tool_of(const McpServer& server, const McpTool& listed) {
  const McpToolOptions& options = server.options;
  Tool tool;
  tool.definition.name = full_name(options.server, listed.name);
  tool.definition.description = listed.description;
  tool.definition.parameters = listed.parameters;
  tool.definition.timeout = options.timeout + kLeeway;
  tool.definition.idempotent = names_tool(options.idempotent, listed.name);
  tool.handler = [server, name = listed.name](ToolContext& context, const Json& arguments) {
    return ask_in_rounds(server, context, [&](const McpCallOptions& asked) {
      return server.client->call(name, arguments, asked);
    });
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
  // Without it a task could not be awaited, so no tool of the server takes its place.
  std::optional<Tool> waits = list.tasks ? std::optional(await_task_tool(server)) : std::nullopt;
  if (waits) taken.insert(plain_name(waits->definition.name));
  for (const McpTool& listed : list.tools) {
    if (!options.only.empty() && !names_tool(options.only, listed.name)) continue;
    const auto accepted = changed.find(listed.name);
    Tool tool = tool_of(server, accepted == changed.end() ? listed : accepted->second);
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
  if (waits) offer.tools.push_back(*std::move(waits));
  if (!list.resources) return offer;
  for (Tool& tool : resource_tools(server)) {
    const std::string own = tool.definition.name.substr(mcp_prefix(options.server).size());
    const bool is_wanted = options.only.empty() || names_tool(options.only, own);
    if (is_wanted && taken.insert(plain_name(tool.definition.name)).second)
      offer.tools.push_back(std::move(tool));
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
