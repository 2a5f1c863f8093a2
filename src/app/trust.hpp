// The projects that the user trusts, each bound to the bytes of its files. Kept in the user's state folder,
// in a file that only this user can write.
#pragma once

#include <string>
#include <vector>

#include "app/own_lines.hpp"
#include "app/project.hpp"
#include "praxis/base/result.hpp"

namespace praxis::app {

/// One project that the user trusts.
struct TrustedProject {
  std::string root;
  std::string digest;              ///< `Project::digest`, in hexadecimal
  std::vector<std::string> shown;  ///< what the user was shown: the lines of `describe_project`
};

/// The file with the trusted projects: one JSON object per line. Safe for concurrent use by processes. Errors
/// `kInput`: the file or its folder is unsafe, unreadable, or not in this form.
class TrustedProjects {
 public:
  /// `folder`: the user's state folder; created when the first project is added.
  explicit TrustedProjects(std::string folder);

  /// All of them; empty if the file does not exist.
  Result<std::vector<TrustedProject>> all() const;
  /// Adds a project, in place of an entry with the same root. Durable on return.
  Status add(const TrustedProject& project) const;
  /// Removes the entry of a root; false if it has no entry. Durable on return.
  Result<bool> remove(const std::string& root) const;

 private:
  OwnLines lines_;
};

/// Reads the project at `root` and compares it with what the user trusts. Never null.
std::shared_ptr<const Project> project_at(const std::string& root);
/// The project of the current folder, read in the same way. Null: the folder belongs to no project.
std::shared_ptr<const Project> current_project();
/// The entry of a project; empty `digest` if it has no entry.
Result<TrustedProject> trust_in(const Project& project);

}  // namespace praxis::app
