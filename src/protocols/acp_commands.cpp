#include "protocols/acp_commands.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "app/slash_prompt.hpp"

namespace praxis::protocols {

/// The description of the tool has one line for each: `- NAME: DESCRIPTION`.
std::vector<ListedSkill> acp_skills(const AgentSpec& spec) {
  std::vector<ListedSkill> skills;
  const ToolSpec* const tool = spec.find_tool("skill");
  if (tool == nullptr) return skills;
  constexpr std::string_view kBegin = "\n- ", kColon = ": ";
  std::string_view rest = tool->definition.description;
  for (std::size_t at = rest.find(kBegin); at != rest.npos; at = rest.find(kBegin)) {
    rest.remove_prefix(at + kBegin.size());
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
    const std::size_t colon = line.find(kColon);
    if (colon != line.npos)
      skills.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + kColon.size()))});
  }
  return skills;
}

Json acp_commands_update(const std::vector<ListedSkill>& skills, const std::vector<OfferedPrompt>& prompts) {
  JsonArray commands;
  for (const ListedSkill& skill : skills) {
    commands.push_back(JsonObject{{"name", skill.name},
                                  {"description", skill.description},
                                  {"input", JsonObject{{"hint", "what to use the skill for"}}}});
  }
  for (const OfferedPrompt& prompt : prompts) {
    JsonObject command{{"name", prompt.name}, {"description", prompt.description}};
    if (!prompt.arguments.empty()) command["input"] = JsonObject{{"hint", app::prompt_usage(prompt)}};
    commands.push_back(std::move(command));
  }
  return JsonObject{{"sessionUpdate", "available_commands_update"},
                    {"availableCommands", std::move(commands)}};
}

void expand_acp_command(Message& message, const std::vector<ListedSkill>& skills) {
  auto* const part = message.parts.empty() ? nullptr : std::get_if<TextPart>(&message.parts.front());
  if (part == nullptr || !part->text.starts_with('/')) return;
  const std::string_view text = std::string_view(part->text).substr(1);
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  const std::string name(text.substr(0, end));
  if (std::ranges::find(skills, name, &ListedSkill::name) == skills.end()) return;
  const std::string rest(text.substr(std::min(text.find_first_not_of(" \n", end), text.size())));
  part->text = "Use the skill \"" + name + "\"." + (rest.empty() ? "" : "\n\n" + rest);
}

}  // namespace praxis::protocols
