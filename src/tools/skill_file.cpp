// Skills as they are found on disk.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/regular_file.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/tools/skill_tool.hpp"
#include "tools/file_roots.hpp"
#include "tools/skill_header.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostSkills = 128;
constexpr const char* kSkillFile = "SKILL.md";

std::unexpected<Error> unfit(const std::string& why) { return fail(ErrorCode::kInput, why); }

/// Number of characters; -1 if the text is not UTF-8.
std::ptrdiff_t characters_in(const std::string& text) {
  if (!is_valid_utf8(text)) return -1;
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

bool is_skill_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

Status check_skill_name(const std::string& name, const std::string& folder) {
  if (name.empty()) return unfit("the field \"name\" is missing");
  if (name.size() > Skill::kMaxName || !std::ranges::all_of(name, is_skill_letter) || name.starts_with('-') ||
      name.ends_with('-') || name.contains("--"))
    return unfit("the name must be 1 to 64 letters a to z, digits and single '-' between them");
  if (std::filesystem::path(folder).filename() != name)
    return unfit("the name \"" + name + "\" is not that of the folder");
  return {};
}

Status check_length(const std::string& field, const std::string& text, std::size_t most) {
  const std::ptrdiff_t count = characters_in(text);
  if (count < 0) return unfit("the field \"" + field + "\" is not UTF-8");
  if (std::cmp_less_equal(count, most)) return {};
  return unfit("the field \"" + field + "\" has " + std::to_string(count) + " characters, allowed are " +
               std::to_string(most));
}

Status check_skill(const Skill& skill) {
  if (auto named = check_skill_name(skill.name, skill.folder); !named) return named;
  if (skill.description.find_first_not_of(" \t\r\n") == std::string::npos)
    return unfit("the field \"description\" is missing");
  if (auto fits = check_length("description", skill.description, Skill::kMaxDescription); !fits) return fits;
  if (auto fits = check_length("compatibility", skill.compatibility, Skill::kMaxCompatibility); !fits)
    return fits;
  if (!is_valid_utf8(skill.instructions)) return unfit("the instructions are not UTF-8");
  return {};
}

std::vector<std::string> folders_on_disk(const std::string& place) {
  std::vector<std::string> names;
  FileDescriptor folder(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return names;
  for (const DirectoryEntry& entry : read_directory(std::move(folder))) {
    if (entry.kind == DirectoryEntry::Kind::kDirectory) names.push_back(entry.name);
  }
  return names;
}

class SkillFinder {
 public:
  explicit SkillFinder(const SkillFiles& files) : files_(files) {}

  void look_into(const std::string& place) {
    std::vector<std::string> names = files_.folders ? files_.folders(place) : folders_on_disk(place);
    std::ranges::sort(names);
    for (const std::string& name : names) take(place + '/' + name);
  }
  SkillList found() && { return std::move(found_); }

 private:
  void take(const std::string& folder) {
    const std::string path = folder + '/' + kSkillFile;
    std::error_code ignored;
    if (!files_.read && !std::filesystem::exists(path, ignored)) return;
    auto skill = read(path, folder);
    if (!skill) return leave_out(folder, skill.error().message);
    if (std::ranges::count(found_.skills, skill->name, &Skill::name) > 0)
      return leave_out(folder, "another skill with this name comes first");
    if (found_.skills.size() == kMostSkills)
      return leave_out(folder, "there are more than " + std::to_string(kMostSkills) + " skills");
    found_.skills.push_back(*std::move(skill));
  }

  Result<Skill> read(const std::string& path, const std::string& folder) const {
    auto text =
        files_.read ? files_.read(path, Skill::kMaxFileBytes) : read_regular_file(path, Skill::kMaxFileBytes);
    if (!text) return fail(std::move(text.error()));
    return parse_skill(*text, folder);
  }

  void leave_out(const std::string& folder, std::string why) {
    if (found_.left_out.size() < kMostSkills) found_.left_out.push_back({folder, std::move(why)});
  }

  const SkillFiles& files_;
  SkillList found_;
};

}  // namespace

Result<Skill> parse_skill(std::string_view text, const std::string& folder) {
  const auto parts = split_skill(text);
  if (!parts) return fail(parts.error());
  auto fields = read_skill_header(parts->header);
  if (!fields) return fail(std::move(fields.error()));
  Skill skill;
  skill.folder = folder;
  skill.instructions =
      std::string(parts->body.substr(std::min(parts->body.find_first_not_of("\r\n"), parts->body.size())));
  for (auto& [field, value] : *fields) {
    if (field == "name") {
      skill.name = std::move(value);
    } else if (field == "description") {
      skill.description = std::move(value);
    } else if (field == "license") {
      skill.license = std::move(value);
    } else if (field == "compatibility") {
      skill.compatibility = std::move(value);
    } else if (field != "metadata" && field != "allowed-tools") {
      skill.unknown_fields.push_back(std::move(field));
    }
  }
  if (auto checked = check_skill(skill); !checked) return fail(std::move(checked.error()));
  return skill;
}

SkillList find_skills(const std::vector<std::string>& places, const SkillFiles& files) {
  SkillFinder finder(files);
  for (const std::string& place : places) finder.look_into(place);
  return std::move(finder).found();
}

}  // namespace praxis
