// The project of a command: the files below a folder `.praxis` that could set or run something. They come
// from a repository and count only if the user trusts exactly their bytes (app/trust.hpp). They are read
// once, through descriptors that follow no link, and used from memory.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/toml_document.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/app/config.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"

namespace praxis::app {

/// A project as it was when it was read. Immutable.
struct Project {
  static constexpr std::size_t kMaxFiles = 256;
  static constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;  ///< of all files together

  std::string root;                           ///< absolute path of the folder that holds `.praxis`
  std::map<std::string, std::string> files;   ///< content of all files that count, by path below the root
  std::vector<std::string> settings;          ///< the configuration files among them, lowest layer first
  std::map<std::string, std::string> agents;  ///< agent files that are found by name
  std::string problem;                        ///< why the project can never count; empty: it may be trusted
  bool trusted = false;                       ///< the user trusts these bytes
  bool changed = false;                       ///< the user trusts other bytes of this project

  /// The digest of root, paths and contents.
  Digest digest() const;
  /// Whether there is anything to trust.
  bool has_content() const { return !files.empty() || !problem.empty(); }
};

/// The folder whose `.praxis` applies to commands in `start` (absolute): this folder or, within a repository
/// or the home folder, the nearest one above. Empty if no folder has one. The home folder and those above it
/// are no projects.
std::string find_project_root(const std::string& start, const std::string& home);
/// Reads the project at `root`: settings, agent files, and what these name. Never blocks, never leaves the
/// root. A file that must not count makes `problem`.
Project read_project(const std::string& root);
/// The configuration files of a trusted project, for `load_config`; empty for others.
std::vector<ProjectSettings> settings_of(const Project& project);
/// Makes the agent's files come from the project's bytes, and bounds it to the project's folder.
void bind_to_project(AgentFileOptions& options, std::shared_ptr<const Project> project);
/// The notice that the project does not count, why, and what shows it: one line. Empty if it counts or is
/// empty.
std::string project_notice(const Project& project);

}  // namespace praxis::app
