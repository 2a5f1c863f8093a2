// The arguments of `api` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kApiHelp = "Call a server with its token, for scripts";
inline constexpr const char* kApiExamples =
    "  praxis api GET /api/v1/runs\n"
    "  praxis api POST /api/v1/runs --data '{\"agent\": \"chat\", \"prompt\": \"Hi\"}'\n"
    "  praxis api POST /api/v1/runs --data - --header \"Idempotency-Key: k1\" < request.json\n"
    "  praxis api GET /api/v1/events --server https://praxis.example.org --token-file token";

inline void add_api_flags(CLI::App* api, ApiOptions& options) {
  api->add_option("METHOD", options.method, "GET, POST or DELETE")->type_name("")->required();
  api->add_option("PATH", options.path, "Path and query, such as /api/v1/runs?limit=5")
      ->type_name("")
      ->required();
  api->add_option("--data", options.data, "Body of the request; '-' reads it from standard input")
      ->type_name("TEXT");
  add_repeated(api, "--header", options.headers, "A further header", "NAME: VALUE");
  api->add_option("--server", options.server.url, "Where the server is")
      ->type_name("URL")
      ->capture_default_str();
  takes_path(api->add_option("--token-file", options.server.token_file,
                             "File with the token; otherwise PRAXIS_TOKEN, or the file of the local server"),
             "FILE");
}

}  // namespace praxis::cli
