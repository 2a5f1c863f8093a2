// What the tables of an agent file use of the user's secrets: headers of requests, and variables of programs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "tools/host_rules.hpp"

namespace praxis::app {

/// A checked table of an agent file, such as `tools.http`. Must not outlive what it refers to.
struct SecretTable {
  const TomlDocument& document;
  const AgentFileOptions& options;
  std::string path;
};

/// The network of the options, for requests to `reachable`, with the headers that `TABLE.headers` says;
/// `token` may name a secret as well, which is sent as `Authorization: Bearer`. Error `kInput`: no such
/// secret, or one that is not for this tool, agent, or any host of `reachable`, or a header that the client
/// sets itself.
Result<std::shared_ptr<HttpClient>> http_of_table(const SecretTable& table, const HostRules& reachable,
                                                  const std::string& token = {});

/// The variables of programs in a sandbox.
struct ProgramVariables {
  std::vector<std::string> passed_on;  ///< names of variables of this process
  /// Adds those with secrets, just before a start; null: adds nothing.
  std::function<Status(std::map<std::string, std::string>& environment)> prepare;
};
/// The variables that `TABLE.environment` lists, and those of `further` (by name) that name a secret, which
/// are removed there. A program knows a secret that it gets, so the hosts that `TABLE.allow` lets it reach
/// must be hosts of the secret. Error `kInput`: as above, or a host of `TABLE.allow` that is not one of
/// them.
Result<ProgramVariables> variables_of_table(const SecretTable& table,
                                            std::map<std::string, std::string>* further = nullptr);

}  // namespace praxis::app
