#include "cli/mcp_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/mcp_entry.hpp"
#include "app/plain_text.hpp"
#include "app/pretty_json.hpp"
#include "praxis/json/json.hpp"
#include "praxis/runtime/mcp_tools.hpp"

namespace praxis::cli {
namespace {

constexpr const char* kMcpFile = ".mcp.json";
constexpr const char* kServers = "mcpServers";

/// The content of the file; an empty object if it does not exist.
Result<JsonObject> read_servers() {
  if (!std::filesystem::exists(kMcpFile)) return JsonObject{{kServers, JsonObject{}}};
  const auto text = read_input(kMcpFile);
  if (!text) return fail(text.error());
  auto json = parse_json(*text);
  const Json& servers = json ? json_at(*json, kServers) : Json();
  if (!json || !json->is_object() || !(servers.is_null() || servers.is_object()))
    return fail(app::usage_error(std::string(kMcpFile) + " is not a JSON file with \"mcpServers\"",
                                 "it was not changed"));
  JsonObject content = json->get_object();
  if (servers.is_null()) content[kServers] = JsonObject{};
  return content;
}

/// What the file says of a server: words that begin with an address are an address.
Result<JsonObject> entry_of_words(const std::vector<std::string>& words) {
  const std::string& first = words[1];
  if (first.starts_with("http://") || first.starts_with("https://")) {
    if (words.size() > 2) return fail(app::usage_error("an address takes no arguments", "praxis mcp --help"));
    return JsonObject{{"type", "http"}, {"url", first}};
  }
  return JsonObject{{"command", first}, {"args", JsonArray(words.begin() + 2, words.end())}};
}

/// Checks that an agent could use the entry.
Status check_entry(const JsonObject& content, const std::string& name) {
  const auto read =
      app::read_mcp_entry(to_json_text(content), name, [](const std::string&) { return std::nullopt; });
  return read ? Status{} : fail(app::usage_error(read.error().message));
}

}  // namespace

Result<ExitStatus> change_mcp_file(const McpCommandOptions& options, Console& console) {
  const bool adds = options.verb == McpCommandOptions::Verb::kAdd;
  const std::size_t words = options.words.size();
  if (adds ? words < 2 : words != 1)
    return fail(app::usage_error(
        adds ? "add takes a name and an address, or a program after --" : "remove takes the name of a server",
        "praxis mcp --help"));
  const std::string& name = options.words.front();
  if (auto checked = check_mcp_name(name); !checked) return fail(app::usage_error(checked.error().message));
  auto content = read_servers();
  if (!content) return fail(content.error());
  JsonObject& servers = (*content)[kServers].get_object();
  if (adds == servers.contains(name))
    return fail(app::usage_error(
        fmt::format("{} {} server {}", kMcpFile, adds ? "has already a" : "has no", app::in_quotes(name)),
        adds ? "praxis mcp remove " + name + " removes it" : ""));
  if (adds) {
    auto entry = entry_of_words(options.words);
    if (!entry) return fail(entry.error());
    servers[name] = *std::move(entry);
    if (auto checked = check_entry(*content, name); !checked) return fail(checked.error());
  } else {
    servers.stable_erase(servers.find(name));
  }
  if (auto written = write_file(kMcpFile, app::pretty_json(*content)); !written) return fail(written.error());
  console.result({{"name", name}, {"file", kMcpFile}});
  console.err.line(fmt::format("{} {} {}", name, adds ? "added to" : "removed from", kMcpFile));
  if (adds)
    console.err.line(
        fmt::format("an agent gets its tools by:\n[tools.mcp.{0}]\nfrom = \"{1}\"\n[policy]\nask = "
                    "[\"{2}*\"]",
                    name, kMcpFile, mcp_prefix(name)));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
