// The table `[tools.sql]` of an agent file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/missing_part.hpp"
#include "praxis/app/agent_file.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string sql_mistake(const std::string& text, const AgentFileOptions& options = {}) {
  const auto agent = parse_agent_file(text, "a.toml", options);
  return agent ? "" : agent.error().message;
}

std::vector<std::string> sql_tools_of(const Agent& agent) {
  std::vector<std::string> names;
  for (const Tool& tool : agent.description()->tools.tools()) names.push_back(tool.definition.name);
  return names;
}

TEST(SqlTable, ReadsByDefaultAndWritesIfAllowed) {
  const Agent reader = parse_agent_file("[tools.sql]\ndatabase = 'shop.db'", "a.toml").value();
  EXPECT_THAT(sql_tools_of(reader), ElementsAre("sql_query", "sql_schema"));
  const Agent writer =
      parse_agent_file("[tools.sql]\ndatabase = 'shop.db'\nwrite = true\ntimeout = '1m'", "a.toml").value();
  EXPECT_THAT(sql_tools_of(writer), ElementsAre("sql_query", "sql_schema", "sql_execute"));
  EXPECT_EQ(writer.description()->tools.tools()[0].definition.timeout, std::chrono::minutes(2));
}

TEST(SqlTable, Mistakes_AreNamed) {
  EXPECT_THAT(sql_mistake("[tools.sql]\nwrite = true"), HasSubstr("needs the file of a database"));
  EXPECT_THAT(sql_mistake("[tools.sql]\ndatabase = 'a.db'\nmax_row = 1"),
              HasSubstr("did you mean \"max_rows\""));
  EXPECT_THAT(sql_mistake("[tools.sql]\ndatabase = 'a.db'\nmax_rows = 0"), HasSubstr("max_rows"));
}

TEST(SqlTable, AddressOfAServer_HasNoPasswordAndIsNoFile) {
  const std::string server = "[tools.sql]\ndatabase = 'postgres://ann@localhost/shop'";
  AgentFileOptions options;
  std::vector<std::string> granted;
  options.on_folder = [&granted](const std::string& path) { granted.push_back(path); };
  const auto agent = parse_agent_file(server, "a.toml", options);
  if (!agent && agent.error().message.contains("libpq")) PRAXIS_MISSING_PART("libpq (package libpq5)");
  ASSERT_TRUE(agent) << agent.error().message;
  EXPECT_THAT(sql_tools_of(*agent), ElementsAre("sql_query", "sql_schema"));
  EXPECT_TRUE(granted.empty());
  const std::string mistake = sql_mistake("[tools.sql]\ndatabase = 'postgres://ann:canary@localhost/shop'");
  EXPECT_THAT(mistake, HasSubstr("the address of the database contains a password"));
  EXPECT_THAT(mistake, Not(HasSubstr("canary")));
  options.within = options.folder = std::filesystem::temp_directory_path().string();
  EXPECT_THAT(sql_mistake(server, options), HasSubstr("an agent of a project reaches no database server"));
}

TEST(SqlTable, AgentOfAProject_ReachesNoDatabaseOutside) {
  AgentFileOptions options;
  options.within = std::filesystem::temp_directory_path().string();
  options.folder = options.within;
  std::vector<std::string> granted;
  options.on_folder = [&granted](const std::string& path) { granted.push_back(path); };
  EXPECT_EQ(sql_mistake("[tools.sql]\ndatabase = 'shop.db'", options), "");
  EXPECT_THAT(granted, ElementsAre(options.within + "/shop.db"));
  EXPECT_THAT(sql_mistake("[tools.sql]\ndatabase = '../etc/shop.db'", options), HasSubstr("is outside of"));
  EXPECT_THAT(sql_mistake("[tools.sql]\ndatabase = '/etc/shop.db'", options), HasSubstr("is outside of"));
}

}  // namespace
}  // namespace praxis
