#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <expected>
#include <optional>

#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

namespace {

constexpr const char* kFileWriteDescription =
    "Writes a whole file: creates it, with its folders, or replaces what it held. Paths are relative or "
    "absolute, inside "
    "of: ";

struct FileWriteRequest {
  std::string path;
  arg<std::string, "The whole new content"> content;
};
PRAXIS_FIELDS(FileWriteRequest, path, content)

/// Opens the parent folder of `path` (below `root`), creates missing folders, and leaves the file name in
/// `path`.
Opened open_parent(FileDescriptor root, std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/')) {
    const std::string name = path.substr(0, slash);
    if (mkdirat(root.get(), name.c_str(), 0777) == 0) {
      fsync(root.get());
    } else if (errno != EEXIST) {
      return std::unexpected(errno);
    }
    auto next = open_beneath(root.get(), name, O_RDONLY | O_DIRECTORY);
    if (!next) return next;
    root = std::move(*next);
    path.erase(0, slash + 1);
  }
  return root;
}

/// Returns 0, or the `errno` of the failure.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return fsync(file) == 0 ? 0 : errno;
}

constexpr const char* kOwnFiles = "/proc/self/fd";

/// A file that replaces another. It gets a name only when it is complete, so a kill before leaves nothing.
struct Draft {
  std::string name;
  FileDescriptor file;
  bool named = false;  ///< on a file system that has only files with names
};

/// Error: `errno`.
std::expected<Draft, int> open_draft(int folder) {
  std::uint64_t random = 0;
  if (getentropy(&random, sizeof random) != 0) return std::unexpected(errno);
  Draft draft{".praxis-draft-" + std::to_string(random), {}, false};
  if (access(kOwnFiles, X_OK) == 0)
    draft.file = FileDescriptor(openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  if (draft.file.get() >= 0) return draft;
  draft.named = true;
  draft.file =
      FileDescriptor(openat(folder, draft.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (draft.file.get() < 0) return std::unexpected(errno);
  return draft;
}

/// Gives the draft its name. Returns 0, or the `errno` of the failure.
int name_draft(int folder, const Draft& draft) {
  if (draft.named) return 0;
  const std::string own = std::string(kOwnFiles) + '/' + std::to_string(draft.file.get());
  return linkat(AT_FDCWD, own.c_str(), folder, draft.name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/// Atomically replaces `name` by a new file that is complete and on disk before the rename. The file gets
/// `mode`, or the default of the umask. Returns 0, or the `errno` of the failure.
int replace(int folder, const std::string& name, std::string_view bytes, std::optional<mode_t> mode) {
  const auto draft = open_draft(folder);
  if (!draft) return draft.error();
  const int file = draft->file.get();
  int error = mode && fchmod(file, *mode) != 0 ? errno : write_all(file, bytes);
  if (error == 0) error = name_draft(folder, *draft);
  if (error == 0 && renameat(folder, draft->name.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error != 0) {
    unlinkat(folder, draft->name.c_str(), 0);
    return error;
  }
  return fsync(folder) == 0 ? 0 : errno;
}

Result<ToolOutput> write_file(const FileRoots& roots, const FileWriteRequest& request) {
  auto places = roots.places(request.path);
  if (!places) return fail(std::move(places.error()));
  std::string name = places->front().path;
  if (name == "." || request.path.ends_with('/')) {
    return fail(ErrorCode::kInput, "/path names a folder; give the name of a file");
  }
  if (const auto found = roots.protection(places->front(), name); found != PathProtection::kNone)
    return protected_error(request.path, found);
  auto folder = open_parent(std::move(places->front().root), name);
  if (!folder) return file_error(request.path, folder.error());

  struct stat old{};
  const bool exists = fstatat(folder->get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return fail(ErrorCode::kTool,
                "\"" + request.path + "\" exists and is not a regular file; it was not changed");
  }
  const int error = replace(folder->get(), name, request.content,
                            exists ? std::optional(old.st_mode & 0777U) : std::nullopt);
  if (error != 0) return file_error(request.path, error);
  const std::size_t bytes = request.content.size();
  // Does not say whether the file is new: a call that is made again after a crash could not know.
  return ToolOutput{"wrote \"" + request.path + "\" (" + std::to_string(bytes) + " bytes)",
                    {{"path", request.path}, {"bytes", bytes}},
                    {},
                    {}};
}

}  // namespace

Tool file_write_tool(std::vector<std::string> roots, FileBounds bounds) {
  const FileRoots folders(roots, std::move(bounds));
  Tool tool = make_tool("file_write", kFileWriteDescription + folders.list(),
                        [folders](const FileWriteRequest& request) { return write_file(folders, request); });
  tool.definition.safe_by_default = false;  // it changes files: a rule must allow it
  tool.definition.idempotent = true;
  return tool;
}

}  // namespace praxis
