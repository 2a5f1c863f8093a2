#include "tools/file_replace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <expected>
#include <utility>

#include "base/write_all.hpp"

namespace praxis {
namespace {

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

}  // namespace

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

int replace_file(int folder, const std::string& name, std::string_view bytes, std::optional<mode_t> mode) {
  const auto draft = open_draft(folder);
  if (!draft) return draft.error();
  const int file = draft->file.get();
  int error = mode && fchmod(file, *mode) != 0 ? errno : write_all(file, bytes);
  if (error == 0 && fsync(file) != 0) error = errno;
  if (error == 0) error = name_draft(folder, *draft);
  if (error == 0 && renameat(folder, draft->name.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error != 0) {
    unlinkat(folder, draft->name.c_str(), 0);
    return error;
  }
  return fsync(folder) == 0 ? 0 : errno;
}

}  // namespace praxis
