// The names of the tools that Praxis gives agents: no tool of an MCP server may have one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "app/agent_keys.hpp"
#include "journal/testing/journals.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/memory/stores.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/runtime/mcp_tools.hpp"

namespace praxis {
namespace {

using ToolNames = std::set<std::string, std::less<>>;

/// All tables of `[tools]`, without those whose tools the user names.
std::string tables_of_tools(const std::string& folder) {
  const std::string here = '"' + folder + '"';
  return "[policy]\nask = [\"shell\", \"python\"]\n"
         "[tools.ask_user]\n[tools.fork]\n[tools.kv]\n[tools.memory]\nwrite = true\n"
         "[tools.sql]\ndatabase = \"" +
         folder + "/shop.db" +
         "\"\nwrite = true\n"
         "[tools.skills]\nfolders = [" +
         here + "]\n[tools.send_message]\n[tools.text]\n[tools.file]\nread = [" + here + "]\nwrite = [" +
         here +
         "]\ncode = true\n[tools.http]\nallow = [\"example.com\"]\n"
         "[tools.shell]\n[tools.python]\n[tools.search_tools]\n";
}

/// The names of the tables that an agent file may have below `[tools]`.
ToolNames known_tables() {
  ToolNames tables;
  for (const SettingKey& key : agent_keys()) {
    std::string_view path = key.path;
    if (!path.starts_with("tools.")) continue;
    path.remove_prefix(std::string_view("tools.").size());
    tables.emplace(path.substr(0, path.find('.')));
  }
  return tables;
}

std::string left_out(const std::string& name) {
  McpToolList list;
  list.tools.emplace_back().name = name;
  McpServer server;
  server.options.server = "fix";
  const auto offer = offer_mcp_tools(server, list);
  return offer && offer->left_out.size() == 1 ? offer->left_out.front().why : "";
}

TEST(BuiltInNames, NoToolOfAServerHasOne) {
  const praxis::testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "tea");
  std::ofstream(folder / "tea/SKILL.md") << "---\nname: tea\ndescription: Tea.\n---\nBoil.\n";
  std::ofstream(folder / "shop.db") << "";
  const std::string text = tables_of_tools(folder / ".");
  for (const std::string& table : known_tables()) {
    const bool is_named_by_user = table == "mcp" || table == "a2a" || table == "acp";
    EXPECT_TRUE(is_named_by_user || text.contains("[tools." + table + "]")) << "a new table: name its tools";
  }
  AgentFileOptions options;
  options.http = make_http_client();
  options.memory = []() -> Result<std::shared_ptr<DatabaseClient>> { return memory_in_process().database; };
  const auto agent = parse_agent_file(text, folder / "a.toml", options);
  ASSERT_TRUE(agent) << agent.error().message;
  ToolNames names{"search_tools", "hand_over_to_anna"};  // which need a server, or a team
  for (const ToolSpec& tool : agent->spec().tools) names.insert(tool.definition.name);
  EXPECT_EQ(names.size(), 22U);
  for (const std::string& name : names)
    EXPECT_THAT(left_out(name), ::testing::HasSubstr("built-in tool")) << name;
  EXPECT_EQ(left_out("honest"), "");
}

}  // namespace
}  // namespace praxis
