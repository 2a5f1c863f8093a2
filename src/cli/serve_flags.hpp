// The flags of `serve` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/engine_flags.hpp"
#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kServeHelp = "Make the runs of a journal reachable over HTTP";
inline constexpr const char* kServeExamples =
    "  praxis serve\n"
    "  praxis serve --open\n"
    "  praxis serve --port 0 --journal runs.db\n"
    "  praxis serve --socket /run/praxis/praxis.sock\n"
    "  praxis serve --listen 0.0.0.0 --host praxis.example.org \\\n"
    "    --tls-cert cert.pem --tls-key key.pem\n"
    "  praxis serve --engine restate\n"
    "  TOKEN=$(cat ~/.local/state/praxis/server-token)\n"
    "  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/api/v1/runs";

inline void add_engine_flags(CLI::App* serve, EngineOptions& engine) {
  add_engine_place(serve, engine, "Make running turns durable there first: restate");
  takes_path(serve->add_option("--engine-token-file", engine.token_file,
                               "File with the token that the engine sends; created if it is missing"),
             "FILE");
  add_repeated(serve, "--engine-identity-key", engine.identity_keys,
               "Refuse requests that the engine did not sign with this public key, or with one of several",
               "KEY");
}

inline void add_serve_flags(CLI::App* serve, ServeOptions& options) {
  serve->add_option("--listen", options.listen, "IPv4 or IPv6 address to listen on")
      ->type_name("ADDRESS")
      ->capture_default_str();
  serve->add_option("--port", options.port, "Port to listen on; 0: any free one")
      ->type_name("PORT")
      ->check(CLI::Range(0U, 65'535U).description(""))
      ->capture_default_str();
  takes_path(serve->add_option("--socket", options.socket, "Listen on this Unix socket instead"), "PATH");
  takes_path(serve->add_option("--token-file", options.token_file,
                               "File with the tokens; created with a new token if it is missing"),
             "FILE");
  takes_path(serve->add_option("--tls-cert", options.tls_cert,
                               "Speak TLS with the certificate and its chain (PEM) in this file"),
             "FILE");
  takes_path(serve->add_option("--tls-key", options.tls_key, "Key (PEM) of the certificate"), "FILE");
  serve->add_flag("--plain-http", options.plain_http,
                  "Serve other machines without TLS, so that the network can read tokens and runs");
  add_repeated(serve, "--host", options.hosts, "A further name by which clients may call this server",
               "NAME");
  add_repeated(serve, "--origin", options.origins, "A page of this origin may call", "ORIGIN");
  add_repeated(serve, "--push-host", options.push_hosts,
               "A2A clients may have the changes of their tasks sent to this host", "HOST");
  serve
      ->add_option("--oidc", options.oidc,
                   "Take tokens of this identity provider (OpenID Connect); roles.toml says their roles")
      ->type_name("ISSUER");
  serve->add_option("--oidc-audience", options.oidc_audience, "What those tokens must be for")
      ->type_name("AUDIENCE");
  add_repeated(serve, "--bound", options.bounds,
               "Refuse what exceeds this: requests, bytes, turns, waiting or queue of each token, "
               "total-requests ... of all, or memory",
               "NAME=N");
  serve->add_option("--model", options.model, "Model of agents without a model, as PROVIDER:NAME")
      ->type_name("MODEL");
  serve->add_flag_callback(
      "--no-take-up", [&options] { options.take_up = false; },
      "Leave runs that a crash interrupted as they are");
  serve->add_flag("--access-log", options.access_log,
                  "Write a line of JSON for each answer to standard error");
  serve->add_flag("--open", options.open, "Open the page in the browser, signed in");
  add_engine_flags(serve, options.engine);
  add_place(serve, options.place);
}

}  // namespace praxis::cli
