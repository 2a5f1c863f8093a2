// Configuration in layers: flags > environment > project.local > project > profile > user > system >
// built-in. Each value records its layer. Limits of the system file are upper bounds for all layers. A
// project comes from a repository: its files count only if the caller passes them, and can only tighten
// limits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"
#include "praxis/policy/policy.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One setting and its origin (`flag`, `environment NAME`, or a file path).
struct Setting {
  std::string value;
  std::string origin;
  bool project = false;  ///< set by a project
  /// `system`, `user`, `profile`, `project`, `project.local`, `environment` or `flag`.
  std::string layer = {};
};

/// The merged configuration. Keys are the dotted names of docs/configuration.md; `limits.timeout` is in
/// milliseconds.
struct Config {
  std::map<std::string, Setting> settings;
  std::vector<std::string> files;  ///< the files that were read, lowest layer first
  /// What each layer gives for a setting, lowest layer first, also what does not count.
  std::map<std::string, std::vector<Setting>> given = {};
  /// What is probably a mistake: a mistyped variable, a folder that does not exist.
  std::vector<std::string> warnings = {};
  Json corrections = {};                 ///< `[providers]` and `[models]`, for `catalog_with`; null if absent
  Json hooks = {};                       ///< `[hooks]`, by name; null if absent
  std::vector<PolicyRules> policy = {};  ///< `[policy]` of each file, lowest layer first: all of them hold

  /// The value; empty if it is not set.
  std::string get(const std::string& key) const;
};

/// A configuration file of a project that the user trusts, as it was read when the trust was checked.
struct ProjectSettings {
  std::string file;    ///< for messages
  std::string folder;  ///< base of its relative paths
  std::string text;    ///< TOML
};

struct ConfigSources {
  std::function<std::string(const std::string&)> env;  ///< looks up an environment variable; empty if unset
  std::map<std::string, std::string> flags = {};       ///< by key, such as `limits.max_steps`
  std::string system_file = "/etc/praxis/config.toml";
  std::vector<ProjectSettings> project = {};  ///< lowest layer first; the library looks for none itself
  std::vector<std::string> variables = {};    ///< names in the environment, to report mistyped settings
};

/// Error `kInput` names file, line, key and the nearest valid key, or the flag or environment variable; or a
/// file that users other than this one and root could have written. Project files must not set the journal,
/// the destination or key of requests, or prices, nor a script or cassette as the model.
Result<Config> load_config(const ConfigSources& sources);

}  // namespace praxis
#pragma GCC visibility pop
