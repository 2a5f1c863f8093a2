#include "process/sandbox_protection.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "process/placeholder.hpp"
#include "process/sandbox_search.hpp"

namespace praxis {

namespace {

namespace fs = std::filesystem;

struct Usual {
  const char* name;
  bool folder;
  bool anywhere = false;  ///< protected at any depth, not only at the top
};
/// Names that other programs read as their configuration or execute.
constexpr std::array kUsual{
    Usual{".git", true, true},     Usual{".praxis", true, true}, Usual{".mcp.json", false, true},
    Usual{".env", false},          Usual{".envrc", false, true}, Usual{".vscode", true, true},
    Usual{".idea", true, true},    Usual{".bashrc", false},      Usual{".profile", false},
    Usual{".bash_profile", false}, Usual{".bash_login", false},  Usual{".bash_logout", false},
    Usual{".bash_aliases", false}, Usual{".zshrc", false},       Usual{".zshenv", false},
    Usual{".zprofile", false},     Usual{".zlogin", false},      Usual{".zlogout", false},
    Usual{".kshrc", false},        Usual{".cshrc", false},       Usual{".tcshrc", false},
    Usual{".login", false},        Usual{".logout", false},      Usual{".xprofile", false},
    Usual{".xsession", false},     Usual{".xinitrc", false},     Usual{".inputrc", false},
    Usual{".config/fish", true},   Usual{".gitconfig", false}};

bool is_secret(std::string_view name) { return name == ".env" || name.starts_with(".env."); }

/// Whether something of this name is protected at any depth. A folder `.env` holds programs, not secrets.
bool stays_anywhere(std::string_view name, bool is_folder) {
  if (is_secret(name)) return !is_folder;
  return std::ranges::any_of(kUsual,
                             [&](const Usual& usual) { return usual.anywhere && usual.name == name; });
}

/// What exists at a path. A placeholder of another sandbox counts as nothing: it is removed with that
/// sandbox.
enum class What { kNothing, kFile, kFolder, kLink };

What what_is(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0 || is_placeholder(info)) return What::kNothing;
  if (S_ISLNK(info.st_mode)) return What::kLink;
  return S_ISDIR(info.st_mode) ? What::kFolder : What::kFile;
}

class Protection {
 public:
  Protection(const SandboxFolder& folder, std::set<std::string>& mounted, std::vector<std::string>& options,
             std::vector<supervisor::Guard>& guards)
      : folder_(folder), mounted_(mounted), options_(options), guards_(guards) {}

  /// Protects `relative`, even if it does not exist: then protects its first missing component.
  Status add(const fs::path& relative, bool is_folder) {
    std::string path;
    for (auto part = relative.begin(); part != relative.end(); ++part) {
      const bool is_last = std::next(part) == relative.end();
      path += "/" + part->string();
      if (read_only_.contains(path)) return {};
      switch (what_is(folder_.path + path)) {
        case What::kLink:
          return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + folder_.path + path +
                                              " must be protected, but is a symbolic link, which cannot be "
                                              "protected. Replace it by what it points to");
        case What::kNothing:
          guards_.push_back({folder_.path + path, is_folder || !is_last});
          fix(path);
          return {};
        case What::kFile:
          is_secret(part->string()) ? mask(path) : fix(path);
          return {};
        case What::kFolder:
          if (is_last) {
            fix(path);
          } else {
            pin(path);
          }
      }
    }
    return {};
  }

 private:
  void fix(const std::string& path) {
    read_only_.insert(path);
    bind("--ro-bind", path);
  }
  /// Mounts /dev/null over the file, so that the program can neither read nor replace it.
  void mask(const std::string& path) {
    read_only_.insert(path);
    options_.insert(options_.end(), {"--ro-bind", "/dev/null", folder_.path + path});
  }
  /// Mounts a folder on the way to a protected path on itself, so that it cannot be renamed together with its
  /// contents. At most once: a second mount would hide the mounts inside the first.
  void pin(const std::string& path) {
    if (mounted_.insert(folder_.path + path).second) bind("--bind", path);
  }
  void bind(const char* option, const std::string& path) {
    options_.insert(options_.end(), {option, folder_.source + path, folder_.path + path});
  }

  const SandboxFolder& folder_;
  std::set<std::string>& mounted_;
  std::set<std::string> read_only_;  ///< relative to the folder
  std::vector<std::string>& options_;
  std::vector<supervisor::Guard>& guards_;
};

}  // namespace

Status protect_paths(const SandboxFolder& folder, const std::vector<std::string>& protect,
                     std::set<std::string>& mounted, std::vector<std::string>& options,
                     std::vector<supervisor::Guard>& guards) {
  // Before any folder is pinned: paths that are mounted by now are separate folders with protections of their
  // own.
  auto finds = find_below(folder.path, mounted, stays_anywhere);
  if (!finds) return fail(std::move(finds.error()));
  Protection protection(folder, mounted, options, guards);
  for (const Usual& usual : kUsual) {
    if (auto done = protection.add(usual.name, usual.folder); !done) return done;
  }
  for (const std::string& path : *finds) {
    if (auto done = protection.add(path.substr(1), false); !done) return done;
  }
  for (const std::string& path : protect) {
    const fs::path relative = fs::path(path).lexically_normal().lexically_relative(folder.path);
    if (relative.empty() || relative == "." || *relative.begin() == "..") continue;
    if (auto done = protection.add(relative, false); !done) return done;
  }
  return {};
}

}  // namespace praxis
