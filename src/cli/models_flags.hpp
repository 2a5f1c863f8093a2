// The arguments of `models` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kModelsHelp = "List the models of configured providers, or the facts about one";
inline constexpr const char* kModelsExamples =
    "  praxis models\n"
    "  praxis models anthropic | grep images\n"
    "  praxis models openai:gpt-5-mini\n"
    "  praxis models ollama --online\n"
    "  praxis models --all --json | jq -r 'select(.ready) | .provider'";

inline void add_models_flags(CLI::App* models, ModelsOptions& options) {
  models->add_option("NAME", options.name, "A provider, or a model as PROVIDER:NAME")->type_name("");
  models->add_flag("--all", options.all, "List providers without configuration too");
  models->add_flag("--online", options.online, "Ask the servers which models they have");
  add_json(models, options.json, "provider and model");
  add_place(models, options.place);
}

}  // namespace praxis::cli
