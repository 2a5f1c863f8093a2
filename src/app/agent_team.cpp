#include "app/agent_team.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/plain_text.hpp"
#include "app/setting_key.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/tools/tool.hpp"
#include "runtime/handoff.hpp"

namespace praxis {
namespace app {
namespace {

/// Reads the tables of one team.
class TeamReader {
 public:
  TeamReader(const TomlDocument& document, std::string own, const ReadMember& read)
      : document_(document), read_(read), ids_{std::move(own)} {}

  Result<TeamDescription> read() {
    for (auto step : {&TeamReader::read_members, &TeamReader::check_strategy, &TeamReader::read_roles,
                      &TeamReader::read_order, &TeamReader::read_supervisor, &TeamReader::read_handoff}) {
      if (auto done = (this->*step)(); !done) return fail(std::move(done.error()));
    }
    return std::move(team_);
  }

 private:
  const Json& at(std::string_view path) const { return document_.at(path); }

  Status read_members() {
    const auto* members = at("team.members").if_object();
    if (members == nullptr || members->empty())
      return document_.mistake("team", "a team needs members: [team.members.NAME] with \"file\"");
    for (const auto& [name, table] : *members) {
      if (auto read = read_member(std::string(name), table); !read) return read;
    }
    return {};
  }

  Status read_member(const std::string& name, const Json& table) {
    const std::string place = "team.members." + name;
    const std::string file = json_string(table, "file");
    if (file.empty()) return document_.mistake(place, '[' + place + "] needs \"file\"");
    if (name.empty() || name.find_first_of("/ \t\n") != std::string::npos)
      return document_.mistake(place, "the name of a member must be one word without \"/\"");
    if (name == ids_.front())
      return document_.mistake(place, "\"" + name +
                                          "\" is the agent of this file, which is a member already; give "
                                          "this one another name");
    const auto path = std::filesystem::path(file).lexically_normal();
    if (std::ranges::find(files_, path) != files_.end())
      return document_.mistake(place + ".file",
                               "\"" + file + "\" is a member twice; one session has it once");
    files_.push_back(path);
    auto member = read_(place + ".file", file);
    if (!member) return fail(std::move(member.error()));
    member->id(name);
    if (const std::string about = json_string(table, "description"); !about.empty())
      member->description(about);
    ids_.push_back(name);
    team_.members.push_back(*std::move(member));
    return {};
  }

  /// Each strategy has what it needs, and nothing that another one needs.
  Status check_strategy() {
    route_ = json_string(at("team"), "route", "current");
    const std::string team = "team.";
    for (const auto& [strategy, key] :
         {std::pair("role", "roles"), {"chain", "order"}, {"supervisor", "supervisor"}}) {
      const Json& given = at(team + key);
      if (route_ == strategy && given.is_null())
        return document_.mistake("team.route", "route = \"" + route_ + "\" needs " + how_to(key));
      if (route_ != strategy && !given.is_null())
        return document_.mistake(team + key,
                                 '"' + team + key + "\" has no effect without route = \"" + strategy + '"');
    }
    return {};
  }

  static std::string how_to(const std::string& key) {
    if (key == "roles") return "[team.roles]: ROLE = \"MEMBER\" for each role";
    if (key == "order") return "\"order\": the members in the order in which they answer";
    return "\"supervisor\": the file of the agent that selects the member";
  }

  Status check_member(const std::string& place, const std::string& id) const {
    if (std::ranges::find(ids_, id) != ids_.end()) return {};
    const std::string known = joined(ids_);
    const auto meant = closest(id, ids_);
    return document_.mistake(place, "the team has no member \"" + id + '"' +
                                        (meant ? "; did you mean \"" + *meant + "\"?" : "; it has " + known));
  }

  Status read_roles() {
    if (at("team.roles").is_null()) return {};
    for (const auto& [role, id] : at("team.roles").get_object()) {
      const std::string member = to_plain_text(id);
      if (auto known = check_member("team.roles." + std::string(role), member); !known) return known;
      team_.roles[std::string(role)] = member;
    }
    if (team_.roles.empty()) return document_.mistake("team.roles", "[team.roles] names no role");
    return {};
  }

  Status read_order() {
    if (at("team.order").is_null()) return {};
    team_.order = texts_of(at("team.order"));
    if (team_.order.empty()) return document_.mistake("team.order", "\"team.order\" names no member");
    for (std::size_t i = 0; i < team_.order.size(); ++i) {
      const std::string place = "team.order[" + std::to_string(i) + ']';
      if (auto known = check_member(place, team_.order[i]); !known) return known;
    }
    return {};
  }

  Status read_supervisor() {
    const std::string file = json_string(at("team"), "supervisor");
    if (file.empty()) return {};
    auto agent = read_("team.supervisor", file);
    if (!agent) return fail(std::move(agent.error()));
    if (agent->spec().id == AgentSpec().id) agent->id("supervisor");  // its file gives none
    team_.supervisor = *std::move(agent);
    return {};
  }

  /// The name of each member becomes a part of the name of a tool.
  Status read_handoff() {
    team_.handoff = json_bool(at("team"), "handoff");
    if (!team_.handoff) return {};
    for (const std::string& id : ids_) {
      ToolDefinition definition;
      definition.name = handoff_tool_name(id);
      definition.parameters = JsonObject{{"type", "object"}};
      if (auto valid = check(definition); !valid)
        return document_.mistake("team.handoff",
                                 "no tool can hand over to \"" + id + "\": " + valid.error().message);
    }
    return {};
  }

  const TomlDocument& document_;
  const ReadMember& read_;
  std::vector<std::string> ids_;  ///< of the members, the agent of the file first
  std::vector<std::filesystem::path> files_;
  std::string route_;
  TeamDescription team_;
};

}  // namespace

std::vector<std::string> team_files(const Json& document) {
  std::vector<std::string> files;
  const Json& team = json_at(document, "team");
  const auto add = [&](std::string file) {
    if (!file.empty()) files.push_back(std::move(file));
  };
  if (const auto* members = json_at(team, "members").if_object()) {
    for (const auto& [name, member] : *members) add(json_string(member, "file"));
  }
  add(json_string(team, "supervisor"));
  return files;
}

Result<TeamDescription> team_of(const TomlDocument& document, const std::string& own,
                                const ReadMember& read) {
  return TeamReader(document, own, read).read();
}

}  // namespace app

Strategy TeamDescription::strategy() const {
  if (!roles.empty()) return route_by_role(roles);
  if (!order.empty()) return route_chain(order);
  if (supervisor) return route_by_supervisor(*supervisor);
  return {};
}

Result<Team> make_team(Agent own, const TeamDescription& description, std::shared_ptr<Runtime> runtime) {
  std::vector<Agent> agents{std::move(own)};
  agents.insert(agents.end(), description.members.begin(), description.members.end());
  Team team(agents, std::move(runtime));
  for (Agent& agent : agents) {
    if (description.handoff) team.register_agent(agent.use(team.handoff_tools(agent.spec().id)));
    if (const Status& status = agent.description()->status; !status) return fail(status.error());
  }
  if (auto set = team.route_message(description.strategy()); !set) return fail(set.error());
  return team;
}

Result<Team> load_team_file(const std::string& path, std::shared_ptr<Runtime> runtime,
                            AgentFileOptions options) {
  TeamDescription description;
  options.on_team = [&](TeamDescription read) { description = std::move(read); };
  auto own = load_agent_file(path, options);
  if (!own) return fail(own.error());
  return make_team(*std::move(own), description, std::move(runtime));
}

}  // namespace praxis
