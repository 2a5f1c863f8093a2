// Where an engine is and where it finds this process, on the command line. Included by the one file that uses
// CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"

namespace praxis::cli {

/// `help`: what the command does with the engine.
inline void add_engine_place(CLI::App* command, EngineOptions& engine, const char* help) {
  command->add_option("--engine", engine.name, help)
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"restate"}).description(""));
  command->add_option("--engine-ingress", engine.ingress, "Base URL of the engine's ingress")
      ->type_name("URL")
      ->capture_default_str();
  command->add_option("--engine-admin", engine.admin, "Base URL of the engine's admin API")
      ->type_name("URL")
      ->capture_default_str();
  command->add_option("--engine-listen", engine.listen, "Where praxis serve listens for the engine")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command->add_option("--engine-address", engine.address, "How the engine reaches praxis serve, if not there")
      ->type_name("URL");
}

}  // namespace praxis::cli
