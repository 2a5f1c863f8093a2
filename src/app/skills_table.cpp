#include "app/skills_table.hpp"

#include <utility>

#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/setting_key.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSkillsTable = "tools.skills";

}  // namespace

std::vector<std::string> own_skill_places() {
  const std::string home = environment_variable("HOME");
  if (home.empty()) return {};
  return {(fs::path(home) / ".agents/skills").string(), (fs::path(home) / ".claude/skills").string()};
}

std::vector<std::string> skill_places(const TomlDocument& document, const AgentFileOptions& options,
                                      const fs::path& folder) {
  const Json& table = document.at(kSkillsTable);
  const bool is_bounded = !options.within.empty();
  if (json_at(table, "folders").is_null())
    return is_bounded ? std::vector<std::string>{} : own_skill_places();
  const fs::path start = is_bounded ? fs::path(options.within) : folder;
  std::vector<std::string> places;
  for (const std::string& path : texts_of(json_at(table, "folders")))
    places.push_back((start / path).lexically_normal().string());
  return places;
}

std::vector<Skill> skills_in(const std::vector<std::string>& places, const TomlDocument& document,
                             const AgentFileOptions& options) {
  SkillList list = find_skills(places, {options.list_folders, options.read_file});
  if (!options.warn) return std::move(list.skills);
  const auto warn = [&](const std::string& text) {
    options.warn(document.mistake(kSkillsTable, text).error().message);
  };
  for (const SkillLeftOut& each : list.left_out)
    warn("the skill in " + in_quotes(each.folder) + " is left out: " + each.why);
  if (list.skills.empty() && list.left_out.empty()) warn("there is no skill in the folders of the table");
  return std::move(list.skills);
}

}  // namespace praxis::app
