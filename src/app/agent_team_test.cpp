// `[team]` of an agent file.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <stdexcept>

#include "app/project.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TeamFile : public ::testing::Test {
 protected:
  TeamFile() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_team_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    file("billing.toml", "id = 'ledger'\ndescription = 'Knows prices'\n");
    file("legal.toml", "model = 'openai:law'\n");
  }
  ~TeamFile() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  /// The file of the team: its own agent, two members, and `rest` in `[team]`.
  std::string desk(const std::string& rest) const {
    return file("desk.toml",
                "id = 'desk'\nmodel = 'openai:small'\n[team]\n" + rest +
                    "\n[team.members.billing]\nfile = 'billing.toml'\n"
                    "[team.members.legal]\nfile = 'legal.toml'\ndescription = 'Knows the law'\n");
  }
  std::optional<TeamDescription> read(const std::string& path, AgentFileOptions options = {}) const {
    std::optional<TeamDescription> team;
    options.on_team = [&](TeamDescription given) { team = std::move(given); };
    const auto agent = load_agent_file(path, options);
    EXPECT_TRUE(agent) << agent.error().message;
    return team;
  }
  /// The error of loading a file, without the folder's name.
  std::string mistake_in(const std::string& path) const {
    AgentFileOptions options;
    options.on_team = [](const TeamDescription&) {};
    return without_folder(load_agent_file(path, options));
  }
  std::string without_folder(const Result<Agent>& agent) const {
    if (agent) return "no error was found";
    EXPECT_EQ(agent.error().code, ErrorCode::kInput);
    return std::regex_replace(agent.error().message, std::regex(folder_.string() + "/"), "");
  }

  std::filesystem::path folder_;
};

TEST_F(TeamFile, MembersAreNamedByTheirTablesAndKeepTheirOrder) {
  const auto team = read(desk("handoff = true"));
  ASSERT_TRUE(team);
  ASSERT_EQ(team->members.size(), 2U);
  const AgentSpec &billing = team->members[0].spec(), &legal = team->members[1].spec();
  EXPECT_EQ(billing.id, "billing") << "the name in the team, not that of its own file";
  EXPECT_EQ(billing.description, "Knows prices");
  EXPECT_EQ(billing.model, "openai:small") << "that of the team's file";
  EXPECT_EQ(legal.description, "Knows the law");
  EXPECT_EQ(legal.model, "openai:law");
  EXPECT_EQ(json_string(legal.metadata, "agent_file"), folder_ / "legal.toml");
  EXPECT_TRUE(team->handoff);
  EXPECT_EQ(team->strategy().form(), Json(nullptr));
}

TEST_F(TeamFile, StrategiesAreThoseOfTheLibrary) {
  EXPECT_EQ(to_json_text(read(desk("route = 'chain'\norder = ['legal', 'desk']"))->strategy().form()),
            R"({"kind":"chain","agents":["legal","desk"]})");
  EXPECT_EQ(
      to_json_text(
          read(desk("route = 'role'\nroles = { prices = 'billing', law = 'legal' }"))->strategy().form()),
      R"({"kind":"role","agents":{"law":"legal","prices":"billing"}})");
  file("judge.toml", "id = 'judge'\n");
  EXPECT_EQ(to_json_text(read(desk("route = 'supervisor'\nsupervisor = 'judge.toml'"))->strategy().form()),
            R"({"kind":"supervisor","agent":"judge"})");
}

TEST_F(TeamFile, AStrategyWithoutWhatItNeeds_IsAMistake) {
  EXPECT_THAT(mistake_in(desk("route = 'role'")),
              AllOf(StartsWith("desk.toml:4:"), HasSubstr("route = \"role\" needs [team.roles]")));
  EXPECT_THAT(mistake_in(desk("route = 'chain'")), HasSubstr("route = \"chain\" needs \"order\""));
  EXPECT_THAT(mistake_in(desk("route = 'supervisor'")),
              HasSubstr("route = \"supervisor\" needs \"supervisor\": the file"));
  EXPECT_THAT(
      mistake_in(desk("order = ['legal']")),
      AllOf(StartsWith("desk.toml:4:"), HasSubstr("\"team.order\" has no effect without route = \"chain\"")));
  EXPECT_THAT(mistake_in(desk("route = 'roles'")),
              HasSubstr(R"("team.route" must be one of "current", "role", "supervisor", "chain")"));
  EXPECT_THAT(mistake_in(desk("route = 'chain'\norder = []")), HasSubstr("names no member"));
}

TEST_F(TeamFile, UnknownMembers_AreNamedWithTheNearestOne) {
  EXPECT_THAT(mistake_in(desk("route = 'chain'\norder = ['desk', 'leagl']")),
              AllOf(StartsWith("desk.toml:5:"),
                    HasSubstr("the team has no member \"leagl\"; did you mean \"legal\"?")));
  EXPECT_THAT(mistake_in(desk("route = 'role'\nroles = { law = 'court' }")),
              HasSubstr("the team has no member \"court\"; it has desk, billing, legal"));
  EXPECT_THAT(mistake_in(file("alone.toml", "[team]\nhandoff = true\n")),
              HasSubstr("a team needs members: [team.members.NAME] with \"file\""));
  EXPECT_THAT(mistake_in(file("a.toml", "[team.members.one]\ndescription = 'x'\n")),
              HasSubstr("[team.members.one] needs \"file\""));
  EXPECT_THAT(mistake_in(file("a.toml", "[team.members.one]\nfile = 'gone.toml'\n")),
              AllOf(StartsWith("a.toml:2:"), HasSubstr("there is no agent file \"gone.toml\"")));
}

TEST_F(TeamFile, AMemberTwice_IsAMistake) {
  EXPECT_THAT(mistake_in(file("a.toml", "[team.members.a]\nfile = 'legal.toml'\n")),
              HasSubstr("\"a\" is the agent of this file, which is a member already"));
  EXPECT_THAT(mistake_in(file("a.toml",
                              "[team.members.one]\nfile = 'legal.toml'\n"
                              "[team.members.two]\nfile = './legal.toml'\n")),
              AllOf(StartsWith("a.toml:4:"), HasSubstr("\"./legal.toml\" is a member twice")));
  EXPECT_THAT(mistake_in(file("a.toml", "[team.members.one]\nfile = 'a.toml'\n")), HasSubstr("a.toml -> "));
}

TEST_F(TeamFile, ATeamBelowAnother_IsAMistake) {
  file("inner.toml", "[team.members.legal]\nfile = 'legal.toml'\n");
  EXPECT_THAT(mistake_in(file("a.toml", "[team.members.inner]\nfile = 'inner.toml'\n")),
              AllOf(StartsWith("inner.toml:1:"), HasSubstr("cannot be a team itself")));
  EXPECT_THAT(mistake_in(file("a.toml", "[agents.inner]\nfile = 'inner.toml'\ndescription = 'x'\n")),
              HasSubstr("cannot be a team itself"));
  EXPECT_THAT(
      without_folder(load_agent_file(desk(""))),
      AllOf(StartsWith("desk.toml:3:"), HasSubstr("one agent is needed here"), HasSubstr("load_team_file")));
}

TEST_F(TeamFile, NamesThatNoToolCanHave_CannotHandOver) {
  EXPECT_THAT(mistake_in(file("a.toml",
                              "id = 'main.desk'\n[team]\nhandoff = true\n"
                              "[team.members.legal]\nfile = 'legal.toml'\n")),
              AllOf(StartsWith("a.toml:3:"), HasSubstr("no tool can hand over to \"main.desk\"")));
}

TEST_F(TeamFile, EachMemberHasASessionOfItsOwn_AndNoRuleOfAnother) {
  file("billing.toml",
       "[tools.kv]\n[policy]\nallow = ['kv']\n[agents.clerk]\nfile = 'legal.toml'\n"
       "description = 'x'\n");
  std::vector<std::string> roots;
  AgentFileOptions options;
  options.on_agent = [&](const Agent& agent, bool is_root) {
    if (is_root) roots.push_back(agent.spec().id);
  };
  const auto team = read(file("desk.toml",
                              "id = 'desk'\n[policy]\ndeny = ['kv']\n[team.members.billing]\n"
                              "file = 'billing.toml'\n"),
                         options);
  EXPECT_THAT(roots, ElementsAre("agent", "desk"));
  EXPECT_EQ(to_json_text(team->members[0].spec().policy), R"({"allow":["kv"],"deny":[],"ask":[]})");
}

TEST_F(TeamFile, NoMemberWritesTheFilesOfTheTeam) {
  file("billing.toml", "[tools.file]\nwrite = ['.']\n");
  AgentFileOptions options;
  options.folder = folder_;
  const auto team = read(desk(""), options);
  const Tool* write = team->members[0].description()->tools.find("file_write");
  ASSERT_NE(write, nullptr);
  for (const char* name : {"desk.toml", "billing.toml", "legal.toml", "other.toml"}) {
    ToolContext context;
    const auto written = write->handler(context, JsonObject{{"path", name}, {"content", ""}});
    EXPECT_EQ(written.has_value(), name == std::string_view("other.toml")) << name;
  }
}

TEST_F(TeamFile, ATeamIsLoadedWithItsToolsThatHandOver) {
  const auto runtime = Runtime::create();
  auto team = load_team_file(desk("handoff = true"), runtime);
  ASSERT_TRUE(team) << team.error().message;
  EXPECT_EQ(team->current_agent().spec().id, "desk");
  std::vector<std::string> tools;
  for (const Agent& agent : team->agents()) {
    for (const ToolSpec& tool : agent.spec().tools)
      tools.push_back(agent.spec().id + ": " + tool.definition.name);
  }
  EXPECT_THAT(tools, ElementsAre("desk: hand_over_to_billing", "desk: hand_over_to_legal",
                                 "billing: hand_over_to_desk", "billing: hand_over_to_legal",
                                 "legal: hand_over_to_desk", "legal: hand_over_to_billing"));
  auto alone = load_team_file(file("one.toml", "model = 'openai:small'\n"), runtime);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->agents().size(), 1U);
}

TEST_F(TeamFile, AProjectHasTheFilesOfItsTeams) {
  file(".praxis/agents/desk.toml",
       "[team]\nroute = 'supervisor'\nsupervisor = '../../judge.toml'\n"
       "[team.members.billing]\nfile = '../../billing.toml'\n");
  file("judge.toml", "instructions_file = 'judge.md'\n");
  file("judge.md", "Judge.");
  const app::Project project = app::read_project(folder_);
  EXPECT_EQ(project.problem, "");
  std::vector<std::string> files;
  for (const auto& [path, text] : project.files) files.push_back(path);
  EXPECT_THAT(files, ElementsAre(".praxis/agents/desk.toml", "billing.toml", "judge.md", "judge.toml"));
}

}  // namespace
}  // namespace praxis
