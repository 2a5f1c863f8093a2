// Skills: folders with instructions for one kind of task, in the open format of agentskills.io. A model sees
// names and descriptions, and gets the instructions and files of a skill when it asks for them. A skill is
// text and grants nothing: what it tells the model to do is judged by the rules of the agent.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/tools/file_tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One skill, from the file `SKILL.md` of its folder. Names of fields and bounds are those of the format.
struct Skill {
  static constexpr std::size_t kMaxName = 64;               ///< characters
  static constexpr std::size_t kMaxDescription = 1024;      ///< characters
  static constexpr std::size_t kMaxCompatibility = 500;     ///< characters
  static constexpr std::size_t kMaxFileBytes = 256 * 1024;  ///< of `SKILL.md`

  std::string name;           ///< of letters a to z, digits and single '-'; that of the folder
  std::string description;    ///< what it does and when to use it
  std::string license;        ///< empty if not given
  std::string compatibility;  ///< what it needs around it; empty if not given
  std::string instructions;   ///< the text after the header
  std::string folder;         ///< absolute path
  /// Fields of the header that are not of the format, in their order.
  std::vector<std::string> unknown_fields;
};

/// Reads the text of a `SKILL.md`. `folder` is the absolute path of the folder that it is in. Error `kInput`:
/// the text is not in the format.
Result<Skill> parse_skill(std::string_view text, const std::string& folder);

/// A folder that looks like a skill and cannot be used.
struct SkillLeftOut {
  std::string folder;
  std::string why;
};
struct SkillList {
  std::vector<Skill> skills;  ///< in order of the folders given, then of their names
  std::vector<SkillLeftOut> left_out;
};

/// Where skills are read from; what is null is read from disk.
struct SkillFiles {
  /// The names of the folders in a folder; none if it does not exist.
  std::function<std::vector<std::string>(const std::string& folder)> folders = nullptr;
  /// The content of a file of at most `max_bytes`; error `kInput`.
  std::function<Result<std::string>(const std::string& path, std::size_t max_bytes)> read = nullptr;
};

/// The skills in the folders directly below `places` (absolute paths; what does not exist has none). Of two
/// skills with one name the first counts. At most 128 skills; more are left out.
SkillList find_skills(const std::vector<std::string>& places, const SkillFiles& files = {});

/// `skill`: gives the instructions of the skill `name` and lists its files; with `file`, the text of that
/// file. The description of the tool names all skills. Files are read when they are asked for, inside of the
/// skill's folder only, with the bounds of `file_read`. Safe by default; idempotent.
Tool skill_tool(std::vector<Skill> skills, FileBounds bounds = {});

}  // namespace praxis
#pragma GCC visibility pop
