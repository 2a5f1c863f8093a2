// Configuration in layers: flags > environment > project.local > project > user > system > built-in. Each
// value records its layer. Limits of the system file are upper bounds for all layers. A project may come from
// an untrusted source, so it can only tighten limits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One setting and its origin (`flag`, `environment NAME`, or a file path).
struct Setting {
  std::string value;
  std::string origin;
};

/// The merged configuration. Keys are the dotted names of docs/configuration.md; `limits.timeout` is in
/// milliseconds.
struct Config {
  std::map<std::string, Setting> settings;
  std::vector<std::string> files;  ///< the files that were read, lowest layer first
  Json corrections = {};           ///< `[providers]` and `[models]`, for `catalog_with`; null if absent

  /// The value; empty if it is not set.
  std::string get(const std::string& key) const;
};

struct ConfigSources {
  /// Project files are in the nearest folder with a `.praxis` folder: this one or, within a repository or the
  /// home folder, one of its parents.
  std::string folder;
  std::function<std::string(const std::string&)> env;  ///< looks up an environment variable; empty if unset
  std::map<std::string, std::string> flags;            ///< by key, such as `limits.max_steps`
  std::string system_file = "/etc/praxis/config.toml";
};

/// Error `kInput` names file, line, key and the nearest valid key, or the flag or environment variable.
/// Project files must not set the journal, the destination or key of requests, or prices.
Result<Config> load_config(const ConfigSources& sources);

}  // namespace praxis
#pragma GCC visibility pop
