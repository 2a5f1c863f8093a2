#include "tools/file_roots.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/exhausted.hpp"
#include "base/path_below.hpp"

namespace praxis {

namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxEntries = 100'000;

/// Makes a path absolute, without `.`, `..` and a trailing slash.
std::string normal(const std::filesystem::path& path) {
  std::string text = path.lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

/// The same without links, as far as the path exists.
std::string real(const std::filesystem::path& path) {
  std::error_code failed;
  const auto found = std::filesystem::weakly_canonical(path, failed);
  return normal(failed ? path : found);
}

std::string path_in_quotes(std::string_view path) { return "\"" + std::string(path) + "\""; }

}  // namespace

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
      return fail(with_exhaustion(make_error(ErrorCode::kTool, path_in_quotes(path) + " cannot be used: " +
                                                                   std::generic_category().message(error)),
                                  error));
  }
}

std::unexpected<Error> protected_error(std::string_view path, PathProtection protection) {
  return fail(
      ErrorCode::kPolicy,
      path_in_quotes(path) +
          (protection == PathProtection::kSecret
               ? " holds secrets or the records of runs; no tool reads or writes it"
               : " is protected: other programs read or run it as their configuration, so no tool writes "
                 "it unless the agent was given its folder by name"));
}

FileRoots::FileRoots(const std::vector<std::string>& roots, FileBounds bounds)
    : seen_(std::make_shared<Seen>()), bounds_(std::move(bounds)) {
  for (const std::string& root : roots) {
    std::error_code missing;
    std::string path = normal(std::filesystem::absolute(root));
    (std::filesystem::is_regular_file(path, missing) ? files_ : roots_).push_back(std::move(path));
  }
  bounds_.no_links_below.insert(bounds_.no_links_below.end(), roots_.begin(), roots_.end());
  for (auto* list : {&bounds_.protect, &bounds_.hide}) {
    for (std::string& path : *list) path = real(path);
  }
}

PathProtection FileRoots::protection(const FilePlace& place, const std::string& path) const {
  // No link is followed below the root.
  const std::string whole = normal(std::filesystem::path(place.folder) / path);
  const auto holds = [&](const std::string& folder) { return !path_below(folder, whole).empty(); };
  if (std::ranges::any_of(bounds_.hide, holds)) return PathProtection::kSecret;
  if (std::ranges::any_of(bounds_.protect, holds)) return PathProtection::kReadOnly;
  const bool is_given =
      std::ranges::any_of(files_, [&](const std::string& file) { return real(file) == whole; });
  return is_given ? PathProtection::kNone : protection_of(path);
}

Result<FileDescriptor> FileRoots::open_root(const std::string& root) const {
  auto folder = open_granted(root, bounds_.no_links_below, O_RDONLY | O_DIRECTORY);
  if (!folder) {
    auto failed = file_error(root, folder.error());
    // A folder that was granted and is not there is for the operator to repair, not for the model to read.
    const bool is_missing = folder.error() == ENOENT || folder.error() == ENOTDIR;
    if (is_missing) failed.error().set("kind", to_string(ErrorKind::kMachine));
    return failed;
  }
  const FileIdentity now = identity_of(folder->get());
  const std::lock_guard lock(seen_->mutex);
  if (seen_->first.try_emplace(root, now).first->second == now) return *std::move(folder);
  return fail(ErrorCode::kPolicy, path_in_quotes(root) +
                                      " is no longer the folder that this tool was given: something else was "
                                      "put in its place");
}

std::string FileRoots::list() const {
  std::string text;
  for (const auto* list : {&roots_, &files_}) {
    for (const std::string& root : *list) text += (text.empty() ? "" : ", ") + root;
  }
  return text;
}

Status FileRoots::add_file(const std::string& file, std::string_view path,
                           std::vector<FilePlace>& found) const {
  const std::filesystem::path full(file);
  if (normal(full.parent_path() / path) != file) return {};
  auto folder = open_root(full.parent_path());
  if (!folder) return fail(std::move(folder.error()));
  found.push_back({*std::move(folder), real(full.parent_path()), full.filename()});
  return {};
}

Result<std::vector<FilePlace>> FileRoots::places(std::string_view path) const {
  if (path.empty() || path.size() > kMaxPath || path.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInput, "/path must have 1 to 4096 bytes, none of them NUL");
  }
  std::vector<FilePlace> found;
  for (const std::string& file : files_) {
    if (auto added = add_file(file, path, found); !added) return fail(std::move(added.error()));
  }
  for (const std::string& root : roots_) {
    std::string relative(path_below(root, normal(std::filesystem::path(root) / path)));
    if (relative.empty()) continue;
    auto folder = open_root(root);
    if (!folder) return fail(std::move(folder.error()));
    found.push_back({*std::move(folder), real(root), std::move(relative)});
  }
  if (!found.empty()) return found;
  return fail(ErrorCode::kPolicy,
              path_in_quotes(path) + (roots_.empty() && files_.empty()
                                          ? " cannot be used: this tool was given no folders"
                                          : " lies outside of the folders this tool may use: " + list()));
}

Result<std::pair<FilePlace, FileDescriptor>> FileRoots::open(std::string_view path, int flags) const {
  auto candidates = places(path);
  if (!candidates) return fail(std::move(candidates.error()));
  for (FilePlace& place : *candidates) {
    if (const auto found = protection(place, place.path); found == PathProtection::kSecret)
      return protected_error(path, found);
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
