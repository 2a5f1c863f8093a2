#include "process/sandbox_protection.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/open_beneath.hpp"
#include "base/path_below.hpp"
#include "process/placeholder.hpp"
#include "process/protected_names.hpp"
#include "process/sandbox_search.hpp"

namespace praxis {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNull = "/dev/null";

/// What exists at a path. A placeholder of another sandbox counts as nothing: it is removed with that
/// sandbox.
enum class What { kNothing, kFile, kFolder, kLink };
struct Found {
  What what = What::kNothing;
  FileIdentity identity;
};

/// `relative` begins with a slash. Follows no link on the way, so what it finds lies in the folder. Reports
/// what the kernel refuses to open as a link.
Found find(const SandboxFolder& folder, const std::string& relative) {
  const auto opened = open_beneath(folder.fd, relative.substr(1), O_PATH);
  if (!opened) {
    const bool is_missing = opened.error() == ENOENT || opened.error() == ENOTDIR || opened.error() == EACCES;
    return {is_missing ? What::kNothing : What::kLink, {}};
  }
  struct stat info{};
  if (fstat(opened->get(), &info) != 0 || is_placeholder(info)) return {};
  return {S_ISDIR(info.st_mode) ? What::kFolder : What::kFile, identity_of(opened->get())};
}

/// The part of `path` below the folder; empty if it lies elsewhere or is the folder itself.
fs::path below(const SandboxFolder& folder, const std::string& path) {
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(path, failed);
  const fs::path relative =
      (failed ? fs::path(path).lexically_normal() : real).lexically_relative(folder.path);
  return relative.empty() || relative == "." || *relative.begin() == ".." ? fs::path() : relative;
}

/// The same by the text of the path, with links on the way: empty unless there are some.
fs::path below_with_links(const SandboxFolder& folder, const std::string& path) {
  const fs::path named(path_below(folder.path, fs::path(path).lexically_normal().string()));
  return named == below(folder, path) || named == "." ? fs::path() : named;
}

class Protection {
 public:
  Protection(const SandboxFolder& folder, const std::set<std::string>& granted,
             std::set<std::string>& mounted, std::vector<std::string>& options, supervisor::Request& request)
      : folder_(folder), granted_(granted), mounted_(mounted), options_(options), request_(request) {}

  /// Protects `relative`, even if it does not exist: then protects its first missing component.
  Status add(const fs::path& relative, bool is_folder, bool only_existing = false) {
    std::string path;
    for (auto part = relative.begin(); part != relative.end(); ++part) {
      const bool is_last = std::next(part) == relative.end();
      const std::string above = path;
      path += "/" + part->string();
      if (read_only_.contains(path)) return add_below_read_only("/" + relative.string());
      const Found found = find(folder_, path);
      switch (found.what) {
        case What::kLink:
          return add_link(path, above);
        case What::kNothing:
          if (only_existing) return {};
          request_.guards.push_back({folder_.path + path, is_folder || !is_last});
          fix(path, {});
          return {};
        case What::kFile:
          is_secret_name(part->string()) ? mask(path) : fix(path, found.identity);
          return {};
        case What::kFolder:
          if (is_last) {
            fix(path, found.identity);
          } else {
            pin(path, found.identity);
          }
      }
    }
    return {};
  }

  /// Keeps the folders above `relative` from being renamed.
  void pin_above(const fs::path& relative) {
    std::string above;
    for (const fs::path& part : relative.parent_path()) {
      above += "/" + part.string();
      const Found found = find(folder_, above);
      if (found.what != What::kFolder || read_only_.contains(above)) return;
      pin(above, found.identity);
    }
  }
  /// Mounts something empty over `relative` if it exists.
  void hide(const fs::path& relative) {
    const std::string path = "/" + relative.string();
    const What what = relative.empty() ? What::kNothing : find(folder_, path).what;
    if (what == What::kFile) mask(path);
    if (what == What::kFolder) cover(path);
  }

 private:
  /// Nothing can be mounted over a link, so that the folder above it becomes read-only.
  Status add_link(const std::string& path, const std::string& above) {
    if (above.empty()) {
      return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + folder_.path + path +
                                          " must be protected, but is a symbolic link, which cannot be "
                                          "protected. Replace it by what it points to");
    }
    if (read_only_.contains(above)) return {};
    const Found found = find(folder_, above);
    if (found.what == What::kFolder) fix(above, found.identity);
    return {};
  }
  /// Secrets in a folder that is read-only already must not be read either.
  Status add_below_read_only(const std::string& path) {
    const bool hides = is_secret_name(fs::path(path).filename().string()) && !read_only_.contains(path);
    if (hides && find(folder_, path).what == What::kFile) mask(path);
    return {};
  }
  bool is_granted(const std::string& path) const { return granted_.contains(folder_.path + path); }

  void fix(const std::string& path, const FileIdentity& identity) {
    if (is_granted(path)) return;
    read_only_.insert(path);
    bind("--ro-bind", path, identity);
  }
  /// Mounts /dev/null over the file, so that the program can neither read nor replace it.
  void mask(const std::string& path) {
    if (is_granted(path)) return;
    read_only_.insert(path);
    options_.insert(options_.end(), {"--ro-bind", kNull, folder_.path + path});
    struct stat info{};
    if (stat(kNull, &info) == 0) expect(path, {info.st_dev, info.st_ino}, true);
  }
  void cover(const std::string& path) {
    const std::string at = folder_.path + path;
    options_.insert(options_.end(), {"--perms", "0555", "--size", "4096", "--tmpfs", at, "--remount-ro", at});
    expect(path, {}, true);
  }
  /// Mounts a folder on the way to a protected path on itself, so that it cannot be renamed together with its
  /// contents. At most once: a second mount would hide the mounts inside the first.
  void pin(const std::string& path, const FileIdentity& identity) {
    if (mounted_.insert(folder_.path + path).second) bind("--bind", path, identity);
  }
  void bind(const char* option, const std::string& path, const FileIdentity& identity) {
    const bool read_only = std::string_view(option) == "--ro-bind";
    if (folder_.loan) {
      request_.covers.push_back({*folder_.loan, path.substr(1), read_only});
    } else {
      options_.insert(options_.end(), {option, folder_.source + path, folder_.path + path});
    }
    expect(path, identity, read_only);
  }
  void expect(const std::string& path, const FileIdentity& identity, bool read_only) {
    request_.mounts.push_back({folder_.path + path, identity.device, identity.inode, read_only});
  }

  const SandboxFolder& folder_;
  const std::set<std::string>& granted_;  ///< what the sandbox is given by name
  std::set<std::string>& mounted_;
  std::set<std::string> read_only_;  ///< relative to the folder
  std::vector<std::string>& options_;
  supervisor::Request& request_;
};

}  // namespace

Status protect_paths(const SandboxFolder& folder, const Sandbox& sandbox,
                     const std::set<std::string>& granted, std::set<std::string>& mounted,
                     std::vector<std::string>& options, supervisor::Request& request) {
  // Before any folder is pinned: paths that are mounted by now are separate folders with protections of their
  // own.
  auto finds = find_below(folder.fd, folder.path, mounted);
  if (!finds) return fail(std::move(finds.error()));
  Protection protection(folder, granted, mounted, options, request);
  for (const ProtectedName& name : protected_names()) {
    if (auto done = protection.add(name.path, name.folder, name.only_existing); !done) return done;
  }
  // Links first: a folder that becomes read-only for one of them must not hide other mounts in it.
  for (const bool links : {true, false}) {
    for (const std::string& path : *finds) {
      if ((find(folder, path).what == What::kLink) != links) continue;
      if (auto done = protection.add(path.substr(1), false); !done) return done;
    }
  }
  for (const std::string& path : sandbox.protect) {
    if (granted.contains((fs::path(folder.path) / below(folder, path)).string()))
      return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + path + " is protected and granted");
    // A link on the way must stay, too: something else in its place would be found by that path.
    for (const fs::path& each : {below_with_links(folder, path), below(folder, path)}) {
      if (auto done = protection.add(each, false); !done) return done;
    }
  }
  for (const std::string& path : sandbox.hide) protection.pin_above(below(folder, path));
  hide_paths(folder, sandbox, mounted, options, request);
  return {};
}

void hide_paths(const SandboxFolder& folder, const Sandbox& sandbox, std::set<std::string>& mounted,
                std::vector<std::string>& options, supervisor::Request& request) {
  const std::set<std::string> none;  // also what is granted is hidden
  Protection protection(folder, none, mounted, options, request);
  for (const std::string& path : sandbox.hide) protection.hide(below(folder, path));
}

}  // namespace praxis
