#include "process/sandbox_protection.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/open_beneath.hpp"
#include "base/path_below.hpp"
#include "base/path_way.hpp"
#include "process/placeholder.hpp"
#include "process/protected_names.hpp"
#include "process/sandbox_search.hpp"

namespace praxis {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNull = "/dev/null";
constexpr std::ptrdiff_t kNoFolder = std::numeric_limits<std::ptrdiff_t>::max();

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

/// What is to be protected, relative to the folder.
struct Wanted {
  fs::path path;
  bool is_folder = false;
  bool only_existing = false;
  std::string named;  ///< the path, among those of the caller, that leads through it; may be empty
};

/// How deep the folder lies that becomes read-only for `wanted`; a great number if none does.
std::ptrdiff_t depth_of_folder(const SandboxFolder& folder, const Wanted& wanted) {
  const std::ptrdiff_t depth = std::distance(wanted.path.begin(), wanted.path.end());
  switch (find(folder, "/" + wanted.path.string()).what) {
    case What::kLink:
      return depth - 1;
    case What::kFolder:
      return depth;
    default:
      return kNoFolder;
  }
}

/// The mount that makes a folder read-only hides those that were made in it before. So the upper folders come
/// first: what lies below them needs no mount of its own, but to be hidden.
void upper_folders_first(const SandboxFolder& folder, std::vector<Wanted>& wanted) {
  std::multimap<std::ptrdiff_t, Wanted> all;  // keeps the order of what is equally deep
  for (Wanted& each : wanted) {
    const std::ptrdiff_t depth = depth_of_folder(folder, each);
    all.emplace(depth, std::move(each));
  }
  std::ranges::transform(all, wanted.begin(), [](auto& each) { return std::move(each.second); });
}

/// The place of an absolute path below the folder; empty if it lies elsewhere or is the folder itself.
fs::path place_in(const SandboxFolder& folder, const std::string& absolute) {
  const fs::path relative(path_below(folder.path, absolute));
  return relative == "." ? fs::path() : relative;
}

/// Adds the links that must stay so that the path of a caller leads where it leads now: something else in the
/// place of a link would be found by that path. Adds to `entered` the folders that it only passes.
void add_links(const SandboxFolder& folder, const PathWay& way, const std::string& path,
               std::vector<Wanted>& wanted, std::vector<fs::path>& entered) {
  for (const std::string& each : way.links) {
    if (fs::path place = place_in(folder, each); !place.empty())
      wanted.push_back({std::move(place), false, false, path});
  }
  for (const std::string& each : way.folders) entered.push_back(place_in(folder, each));
}

/// Adds a protected path of a caller, with the way to it.
Status add_protected(const SandboxFolder& folder, const std::string& path,
                     const std::set<std::string>& granted, std::vector<Wanted>& wanted,
                     std::vector<fs::path>& entered) {
  const PathWay way = way_of(path);
  fs::path end = place_in(folder, way.end);
  if (!end.empty() && granted.contains(way.end)) {
    return fail(
        ErrorCode::kPolicy,
        "the sandbox cannot be built: " + path +
            " is protected and granted. The configuration or an agent file names it as something that "
            "is run or read from outside: give the program another file to write, or name another "
            "file there");
  }
  add_links(folder, way, path, wanted, entered);
  if (!end.empty()) wanted.push_back({std::move(end), false, false, path});
  return {};
}

class Protection {
 public:
  Protection(const SandboxFolder& folder, const std::set<std::string>& granted,
             std::set<std::string>& mounted, std::vector<std::string>& options, supervisor::Request& request)
      : folder_(folder), granted_(granted), mounted_(mounted), options_(options), request_(request) {}

  /// Protects `relative`, even if it does not exist: then protects its first missing component.
  Status add(const Wanted& wanted) {
    const fs::path& relative = wanted.path;
    std::string path;
    for (auto part = relative.begin(); part != relative.end(); ++part) {
      const bool is_last = std::next(part) == relative.end();
      const std::string above = path;
      path += "/" + part->string();
      const bool holds_named = !is_last && !wanted.named.empty();
      if (read_only_.contains(path)) {
        if (holds_named) make_it_a_folder(path);
        return add_below_read_only("/" + relative.string());
      }
      const Found found = find(folder_, path);
      switch (found.what) {
        case What::kLink:
          return add_link(path, above, wanted.named);
        case What::kNothing:
          if (wanted.only_existing) return {};
          request_.guards.push_back({folder_.path + path, wanted.is_folder || holds_named});
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
  /// A placeholder above a path of a caller is a folder, also if it was added for another path: a program
  /// outside may make the path of the caller meanwhile.
  void make_it_a_folder(const std::string& path) {
    const std::string whole = folder_.path + path;
    for (supervisor::Guard& guard : request_.guards) guard.folder = guard.folder || guard.path == whole;
  }
  /// Nothing can be mounted over a link, so that the folder above it becomes read-only.
  Status add_link(const std::string& path, const std::string& above, const std::string& named) {
    if (above.empty()) {
      return fail(
          ErrorCode::kPolicy,
          "the sandbox cannot be built: " + folder_.path + path +
              " is a symbolic link at the top of a folder that programs may write, where it cannot be "
              "protected. " +
              (named.empty() ? "Replace it by what it points to"
                             : named +
                                   ", which is protected or hidden, leads through it: where the "
                                   "configuration, an agent file or an option names it, name " +
                                   way_of(named).end + " instead"));
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

/// Hides what the paths of a caller lead to.
void hide_ends(const SandboxFolder& folder, const std::vector<PathWay>& hidden,
               std::set<std::string>& mounted, std::vector<std::string>& options,
               supervisor::Request& request) {
  const std::set<std::string> nothing;  // also what is granted is hidden
  Protection protection(folder, nothing, mounted, options, request);
  for (const PathWay& way : hidden) protection.hide(place_in(folder, way.end));
}

}  // namespace

Status protect_paths(const SandboxFolder& folder, const Sandbox& sandbox,
                     const std::set<std::string>& granted, std::set<std::string>& mounted,
                     std::vector<std::string>& options, supervisor::Request& request) {
  // Before any folder is pinned: paths that are mounted by now are separate folders with protections of their
  // own.
  auto finds = find_below(folder.fd, folder.path, mounted);
  if (!finds) return fail(std::move(finds.error()));
  std::vector<Wanted> wanted;
  std::vector<fs::path> entered;
  for (const ProtectedName& name : protected_names())
    wanted.push_back({name.path, name.folder, name.only_existing, ""});
  for (const std::string& path : *finds) wanted.push_back({path.substr(1), false, false, ""});
  for (const std::string& path : sandbox.protect) {
    if (auto done = add_protected(folder, path, granted, wanted, entered); !done) return done;
  }
  // A program that exchanged a link there could read what the path led to before.
  const std::vector<PathWay> hidden = ways_of(sandbox.hide);
  for (std::size_t i = 0; i < hidden.size(); ++i)
    add_links(folder, hidden[i], sandbox.hide[i], wanted, entered);
  upper_folders_first(folder, wanted);
  Protection protection(folder, granted, mounted, options, request);
  for (const Wanted& each : wanted) {
    if (auto done = protection.add(each); !done) return done;
  }
  for (const fs::path& each : entered) protection.pin_above(each / "any");
  for (const PathWay& way : hidden) protection.pin_above(place_in(folder, way.end));
  hide_ends(folder, hidden, mounted, options, request);
  return {};
}

void hide_paths(const SandboxFolder& folder, const Sandbox& sandbox, std::set<std::string>& mounted,
                std::vector<std::string>& options, supervisor::Request& request) {
  hide_ends(folder, ways_of(sandbox.hide), mounted, options, request);
}

}  // namespace praxis
