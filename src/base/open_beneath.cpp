#include "base/open_beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace praxis {
namespace {

/// With `O_PATH` nothing is opened that could block, and openat2 refuses the other flags.
int with_defaults(int flags) {
  return flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY | O_NONBLOCK);
}

constexpr int kOnTheWay = O_PATH | O_DIRECTORY;

/// Whether opening it would let a held file be closed, which `O_PATH` does not.
bool may_not_open(int folder, const std::string& path, int flags) {
  return (flags & (O_PATH | O_DIRECTORY)) == 0 && is_held(folder, path);
}

/// Takes the first component off `path`, with the slashes after it.
std::string take_component(std::string_view& path) {
  const std::string name(path.substr(0, path.find('/')));
  path.remove_prefix(name.size());
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return name.empty() ? "." : name;
}

/// With `O_PATH` the kernel opens a link itself, and with `O_DIRECTORY` it reports `ENOTDIR`.
Opened open_no_link(int folder, const std::string& name, int flags) {
  if (may_not_open(folder, name, flags)) return std::unexpected(EBUSY);
  FileDescriptor opened(openat(folder, name.c_str(), with_defaults(flags | O_NOFOLLOW)));
  const int error = errno;
  struct stat info{};
  const bool may_be_link = opened.get() < 0 ? error == ENOTDIR : (flags & O_PATH) != 0;
  if (may_be_link && fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return std::unexpected(ELOOP);
  if (opened.get() < 0) return std::unexpected(error);
  return opened;
}

Opened open_any(int folder, const std::string& name, int flags) {
  if (may_not_open(folder, name, flags)) return std::unexpected(EBUSY);
  FileDescriptor opened(openat(folder, name.c_str(), with_defaults(flags)));
  if (opened.get() < 0) return std::unexpected(errno);
  return opened;
}

}  // namespace

FileIdentity identity_of(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity{};
}

Opened open_beneath(int root, const std::string& path, int flags) {
  if (may_not_open(root, path, flags)) return std::unexpected(EBUSY);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(with_defaults(flags));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  const auto fd = static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
  if (fd >= 0) return FileDescriptor(fd);
  // Some sandboxes report unknown system calls as EPERM.
  if (errno == ENOSYS || errno == EPERM) return open_beneath_by_steps(root, path, flags);
  return std::unexpected(errno);
}

Opened open_beneath_by_steps(int root, const std::string& path, int flags) {
  if (path.starts_with('/')) return std::unexpected(EXDEV);
  FileDescriptor folder;
  for (std::string_view rest = path;;) {
    const std::string name = take_component(rest);
    if (name == "..") return std::unexpected(EXDEV);
    const int at = folder.get() < 0 ? root : folder.get();
    auto next = open_no_link(at, name, rest.empty() ? flags : kOnTheWay);
    if (!next || rest.empty()) return next;
    folder = *std::move(next);
  }
}

Opened open_granted(const std::string& path, const std::vector<std::string>& no_links_below, int flags) {
  std::vector<FileIdentity> ends;
  for (const std::string& folder : no_links_below) {
    if (const auto end = open_any(AT_FDCWD, folder, kOnTheWay)) ends.push_back(identity_of(end->get()));
  }
  auto at = open_any(AT_FDCWD, "/", kOnTheWay);
  bool follows = true;
  std::string_view rest = path;
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  while (at) {
    follows = follows && std::ranges::find(ends, identity_of(at->get())) == ends.end();
    const std::string name = take_component(rest);
    if (name == "..") return std::unexpected(EXDEV);
    const int how = rest.empty() ? flags : kOnTheWay;
    auto next = follows ? open_any(at->get(), name, how) : open_no_link(at->get(), name, how);
    if (rest.empty()) return next;
    at = std::move(next);
  }
  return at;
}

}  // namespace praxis
