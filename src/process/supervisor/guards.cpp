#include "process/supervisor/guards.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/open_beneath.hpp"
#include "process/placeholder.hpp"

namespace praxis::supervisor {

/// Where a placeholder is: the folder that holds it, reached through no link, and its name there.
struct Spot {
  FileDescriptor folder;
  std::string name;
  bool is_folder;
};

namespace {

/// Returns a spot without a folder, with errno set, when the way to it goes through a link or does not exist.
Spot spot_of(const Guard& guard) {
  const auto slash = guard.path.rfind('/');
  Spot spot{{}, guard.path.substr(slash + 1), guard.folder};
  const FileDescriptor top(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string way = guard.path.substr(0, slash);
  auto folder = open_beneath(top.get(), way.empty() ? "." : way.substr(1), O_RDONLY | O_DIRECTORY);
  if (folder) {
    spot.folder = *std::move(folder);
  } else {
    errno = folder.error();
  }
  return spot;
}

/// Whether the spot still holds the file that `fd` refers to.
bool same(const Spot& spot, int fd) {
  struct stat there{}, here{};
  return fstatat(spot.folder.get(), spot.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         fstat(fd, &here) == 0 && there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

/// Creates files with exactly the modes that are named; this process has one thread.
class NoUmask {
 public:
  NoUmask() : before_(umask(0)) {}
  ~NoUmask() { umask(before_); }
  NoUmask(const NoUmask&) = delete;
  NoUmask& operator=(const NoUmask&) = delete;

 private:
  const mode_t before_;
};

bool make(const Spot& spot) {
  const NoUmask exact_modes;
  const char* name = spot.name.c_str();
  if (spot.is_folder) return mkdirat(spot.folder.get(), name, kPlaceholderFolder) == 0;
  constexpr int kNew = O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  return FileDescriptor(openat(spot.folder.get(), name, kNew, kPlaceholderFile)).get() >= 0;
}

void remove(const Spot& spot) {
  unlinkat(spot.folder.get(), spot.name.c_str(), spot.is_folder ? AT_REMOVEDIR : 0);
}

}  // namespace

struct Guards::Placed {
  Spot spot;
  FileDescriptor lock;
};

Guards::Guards() = default;

std::string Guards::place(const std::vector<Guard>& guards) {
  for (const Guard& guard : guards) {
    if (!place(guard)) return guard.path;
  }
  return {};
}

bool Guards::place(const Guard& guard) {
  Spot spot = spot_of(guard);
  if (spot.folder.get() < 0) return false;
  for (;;) {
    const bool made = make(spot);
    if (!made && errno != EEXIST) return false;
    FileDescriptor lock(
        openat(spot.folder.get(), spot.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info{};
    if (lock.get() < 0 && errno == ENOENT) continue;
    if (lock.get() < 0 || fstat(lock.get(), &info) != 0) return false;
    if (!is_placeholder(info)) {
      if (!made) return true;  // another process has created the real file meanwhile
      remove(spot);            // on a file system that cannot store the mark
      errno = ENOTSUP;
      return false;
    }
    // Other sandboxes share it; the last one removes it, and may just have done so.
    if (flock(lock.get(), LOCK_SH) != 0) return false;
    if (!same(spot, lock.get())) continue;
    // The umask may have removed bits that the user of the sandbox needs to see it.
    if (made) fchmod(lock.get(), guard.folder ? kPlaceholderFolder : kPlaceholderFile);
    placed_.push_back({std::move(spot), std::move(lock)});
    return true;
  }
}

Guards::~Guards() {
  for (const Placed& one : placed_) {
    if (flock(one.lock.get(), LOCK_EX | LOCK_NB) == 0 && same(one.spot, one.lock.get())) remove(one.spot);
  }
}

}  // namespace praxis::supervisor
