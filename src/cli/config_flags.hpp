// The arguments of `config` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kConfigExamples =
    "  praxis config show\n"
    "  praxis config explain limits.max_usd\n"
    "  praxis config set model openai:gpt-5-mini\n"
    "  praxis config set limits.timeout 10m --profile night\n"
    "  praxis config edit";

inline void add_config_flags(CLI::App* config, ConfigOptions& options) {
  using Verb = ConfigOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"show", Verb::kShow}, {"explain", Verb::kExplain}, {"set", Verb::kSet}, {"edit", Verb::kEdit}};
  takes_word(
      config
          ->add_option(
              "VERB", options.verb,
              "show: all settings and their layers; explain KEY; set KEY VALUE in your file; edit your file")
          ->type_name(""),
      verbs);
  config->add_option("KEY", options.key, "A setting, such as limits.max_usd")->type_name("");
  config->add_option("VALUE", options.value, "Its value")->type_name("");
  add_json(config, options.json, "setting");
  add_place(config, options.place);
}

}  // namespace praxis::cli
