#include "box/guards.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace praxis::keeper {

namespace {

// The mode by which a stand-in of another box is known: nobody else makes an empty file that is sticky.
constexpr mode_t kFileMode = 01444, kFolderMode = 01555, kModeBits = 07777;

bool is_stand_in(const struct stat& info) {
  const mode_t mode = info.st_mode & kModeBits;
  return (S_ISREG(info.st_mode) && mode == kFileMode && info.st_size == 0) ||
         (S_ISDIR(info.st_mode) && mode == kFolderMode);
}

/// Whether `path` still is what `fd` is.
bool same(const std::string& path, int fd) {
  struct stat there{}, here{};
  return lstat(path.c_str(), &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

bool make(const Guard& guard) {
  const char* path = guard.path.c_str();
  if (guard.folder) return mkdir(path, 0555) == 0 && chmod(path, kFolderMode) == 0;
  const FileDescriptor file(open(path, O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
  return file.get() >= 0 && fchmod(file.get(), kFileMode) == 0;
}

}  // namespace

std::string Guards::place(const std::vector<Guard>& guards) {
  for (const Guard& guard : guards) {
    for (;;) {
      const bool made = make(guard);
      if (!made && errno != EEXIST) return guard.path;
      FileDescriptor lock(open(guard.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      struct stat info{};
      if (lock.get() < 0 && errno == ENOENT) continue;
      if (lock.get() < 0 || fstat(lock.get(), &info) != 0) return guard.path;
      if (!is_stand_in(info)) break;  // somebody has made the real thing meanwhile
      // Shared with other boxes; the last one removes it, and may just have done so.
      if (flock(lock.get(), LOCK_SH) != 0) return guard.path;
      if (!same(guard.path, lock.get())) continue;
      placed_.push_back({guard, std::move(lock)});
      break;
    }
  }
  return {};
}

Guards::~Guards() {
  for (const Placed& one : placed_) {
    if (flock(one.lock.get(), LOCK_EX | LOCK_NB) != 0 || !same(one.guard.path, one.lock.get())) continue;
    if (one.guard.folder) {
      rmdir(one.guard.path.c_str());
    } else {
      unlink(one.guard.path.c_str());
    }
  }
}

}  // namespace praxis::keeper
