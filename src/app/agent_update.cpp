#include "praxis/app/agent_update.hpp"

#include <array>
#include <utility>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

Result<CommandVerb> verb_of(const std::string& status) {
  if (status == "pause") return CommandVerb::kPause;
  if (status == "unpause" || status == "resume") return CommandVerb::kUnpause;
  if (status == "interrupt") return CommandVerb::kInterrupt;
  return refused("\"status\" must be \"pause\", \"unpause\" or \"interrupt\" (got \"" + status + "\")");
}

}  // namespace

Result<AgentUpdate> agent_update_from_json(const Json& json) {
  AgentUpdate update;
  const std::array<std::pair<const char*, std::string*>, 3> keys{
      {{"userComment", &update.comment}, {"userContent", &update.content}, {"status", &update.status}}};
  if (!json.is_object()) return refused("an update of an agent must be a JSON object");
  for (const auto& [key, value] : keys) {
    const Json& given = json_at(json, key);
    if (given.is_null()) continue;
    if (!given.is_string()) return refused("\"" + std::string(key) + "\" must be a string");
    *value = json_string(json, key);
  }
  return update;
}

Result<Commands> commands_of(const SessionId& target, const AgentUpdate& update) {
  Commands commands;
  const bool says = !update.content.empty();
  if (update.comment == "delete") {
    if (says || !update.status.empty()) return refused("a deletion accepts no content or status");
    return Commands{{CommandVerb::kDelete, target}};
  }
  if (update.comment == "modify") {
    if (!says) return refused("\"modify\" needs content: the new task of the agent");
    commands.push_back({CommandVerb::kModify, target, update.content});
  } else {
    if (update.comment != "unchanged") commands.push_back({CommandVerb::kAnnotate, target, update.comment});
    if (says) commands.push_back({CommandVerb::kSteer, target, update.content});
  }
  if (update.status.empty()) return commands;
  const auto verb = verb_of(update.status);
  if (!verb) return fail(verb.error());
  commands.push_back({*verb, target});
  return commands;
}

Status update_agent(Runtime& runtime, const SessionId& target, const AgentUpdate& update) {
  auto commands = commands_of(target, update);
  if (!commands) return fail(commands.error());
  if (!commands->empty()) return runtime.command(*std::move(commands));
  if (runtime.journal().session(target)) return {};
  return refused("no session is called \"" + target.str() + "\"");
}

}  // namespace praxis
