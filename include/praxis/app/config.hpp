// Configuration in layers: flags > environment > project.local > project > user > system > built-in. Each
// value remembers which layer it came from. The system's limits are bounds for all, and a project, which may
// be somebody else's, can only tighten limits.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis {

/// One setting with the place it came from (`flag`, `environment NAME`, or a file path).
struct Setting {
  std::string value;
  std::string origin;
};

/// The merged configuration. Keys are the dotted names of docs/configuration.md; `limits.timeout` is in
/// milliseconds.
struct Config {
  std::map<std::string, Setting> settings;
  std::vector<std::string> files;  ///< those that were read, lowest layer first
  Json corrections = {};  ///< what `[providers]` and `[models]` say, for `catalog_with`; null when nothing

  /// The value, or empty when nobody set it.
  std::string get(const std::string& key) const;
};

struct ConfigSources {
  /// Project files are those of the nearest folder with a `.praxis` folder: this one or, within a repository
  /// or the home folder, one above.
  std::string folder;
  std::function<std::string(const std::string&)> env;  ///< environment look-up; empty when unset
  std::map<std::string, std::string> flags;            ///< by key, such as `limits.max_steps`
  std::string system_file = "/etc/praxis/config.toml";
};

/// Error `kInput` naming file, line, key and the nearest valid key; or the flag or environment variable.
/// Project files may not say where the journal is, where requests go or with which key, or what models cost.
Result<Config> load_config(const ConfigSources& sources);

}  // namespace praxis
