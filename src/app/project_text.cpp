#include "app/project_text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/host_letters.hpp"
#include "app/plain_text.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

/// How a right reads; the value follows. `*` in a path stands for any name.
struct Phrase {
  std::string_view path;
  std::string_view words;
};
constexpr std::array kPhrases{
    Phrase{"model", "model"},
    Phrase{"instructions_file", "instructions from the file"},
    Phrase{"policy.allow", "may use without asking"},
    Phrase{"policy.ask", "asks before it uses"},
    Phrase{"policy.deny", "may not use"},
    Phrase{"policy.calls", "may make without asking the calls"},
    Phrase{"tools.file.read", "reads files below"},
    Phrase{"tools.file.write", "writes files below"},
    Phrase{"tools.memory.collection", "keeps notes under"},
    Phrase{"tools.memory.write", "writes and removes notes"},
    Phrase{"tools.http.allow", "sends requests to"},
    Phrase{"tools.shell.folder", "runs programs in"},
    Phrase{"tools.shell.write", "its programs write below"},
    Phrase{"tools.shell.read", "its programs read"},
    Phrase{"tools.shell.programs", "runs only the programs"},
    Phrase{"tools.shell.shell_strings", "may write lines for a shell"},
    Phrase{"tools.shell.environment", "its programs get the environment variables"},
    Phrase{"tools.shell.allow", "its programs reach the hosts"},
    Phrase{"tools.python.folder", "runs Python code in"},
    Phrase{"tools.python.write", "its Python code writes below"},
    Phrase{"tools.python.read", "its Python code reads"},
    Phrase{"tools.python.allow", "its Python code reaches the hosts"},
    Phrase{"tools.mcp.*.command", "starts the MCP server"},
    Phrase{"tools.mcp.*.url", "sends requests to the MCP server"},
    Phrase{"tools.mcp.*.token_env", "sends it as a token the environment variable"},
    Phrase{"tools.mcp.*.folder", "its MCP server runs in"},
    Phrase{"tools.mcp.*.read", "its MCP server reads"},
    Phrase{"tools.mcp.*.write", "its MCP server writes below"},
    Phrase{"tools.mcp.*.environment", "its MCP server gets the environment variables"},
    Phrase{"tools.mcp.*.allow", "its MCP server reaches the hosts"},
    Phrase{"tools.mcp.*.idempotent", "may call again after a crash"},
    Phrase{"tools.a2a.*.url", "gives work to the remote agent"},
    Phrase{"tools.a2a.*.token_env", "sends it as a token the environment variable"},
    Phrase{"tools.a2a.*.headers_env", "sends it as headers the environment variables"},
    Phrase{"tools.acp.*.command", "starts the agent"},
    Phrase{"tools.acp.*.folder", "its agent works in"},
    Phrase{"tools.acp.*.read", "its agent reads"},
    Phrase{"tools.acp.*.write", "its agent writes below"},
    Phrase{"tools.acp.*.environment", "its agent gets the environment variables"},
    Phrase{"tools.acp.*.allow", "its agent reaches the hosts"},
    Phrase{"agents.*.file", "starts the sub-agent"},
    Phrase{"team.members.*.file", "has the team member"},
    Phrase{"team.supervisor", "lets a team's member be selected by"},
    Phrase{"plan", "follows without a model the plan"},
    Phrase{"agents.folder", "finds further agents in"},
};

bool matches(std::string_view pattern, std::string_view path) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == path;
  return path.size() > pattern.size() && path.starts_with(pattern.substr(0, star)) &&
         path.ends_with(pattern.substr(star + 1));
}

std::string words_for(const std::string& path, const Json& value) {
  const auto phrase =
      std::ranges::find_if(kPhrases, [&](const Phrase& each) { return matches(each.path, path); });
  std::string text = exact(to_json_text(value));
  if (const auto* list = value.if_array(); list != nullptr && path != "plan" && path != "policy.calls") {
    text.clear();
    for (const Json& item : *list) text += (text.empty() ? "" : ", ") + exact(to_json_text(item));
    if (text.empty()) text = "(nothing)";
  }
  for (const std::string& host : hosts_in_letters(to_json_text(value))) text += " (" + host + ")";
  return phrase == kPhrases.end() ? exact(path) + " = " + text : std::string(phrase->words) + ": " + text;
}

/// A line for each value of a table; nested tables by dotted path. An empty table is a right too: it gives a
/// tool.
void add_values(const std::string& path, const Json& value, std::vector<std::string>& lines) {
  const auto* table = value.if_object();
  if (table == nullptr) return lines.push_back("    " + words_for(path, value));
  const bool is_tool = path.starts_with("tools.") && path.find('.', 6) == path.npos && path != "tools.mcp" &&
                       path != "tools.a2a" && path != "tools.acp";
  if (is_tool) lines.push_back("    has the tool " + exact(in_quotes(path.substr(6))));
  if (table->empty() && !is_tool) lines.push_back("    " + exact(path) + " = {}");
  for (const auto& [key, member] : *table) {
    add_values(path.empty() ? std::string(key) : path + '.' + std::string(key), member, lines);
  }
}

void add_file(const std::string& heading, const std::string& path, const std::string& text,
              std::vector<std::string>& lines) {
  lines.push_back(heading + exact(path));
  const auto document = TomlDocument::parse(text, path);
  if (document) add_values("", document->json(), lines);
  if (!document) lines.push_back("    cannot be read: " + exact(document.error().message));
}

}  // namespace

std::vector<std::string> describe_project(const Project& project) {
  std::vector<std::string> lines;
  for (const std::string& path : project.settings)
    add_file("  settings ", path, project.files.at(path), lines);
  for (const auto& [path, text] : project.files) {
    if (std::ranges::find(project.settings, path) != project.settings.end()) continue;
    const auto named =
        std::ranges::find(project.agents, path, [](const auto& agent) { return agent.second; });
    if (named != project.agents.end()) {
      add_file("  agent " + exact(in_quotes(named->first)) + ": ", path, text, lines);
    } else if (path.ends_with(".toml")) {
      add_file("  sub-agent: ", path, text, lines);
    } else if (const auto servers = parse_json(text);
               servers && json_at(*servers, "mcpServers").is_object()) {
      lines.push_back("  MCP servers: " + exact(path));
      add_values("", *servers, lines);
    } else {
      lines.push_back("  file " + exact(path) + ", " + std::to_string(text.size()) + " bytes, digest " +
                      digest_of(text).hex(8));
    }
  }
  return lines;
}

}  // namespace praxis::app
