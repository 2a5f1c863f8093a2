#include "praxis/tools/skill_tool.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "praxis/base/suggest.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/file_content.hpp"
#include "tools/file_walk.hpp"

namespace praxis {
namespace {

constexpr const char* kSkillDescription =
    "Instructions for certain kinds of tasks. Before you begin such a task, call this with the name of the "
    "skill and follow what it says; `file` gives one of its files. The skills:";
constexpr std::size_t kMostFiles = 200;
constexpr std::size_t kMostOfAText = std::size_t{256} * 1024;

struct SkillRequest {
  arg<std::string, "The skill"> name;
  arg<std::optional<std::string>, "A file of the skill, relative to its folder; absent: its instructions">
      file;
};
PRAXIS_FIELDS(SkillRequest, name, file)

/// A skill with the only folder that its files are read from.
struct OpenSkill {
  Skill skill;
  FileRoots roots;
};
using OpenSkills = std::vector<OpenSkill>;

/// Control characters of a foreign description would split the list.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string described(const OpenSkills& skills) {
  std::string text = kSkillDescription;
  for (const OpenSkill& each : skills)
    text += "\n- " + each.skill.name + ": " + on_one_line(each.skill.description);
  return text;
}

Result<ToolOutput> instructions_of(const OpenSkill& open, const std::stop_token& stop) {
  auto folder = open.roots.open(".", O_RDONLY | O_DIRECTORY);
  JsonArray files;
  std::string list;
  bool whole = true;
  if (folder) {
    FileWalk walk(open.roots, folder->first, stop);
    whole = walk.run([&](const std::string& below) {
      if (below == "SKILL.md") return true;
      if (files.size() == kMostFiles) return false;
      files.emplace_back(repair_utf8(below));
      list += "\n- " + below;
      return true;
    });
  }
  ToolOutput output;
  output.text = open.skill.instructions;
  if (!list.empty()) output.text += "\n\nFiles of the skill, in " + open.skill.folder + ':' + list;
  if (!whole) output.text += "\n[there are more files]";
  output.value = {{"name", open.skill.name}, {"folder", open.skill.folder}, {"files", std::move(files)}};
  return output;
}

Result<ToolOutput> file_of(const OpenSkill& open, const std::string& file) {
  auto opened = open.roots.open(file, O_RDONLY);
  if (!opened) return fail(std::move(opened.error()));
  auto content = FileContent::open(std::move(opened->second), file);
  if (!content) return fail(std::move(content.error()));
  auto bytes = content->read(0, kMostOfAText + 1);
  if (!bytes) return fail(std::move(bytes.error()));
  if (is_binary(*bytes))
    return fail(ErrorCode::kTool, "\"" + file + "\" is a binary file, which is not shown");
  ToolOutput output;
  const bool cut = bytes->size() > kMostOfAText;
  if (cut) bytes->resize(kMostOfAText);
  output.text = repair_utf8(*bytes) + (cut ? "\n[the rest is left out]" : "");
  output.value = {{"name", open.skill.name}, {"file", file}, {"cut", cut}};
  return output;
}

Result<ToolOutput> use(const OpenSkills& skills, const ToolContext& context, const SkillRequest& request) {
  const std::string& name = request.name;
  const auto found = std::ranges::find(
      skills, name, [](const OpenSkill& each) -> const std::string& { return each.skill.name; });
  if (found != skills.end())
    return request.file ? file_of(*found, *request.file) : instructions_of(*found, context.stop);
  std::vector<std::string> names;
  for (const OpenSkill& each : skills) names.push_back(each.skill.name);
  const auto meant = closest(name, names);
  return fail(ErrorCode::kInput,
              "there is no skill \"" + name + '"' + (meant ? "; did you mean \"" + *meant + "\"?" : ""));
}

}  // namespace

Tool skill_tool(std::vector<Skill> skills, FileBounds bounds) {
  auto open = std::make_shared<OpenSkills>();
  for (Skill& skill : skills) {
    FileRoots roots({skill.folder}, bounds);
    open->push_back({std::move(skill), std::move(roots)});
  }
  const std::string description = described(*open);
  Tool tool = make_tool(
      "skill", description,
      [skills = std::shared_ptr<const OpenSkills>(std::move(open))](
          ToolContext& context, const SkillRequest& request) { return use(*skills, context, request); });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace praxis
