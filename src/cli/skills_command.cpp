// `skills`: lists, shows and checks skills.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/skills_table.hpp"
#include "base/regular_file.hpp"
#include "cli/commands.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;
using SkillVerb = SkillsOptions::Verb;

class SkillsWork {
 public:
  SkillsWork(const SkillsOptions& options, Console& console) : options_(options), console_(console) {}

  Result<ExitStatus> run() {
    if (options_.verb == SkillVerb::kCheck) return check();
    const SkillList found = find_skills(places());
    return options_.verb == SkillVerb::kList ? list(found) : show(found);
  }

 private:
  fs::path full(const std::string& path) const {
    const fs::path start = options_.folder.empty() ? fs::path(".") : fs::path(options_.folder);
    return fs::absolute(start / path).lexically_normal();
  }

  std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (const std::string& place : options_.places) all.push_back(full(place));
    if (!all.empty()) return all;
    for (const char* place : {".agents/skills", ".claude/skills"}) all.push_back(full(place));
    std::ranges::move(app::own_skill_places(), std::back_inserter(all));
    return all;
  }

  void print_item(const std::string& folder, const Skill* skill, const std::string& why) {
    JsonObject item{{"folder", folder}, {"ok", skill != nullptr}};
    if (skill != nullptr) {
      item["name"] = skill->name;
      item["description"] = skill->description;
    } else {
      item["why"] = why;
    }
    console_.item("skill", item);
  }

  Result<ExitStatus> list(const SkillList& found) {
    for (const Skill& skill : found.skills) {
      if (options_.json) {
        print_item(skill.folder, &skill, {});
      } else {
        console_.out.line(
            visible_text(fmt::format("{:<24} {}", skill.name, app::one_line(skill.description, 100))));
      }
    }
    for (const SkillLeftOut& each : found.left_out) {
      if (options_.json) print_item(each.folder, nullptr, each.why);
      if (!options_.json)
        console_.err.line(visible_text(fmt::format("praxis: {} is left out: {}", each.folder, each.why)));
    }
    if (found.skills.empty() && found.left_out.empty() && !options_.json)
      console_.err.line("there are no skills in .agents/skills or .claude/skills, here or of yours");
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> show(const SkillList& found) {
    if (options_.words.size() != 1)
      return fail(app::usage_error("show takes the name of one skill", "praxis skills list shows them"));
    const std::string& name = options_.words.front();
    const auto skill = std::ranges::find(found.skills, name, &Skill::name);
    if (skill == found.skills.end()) {
      std::vector<std::string> names;
      for (const Skill& each : found.skills) names.push_back(each.name);
      const auto meant = closest(name, names);
      return fail(app::usage_error(
          "there is no skill " + app::in_quotes(name) + (meant ? "; did you mean \"" + *meant + "\"?" : ""),
          "praxis skills list shows them"));
    }
    console_.result({{"name", skill->name},
                     {"description", skill->description},
                     {"folder", skill->folder},
                     {"instructions", skill->instructions}});
    if (options_.json) return ExitStatus::kFinished;
    console_.out.line(visible_text(skill->instructions));
    console_.err.line(
        visible_text(fmt::format("{}: {}\n{}", skill->name, skill->description, skill->folder)));
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> check() {
    if (options_.words.empty())
      return fail(app::usage_error("check takes the folders of skills", "praxis skills check --help"));
    bool all_right = true;
    for (const std::string& word : options_.words) {
      const std::string folder = full(word).string();
      const std::string plain = folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder;
      const auto text = read_regular_file(plain + "/SKILL.md", Skill::kMaxFileBytes);
      const auto skill = text ? parse_skill(*text, plain) : Result<Skill>(fail(text.error()));
      all_right = all_right && skill;
      report(plain, skill);
    }
    return all_right ? ExitStatus::kFinished : ExitStatus::kFailed;
  }

  void report(const std::string& folder, const Result<Skill>& skill) {
    if (options_.json)
      return print_item(folder, skill ? &*skill : nullptr, skill ? "" : skill.error().message);
    if (!skill) return console_.err.line(visible_text(fmt::format("{}: {}", folder, skill.error().message)));
    console_.out.line(visible_text(fmt::format("{}: correct", skill->name)));
    for (const std::string& field : skill->unknown_fields)
      console_.err.line(
          visible_text(fmt::format("{}: the field \"{}\" is not of the format", folder, field)));
  }

  const SkillsOptions& options_;
  Console& console_;
};

}  // namespace

Result<ExitStatus> execute(const SkillsOptions& options, Console& console) {
  return SkillsWork(options, console).run();
}

}  // namespace praxis::cli
