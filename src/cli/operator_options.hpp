// The arguments of the commands for those who operate a server or a journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/base/time.hpp"

namespace praxis::cli {

/// The server on whose runs a command acts.
struct ServerPlace {
  std::string url;  ///< empty: it acts on those of a journal
  std::string token_file = {};
};

/// Where running turns are durable first.
struct EngineOptions {
  std::string name;  ///< `restate`; empty: no engine
  std::string ingress = "http://127.0.0.1:8080", admin = "http://127.0.0.1:9070";
  std::string listen = "127.0.0.1:9080";
  std::string address;     ///< how the engine reaches this process; empty: where it listens
  std::string token_file;  ///< empty: in the state folder
  std::vector<std::string> identity_keys;
};

/// Serves the runs of a journal over HTTP.
struct ServeOptions {
  app::Place place;
  std::string listen = "127.0.0.1";
  std::uint16_t port = 7717;
  std::string socket;             ///< path of a Unix socket; empty: none
  std::string token_file;         ///< empty: in the state folder
  std::string tls_cert, tls_key;  ///< PEM files; empty: plain HTTP
  bool plain_http = false;        ///< also where others could listen on the network
  std::vector<std::string> hosts, origins, push_hosts;
  std::vector<std::string> bounds;  ///< `NAME=N`
  std::string oidc, oidc_audience;  ///< empty: no identity provider
  std::string model;
  bool take_up = true;
  bool access_log = false;
  bool open = false;  ///< opens the page in a browser
  EngineOptions engine;
};

/// Calls a server.
struct ApiOptions {
  std::string method, path;
  std::optional<std::string> data;   ///< `-`: standard input
  std::vector<std::string> headers;  ///< `NAME: VALUE`
  ServerPlace server{"http://127.0.0.1:7717"};
};

/// Keeps and carries out schedules.
struct ScheduleOptions {
  enum class Verb : std::uint8_t { kAdd, kList, kRemove, kPause, kUnpause, kRun };
  app::Place place;
  Verb verb = Verb::kList;
  std::string first, agent, prompt;  ///< the times of add or the schedule; the arguments of add
  std::string missed = "once";
  std::string zone;  ///< empty: that of the machine
  bool json = false;
};

/// Lists what rules, hooks and people decided; signs the journal, or compares it with a signed head.
struct AuditOptions {
  app::Place place;
  std::optional<Millis> since;
  std::string sign, verify;  ///< files; empty: neither
  std::string key;           ///< public key of the signer; empty: the user's own
  bool json = false;
};

/// Shows how the journal is sealed, seals it, and changes its keys.
struct JournalOptions {
  enum class Verb : std::uint8_t { kShow, kBackup, kSeal, kRekey, kNewKey };
  app::Place place;
  Verb verb = Verb::kShow;
  std::string to;  ///< the source of the new key, or the folder of the backup
  bool json = false;
};

/// Makes, lists and revokes tokens of the server.
struct TokensOptions {
  enum class Verb : std::uint8_t { kAdd, kList, kRevoke };
  Verb verb = Verb::kList;
  std::string name;  ///< the principal; of revoke also the id of a token
  std::string role;
  std::vector<std::string> rights;  ///< instead of a role
  std::string tenant;
  std::vector<std::string> agents;
  std::optional<Millis> expires;  ///< from now on; nothing: never
  bool json = false;
};

/// Lists the secrets of the configuration, or checks that each can be read.
struct SecretsOptions {
  enum class Verb : std::uint8_t { kList, kCheck };
  app::Place place;
  Verb verb = Verb::kList;
  std::string name;  ///< only this one; empty: all
  bool json = false;
};

}  // namespace praxis::cli
