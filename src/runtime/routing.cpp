// The strategies of a team that come with the library.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/runtime/runtime.hpp"
#include "praxis/runtime/team.hpp"

namespace praxis {
namespace {

/// A word without its ending, so that `code`, `codes` and `coding` are one.
std::string stem_of(std::string word) {
  constexpr std::size_t kShortest = 3;
  for (const std::string_view ending : {"ings", "ing", "ers", "er", "ies", "es", "ed", "s", "e", "y"}) {
    if (word.ends_with(ending) && word.size() >= ending.size() + kShortest) {
      word.resize(word.size() - ending.size());
      break;
    }
  }
  return word;
}

std::set<std::string> stems_of(const std::string& text) {
  std::set<std::string> stems;
  std::string word;
  for (const char c : lower_case(text) + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80) {
      word += c;
    } else if (!word.empty()) {
      stems.insert(stem_of(std::exchange(word, {})));
    }
  }
  return stems;
}

std::size_t in_common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return static_cast<std::size_t>(
      std::ranges::count_if(a, [&](const auto& stem) { return b.contains(stem); }));
}

/// Words of a description that are too short say nothing about a topic.
std::set<std::string> telling(std::set<std::string> stems) {
  constexpr std::size_t kShortest = 4;
  std::erase_if(stems, [](const std::string& stem) { return stem.size() < kShortest; });
  return stems;
}

/// How well a message fits a role.
std::size_t fit_of(const std::set<std::string>& message, const std::string& role, const Agent* agent) {
  constexpr std::size_t kWeightOfRole = 100;
  std::size_t fit = kWeightOfRole * in_common(stems_of(role), message);
  if (agent != nullptr)
    fit += in_common(telling(stems_of(agent->spec().name + ' ' + agent->spec().description)), message);
  return fit;
}

Json choice_schema(const std::vector<Agent>& agents) {
  JsonArray ids;
  for (const Agent& agent : agents) ids.emplace_back(agent.spec().id);
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{"agent", JsonObject{{"type", "string"}, {"enum", ids}}}}},
                    {"required", JsonArray{"agent"}},
                    {"additionalProperties", false}};
}

std::string summary_of(const AgentSpec& agent) {
  if (!agent.description.empty()) return agent.description;
  return agent.name.empty() ? agent.instructions : agent.name;
}

/// The last messages that were said, each on one line and cut.
std::string said_lately(const History& said) {
  constexpr std::size_t kMessages = 10, kLongest = 400;
  const auto& all = said.messages();
  std::string text;
  for (std::size_t i = all.size() - std::min(all.size(), kMessages); i < all.size(); ++i) {
    const std::string message = all[i]->text();
    if (message.empty()) continue;
    text += std::string(to_string(all[i]->role)) + ": " + std::string(utf8_head(message, kLongest)) + '\n';
  }
  return text;
}

std::string choice_prompt(const Routing& routing) {
  std::string prompt = "Choose the agent that should answer the message.\nAgents:\n";
  for (const Agent& agent : routing.agents)
    prompt += "- " + agent.spec().id + ": " + summary_of(agent.spec()) + "\n";
  const std::string said = said_lately(routing.said);
  if (!said.empty()) prompt += "Conversation so far:\n" + said;
  return prompt + "Message:\n" + routing.text;
}

}  // namespace

Strategy route_by_role(std::map<std::string, std::string> agents) {
  JsonObject roles;
  for (const auto& [role, id] : agents) roles[role] = id;
  Strategy::Route route =
      [agents = std::move(agents)](const Routing& routing) -> Result<std::vector<std::string>> {
    const std::set<std::string> message = stems_of(routing.text);
    std::pair<std::size_t, std::string> best{0, routing.current};
    for (const auto& [role, id] : agents) {
      const auto agent = std::ranges::find(routing.agents, id, [](const Agent& a) { return a.spec().id; });
      const std::size_t fit = fit_of(message, role, agent == routing.agents.end() ? nullptr : &*agent);
      if (fit > best.first) best = {fit, id};
    }
    return std::vector{best.second};
  };
  return {std::move(route), JsonObject{{"kind", "role"}, {"agents", std::move(roles)}}};
}

Strategy route_by_supervisor(Agent supervisor) {
  supervisor.runtime(nullptr);  // uses the runtime of the team
  Json form = JsonObject{{"kind", "supervisor"}, {"agent", supervisor.spec().id}};
  Strategy::Route route =
      [supervisor = std::move(supervisor)](const Routing& routing) -> Result<std::vector<std::string>> {
    auto session = routing.runtime.create_session(supervisor);
    if (!session) return fail(session.error());
    auto choice = structured_of(session->ask(choice_prompt(routing), {}, choice_schema(routing.agents)));
    if (!choice) return fail(choice.error());
    return std::vector{json_string(*choice, "agent")};
  };
  return {std::move(route), std::move(form)};
}

Strategy route_chain(std::vector<std::string> ids) {
  Json form = JsonObject{{"kind", "chain"}, {"agents", JsonArray(ids.begin(), ids.end())}};
  Strategy::Route route = [ids = std::move(ids)](const Routing&) -> Result<std::vector<std::string>> {
    return ids;
  };
  return {std::move(route), std::move(form)};
}

}  // namespace praxis
