// The arguments of `skills` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kSkillsHelp =
    "List, show and check skills: folders with instructions for agents";
inline constexpr const char* kSkillsExamples =
    "  praxis skills list\n"
    "  praxis skills show release-notes\n"
    "  praxis skills check .agents/skills/release-notes\n"
    "  praxis skills list --from vendor/skills";

inline void add_skills_flags(CLI::App* skills, SkillsOptions& options) {
  using Verb = SkillsOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"list", Verb::kList}, {"show", Verb::kShow}, {"check", Verb::kCheck}};
  takes_word(
      skills
          ->add_option(
              "VERB", options.verb,
              "list the skills of this folder and of the user; show the instructions of one; check the "
              "folders of skills against the format")
          ->type_name(""),
      verbs);
  skills->add_option("NAME", options.words, "A skill; of check one or more folders, each with a SKILL.md")
      ->type_name("");
  add_repeated(skills, "--from", options.places,
               "Look for skills in the folders of this one, instead of .agents/skills and .claude/skills",
               "DIR");
  add_json(skills, options.json, "skill");
  takes_path(skills->add_option("-C,--directory", options.folder, "Work in this directory"), "DIR");
}

}  // namespace praxis::cli
