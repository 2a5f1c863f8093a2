#include "base/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/held_files.hpp"

namespace praxis {
namespace {

constexpr std::size_t kChunk = 64 * 1024;

std::unexpected<Error> unreadable(const std::string& name, int error) {
  return fail(ErrorCode::kInput, "cannot read \"" + name + "\": " + std::strerror(error));
}

constexpr mode_t kOwnRights = S_IRUSR | S_IWUSR;

}  // namespace

Result<RegularFile> open_regular_file(const std::string& path) {
  if (is_held(AT_FDCWD, path)) return unreadable(path, EBUSY);
  FileDescriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (descriptor.get() < 0) return unreadable(path, errno);
  return regular_file_of(std::move(descriptor), path);
}

FileDescriptor open_state_file(const std::string& path, int flags) {
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, kOwnRights));
  struct stat about = {};
  if (file.get() < 0) return file;
  if (fstat(file.get(), &about) != 0) return {};
  if (!S_ISREG(about.st_mode)) {
    file = {};
    errno = EINVAL;
    return file;
  }
  if ((flags & O_CREAT) != 0) keep_own_rights(file.get());
  return file;
}

void keep_own_rights(int file) {
  struct stat about = {};
  if (fstat(file, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & kOwnRights) != kOwnRights)
    fchmod(file, kOwnRights);
}

Result<RegularFile> regular_file_of(FileDescriptor descriptor, const std::string& name) {
  RegularFile file{std::move(descriptor)};
  if (fstat(file.descriptor.get(), &file.about) != 0) return unreadable(name, errno);
  if (S_ISDIR(file.about.st_mode)) return unreadable(name, EISDIR);
  if (S_ISREG(file.about.st_mode)) return file;
  return fail(ErrorCode::kInput, "cannot read \"" + name + "\": it is not a regular file");
}

Result<std::string> read_whole(const RegularFile& file, const std::string& name, std::size_t max_bytes) {
  std::string text;
  while (text.size() <= max_bytes) {
    const std::size_t start = text.size();
    text.resize(start + std::min(kChunk, max_bytes + 1 - start));
    const ssize_t count =
        pread(file.descriptor.get(), text.data() + start, text.size() - start, static_cast<off_t>(start));
    if (count < 0 && errno != EINTR) return unreadable(name, errno);
    text.resize(start + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
  }
  return fail(ErrorCode::kInput, "\"" + name + "\" is longer than " + std::to_string(max_bytes) + " bytes");
}

Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes) {
  auto file = open_regular_file(path);
  if (!file) return fail(std::move(file.error()));
  return read_whole(*file, path, max_bytes);
}

}  // namespace praxis
