// The arguments of `prompts` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kPromptsExamples =
    "  praxis prompts put review review.txt --author ann\n"
    "  praxis prompts label review production 1\n"
    "  praxis prompts render review@production --var what=C++\n"
    "  praxis prompts diff review 1 2\n"
    "  praxis prompts check review.txt";

inline void add_prompts_flags(CLI::App* prompts, PromptsOptions& options) {
  using Verb = PromptsOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"list", Verb::kList}, {"show", Verb::kShow},   {"diff", Verb::kDiff},  {"render", Verb::kRender},
      {"put", Verb::kPut},   {"label", Verb::kLabel}, {"check", Verb::kCheck}};
  takes_word(
      prompts
          ->add_option(
              "VERB", options.verb,
              "list; show ID[@VERSION]; diff ID FROM TO; render ID[@VERSION]; put ID FILE; label ID LABEL "
              "VERSION; check FILE")
          ->type_name(""),
      verbs);
  prompts->add_option("ID", options.first, "A prompt; of check a file, '-' for standard input")
      ->type_name("");
  prompts->add_option("FILE", options.second, "The file of put, '-' for standard input; a label; a version")
      ->type_name("");
  prompts->add_option("VERSION", options.third, "The version that gets the label, or is compared with")
      ->type_name("");
  add_repeated(prompts, "--var", options.variables, "Value of a variable of render, as text", "NAME=VALUE");
  takes_path(prompts->add_option("--vars", options.variables_file, "Values as a JSON object in this file"),
             "FILE");
  add_repeated(prompts, "--tag", options.tags, "Tag of the new version, or of those that are listed", "TAG");
  add_repeated(prompts, "--require", options.required,
               "Variable that render must be given, of a type (string, number, boolean, list, object) if one "
               "is named",
               "NAME[:TYPE]");
  prompts
      ->add_option("--engine", options.engine,
                   "How put and check read the file: fstring, mustache, handlebars, liquid")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"fstring", "mustache", "handlebars", "liquid"}).description(""));
  prompts->add_option("--name", options.name, "Name of the new version for users")->type_name("TEXT");
  prompts->add_option("--author", options.author, "Author of the change; default: the user")
      ->type_name("NAME");
  takes_path(prompts->add_option("--prompts", options.store,
                                 "Prompt file, or folder of plain files, instead of the configured one"),
             "PATH");
  add_json(prompts, options.json, "prompt");
  prompts->add_option("--profile", options.place.profile, "Use this profile of the configuration")
      ->type_name("NAME");
  takes_path(prompts->add_option("-C,--directory", options.place.folder, "Work in this directory"), "DIR");
}

}  // namespace praxis::cli
