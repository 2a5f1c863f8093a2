#include "process/protected_names.hpp"

#include <algorithm>
#include <array>

#include "base/path_below.hpp"

namespace praxis {
namespace {

// The placeholder of a name is a folder only where programs that look for the name take an empty file for a
// broken one: a file takes no block of the disk, a folder takes one and gives it back in every call.
constexpr std::array kNames{ProtectedName{".git", true, true},
                            ProtectedName{".hg"},
                            ProtectedName{".svn", false, false, true},
                            ProtectedName{".jj", false, false, true},
                            ProtectedName{".husky", false, false, true},
                            ProtectedName{".githooks", false, false, true},
                            ProtectedName{".pre-commit-config.yaml", false, false, true},
                            ProtectedName{".github", false, false, true},
                            ProtectedName{".gitlab", false, false, true},
                            ProtectedName{".gitlab-ci.yml", false, false, true},
                            ProtectedName{".circleci", false, false, true},
                            ProtectedName{".buildkite", false, false, true},
                            ProtectedName{".forgejo", false, false, true},
                            ProtectedName{".gitea", false, false, true},
                            ProtectedName{".woodpecker", false, false, true},
                            ProtectedName{".travis.yml", false, false, true},
                            ProtectedName{"Jenkinsfile", false, false, true},
                            ProtectedName{"azure-pipelines.yml", false, false, true},
                            ProtectedName{"bitbucket-pipelines.yml", false, false, true},
                            ProtectedName{".praxis", true, true},
                            ProtectedName{".mcp.json", false, true},
                            ProtectedName{".env"},
                            ProtectedName{".envrc", false, true},
                            ProtectedName{".vscode", false, true},
                            ProtectedName{".idea", false, true},
                            ProtectedName{".zed", false, false, true},
                            ProtectedName{".vim", false, false, true},
                            ProtectedName{".vimrc", false, false, true},
                            ProtectedName{".exrc", false, false, true},
                            ProtectedName{".emacs.d", false, false, true},
                            ProtectedName{".dir-locals.el", false, false, true},
                            ProtectedName{".devcontainer", false, false, true},
                            ProtectedName{".claude"},
                            ProtectedName{".codex", false, false, true},
                            ProtectedName{".cursor", false, false, true},
                            ProtectedName{".gemini", false, false, true},
                            ProtectedName{".cargo", false, false, true},
                            ProtectedName{".gdbinit", false, false, true},
                            ProtectedName{".npmrc", false, false, true},
                            ProtectedName{".netrc", false, false, true},
                            ProtectedName{".ssh", false, false, true},
                            ProtectedName{".gnupg", false, false, true},
                            ProtectedName{".bashrc"},
                            ProtectedName{".profile"},
                            ProtectedName{".bash_profile"},
                            ProtectedName{".bash_login"},
                            ProtectedName{".bash_logout"},
                            ProtectedName{".bash_aliases"},
                            ProtectedName{".zshrc"},
                            ProtectedName{".zshenv"},
                            ProtectedName{".zprofile"},
                            ProtectedName{".zlogin"},
                            ProtectedName{".zlogout"},
                            ProtectedName{".kshrc"},
                            ProtectedName{".cshrc"},
                            ProtectedName{".tcshrc"},
                            ProtectedName{".login"},
                            ProtectedName{".logout"},
                            ProtectedName{".xprofile"},
                            ProtectedName{".xsession"},
                            ProtectedName{".xinitrc"},
                            ProtectedName{".inputrc"},
                            ProtectedName{".config/fish"},
                            ProtectedName{".gitconfig"}};

}  // namespace

std::span<const ProtectedName> protected_names() { return kNames; }

bool is_secret_name(std::string_view name) { return name == ".env" || name.starts_with(".env."); }

bool is_protected_anywhere(std::string_view name, bool is_folder) {
  if (is_secret_name(name)) return !is_folder;
  return std::ranges::any_of(kNames,
                             [&](const ProtectedName& one) { return one.anywhere && one.path == name; });
}

PathProtection protection_of(std::string_view relative) {
  if (is_secret_name(relative.substr(relative.rfind('/') + 1))) return PathProtection::kSecret;
  for (const ProtectedName& one : kNames) {
    if (one.path != ".env" && !path_below(one.path, relative).empty()) return PathProtection::kReadOnly;
  }
  for (std::string_view rest = relative; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (is_protected_anywhere(name, true)) return PathProtection::kReadOnly;
  }
  return PathProtection::kNone;
}

}  // namespace praxis
