// Slash commands of the Agent Client Protocol: the skills of the agent, and the prompts of its servers.
#pragma once

#include <string>
#include <vector>

#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/json/json.hpp"
#include "praxis/runtime/user_prompts.hpp"

namespace praxis::protocols {

/// A skill as the description of the tool `skill` lists it.
struct ListedSkill {
  std::string name, description;
};
/// The skills of an agent, as a log holds it too; empty if it has none.
std::vector<ListedSkill> acp_skills(const AgentSpec& spec);
/// The update that lists them as commands, and the prompts.
Json acp_commands_update(const std::vector<ListedSkill>& skills, const std::vector<OfferedPrompt>& prompts);
/// What a message that begins with one of these commands asks for in words; leaves other messages unchanged.
void expand_acp_command(Message& message, const std::vector<ListedSkill>& skills);

}  // namespace praxis::protocols
