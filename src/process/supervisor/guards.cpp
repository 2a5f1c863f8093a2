#include "process/supervisor/guards.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "process/placeholder.hpp"

namespace praxis::supervisor {

namespace {

/// Whether `path` still names the file that `fd` refers to.
bool same(const std::string& path, int fd) {
  struct stat there{}, here{};
  return lstat(path.c_str(), &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

bool make(const Guard& guard) {
  const char* path = guard.path.c_str();
  if (guard.folder) return mkdir(path, kPlaceholderFolder) == 0;
  constexpr int kNew = O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  return FileDescriptor(open(path, kNew, kPlaceholderFile)).get() >= 0;
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
      if (!is_placeholder(info)) {
        if (!made) break;                 // another process has created the real file meanwhile
        std::remove(guard.path.c_str());  // on a file system that cannot store the mark
        errno = ENOTSUP;
        return guard.path;
      }
      // Other sandboxes share it; the last one removes it, and may just have done so.
      if (flock(lock.get(), LOCK_SH) != 0) return guard.path;
      if (!same(guard.path, lock.get())) continue;
      // The umask may have removed bits that the user of the sandbox needs to see it.
      if (made) fchmod(lock.get(), guard.folder ? kPlaceholderFolder : kPlaceholderFile);
      placed_.push_back({guard, std::move(lock)});
      break;
    }
  }
  return {};
}

Guards::~Guards() {
  for (const Placed& one : placed_) {
    if (flock(one.lock.get(), LOCK_EX | LOCK_NB) != 0 || !same(one.guard.path, one.lock.get())) continue;
    std::remove(one.guard.path.c_str());
  }
}

}  // namespace praxis::supervisor
