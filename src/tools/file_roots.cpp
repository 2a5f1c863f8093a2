#include "tools/file_roots.hpp"

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

namespace praxis {

namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxEntries = 100'000;
constexpr int kAlways = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

/// Makes a path absolute, without `.`, `..` and a trailing slash.
std::string normal(const std::filesystem::path& path) {
  std::string text = path.lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string path_in_quotes(std::string_view path) { return "\"" + std::string(path) + "\""; }

/// The part of `path` below `root`, both normalised: `.` for the root itself, empty if it is outside.
std::string below(const std::string& root, const std::string& path) {
  if (path == root) return ".";
  const std::string prefix = root == "/" ? root : root + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : std::string();
}

}  // namespace

Opened open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | kAlways);
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
  int at = root;
  for (std::size_t start = 0;;) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string name = path.substr(start, end - start);
    const bool is_last = end == path.size();
    if (name == "..") return std::unexpected(EXDEV);
    FileDescriptor next(openat(at, name.empty() ? "." : name.c_str(),
                               (is_last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | kAlways));
    if (next.get() < 0) return std::unexpected(errno);
    if (is_last) return next;
    folder = std::move(next);
    at = folder.get();
    start = end + 1;
  }
}

std::unexpected<Error> file_error(std::string_view path, int error) {
  const auto because = [&](std::string_view why) {
    return fail(ErrorCode::kTool, path_in_quotes(path) + " " + std::string(why));
  };
  switch (error) {
    case ENOENT:
      return because("does not exist");
    case ENOTDIR:
      return because("goes through something that is not a folder");
    case ELOOP:
      return because("goes through a symbolic link, which this tool does not follow");
    case EXDEV:
      return because("leads out of its folder");
    default:
      return because("cannot be used: " + std::generic_category().message(error));
  }
}

FileRoots::FileRoots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) roots_.push_back(normal(std::filesystem::absolute(root)));
}

std::string FileRoots::list() const {
  std::string text;
  for (const std::string& root : roots_) text += (text.empty() ? "" : ", ") + root;
  return text;
}

Result<std::vector<FilePlace>> FileRoots::places(std::string_view path) const {
  if (path.empty() || path.size() > kMaxPath || path.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInput, "/path must have 1 to 4096 bytes, none of them NUL");
  }
  std::vector<FilePlace> found;
  for (const std::string& root : roots_) {
    std::string relative = below(root, normal(std::filesystem::path(root) / path));
    if (relative.empty()) continue;
    FileDescriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return file_error(root, errno);
    found.push_back({std::move(folder), std::move(relative)});
  }
  if (!found.empty()) return found;
  return fail(
      ErrorCode::kPolicy,
      path_in_quotes(path) + (roots_.empty() ? " cannot be used: this tool was given no folders"
                                             : " lies outside of the folders this tool may use: " + list()));
}

Result<std::pair<FilePlace, FileDescriptor>> FileRoots::open(std::string_view path, int flags) const {
  auto candidates = places(path);
  if (!candidates) return fail(std::move(candidates.error()));
  for (FilePlace& place : *candidates) {
    auto opened = open_beneath(place.root.get(), place.path, flags);
    if (opened) return std::pair(std::move(place), std::move(*opened));
    if (opened.error() != ENOENT) return file_error(path, opened.error());
  }
  return file_error(path, ENOENT);
}

std::vector<DirectoryEntry> read_directory(FileDescriptor directory) {
  std::vector<DirectoryEntry> entries;
  const int fd = directory.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(fd), closedir);
  if (!stream) return entries;
  directory.release();  // closed by the stream
  while (const dirent* entry = entries.size() < kMaxEntries ? readdir(stream.get()) : nullptr) {
    const std::string name = entry->d_name;
    struct stat info{};
    if (name == "." || name == ".." || fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    using Kind = DirectoryEntry::Kind;
    const Kind kind = S_ISREG(info.st_mode)   ? Kind::kFile
                      : S_ISDIR(info.st_mode) ? Kind::kDirectory
                      : S_ISLNK(info.st_mode) ? Kind::kSymlink
                                              : Kind::kOther;
    entries.push_back({name, kind, kind == Kind::kFile ? static_cast<std::uint64_t>(info.st_size) : 0});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

}  // namespace praxis
