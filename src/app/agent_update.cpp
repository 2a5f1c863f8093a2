#include "praxis/app/agent_update.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

std::unexpected<Error> refused(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

constexpr std::string_view kRunning = "running", kModified = "modified";

/// Whether `status` names what an agent is to become, as the design's own examples do, instead of a command.
bool is_state(std::string_view status) { return status == kRunning || status == kModified; }

Result<CommandVerb> verb_of(const std::string& status) {
  if (status == "pause") return CommandVerb::kPause;
  if (status == "unpause" || status == "resume" || status == kRunning) return CommandVerb::kUnpause;
  if (status == "interrupt") return CommandVerb::kInterrupt;
  return refused(R"("status" must be "running", "modified", "pause", "unpause" or "interrupt" (got ")" +
                 status + "\")");
}

/// A deleted agent reads nothing any more: the content says why, and no state but `deleted` can follow.
Result<Commands> deletion_of(const SessionId& target, const AgentUpdate& update) {
  if (!update.status.empty() && !is_state(update.status)) {
    if (const auto verb = verb_of(update.status); !verb) return fail(verb.error());
    return refused("a deleted agent cannot \"" + update.status + "\": leave out \"status\"");
  }
  Commands commands;
  if (!update.content.empty()) commands.push_back({CommandVerb::kAnnotate, target, update.content});
  commands.push_back({CommandVerb::kDelete, target});
  return commands;
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
  if (update.comment == "delete") return deletion_of(target, update);
  Commands commands;
  const bool says = !update.content.empty();
  const bool modifies = update.comment == "modify" || update.status == kModified;
  if (modifies && !says) return refused("\"modify\" needs content: the new task of the agent");
  if (update.comment != "unchanged" && update.comment != "modify")
    commands.push_back({CommandVerb::kAnnotate, target, update.comment});
  if (says)
    commands.push_back({modifies ? CommandVerb::kModify : CommandVerb::kSteer, target, update.content});
  if (update.status.empty() || update.status == kModified) return commands;
  const auto verb = verb_of(update.status);
  if (!verb) return fail(verb.error());
  commands.push_back({*verb, target});
  return commands;
}

Result<Commands> commands_of(const SessionId& target, const AgentUpdate& update, const ReadAgentState& read) {
  auto commands = commands_of(target, update);
  if (!commands || update.status != kRunning) return commands;
  const auto unpause = std::ranges::find(*commands, CommandVerb::kUnpause, &Command::verb);
  if (unpause == commands->end()) return commands;  // the agent is deleted
  const auto state = read(target);
  if (!state) return fail(state.error());
  if (!state->node.paused) commands->erase(unpause);
  return commands;
}

Status update_agent(Runtime& runtime, const SessionId& target, const AgentUpdate& update) {
  auto commands =
      commands_of(target, update, [&runtime](const SessionId& id) { return runtime.agent_state(id); });
  if (!commands) return fail(commands.error());
  if (!commands->empty()) return runtime.command(*std::move(commands));
  if (runtime.journal().session(target)) return {};
  return refused("no session is called \"" + target.str() + "\"");
}

}  // namespace praxis
