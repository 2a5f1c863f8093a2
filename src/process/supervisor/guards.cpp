#include "process/supervisor/guards.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/open_beneath.hpp"
#include "process/placeholder.hpp"

namespace praxis::supervisor {

/// Where a placeholder is: the folder that holds it, reached through no link, and its name there.
struct Spot {
  std::shared_ptr<const FileDescriptor> folder;  ///< shared with the other placeholders in it
  std::string name;
  bool is_folder;

  int fd() const { return folder->get(); }
};

namespace {

/// Returns null, with errno set, when the way to the folder goes through a link or does not exist.
std::shared_ptr<const FileDescriptor> open_way(const std::string& way) {
  const FileDescriptor top(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto folder = open_beneath(top.get(), way.empty() ? "." : way.substr(1), O_RDONLY | O_DIRECTORY);
  if (folder) return std::make_shared<const FileDescriptor>(*std::move(folder));
  errno = folder.error();
  return nullptr;
}

/// Whether the spot still holds the file that `fd` refers to.
bool same(const Spot& spot, int fd) {
  struct stat there{}, here{};
  return fstatat(spot.fd(), spot.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &here) == 0 &&
         there.st_ino == here.st_ino && there.st_dev == here.st_dev;
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

/// Creates the placeholder. Its descriptor is -1 if it is a folder.
bool make(const Spot& spot, FileDescriptor& file) {
  const char* name = spot.name.c_str();
  if (spot.is_folder) return mkdirat(spot.fd(), name, kPlaceholderFolder) == 0;
  constexpr int kNew = O_CREAT | O_EXCL | O_RDONLY | O_NOFOLLOW | O_CLOEXEC;
  file = FileDescriptor(openat(spot.fd(), name, kNew, kPlaceholderFile));
  return file.get() >= 0;
}

/// Whether the placeholder could not be made, and programs in the sandbox cannot make it either: they have no
/// other rights than this user, who could change the mode of a folder of its own.
bool is_closed(const Spot& spot) {
  if (errno == EROFS) return true;
  if (errno != EACCES) return false;
  struct stat info{};
  const bool is_own = fstat(spot.fd(), &info) != 0 || info.st_uid == geteuid();
  errno = EACCES;
  return !is_own;
}

/// Whether something was written to it: mode 0444 does not stop root outside of the sandbox. A folder that is
/// not empty is not removed anyway.
bool has_contents(int fd) {
  struct stat info{};
  return fstat(fd, &info) != 0 || (S_ISREG(info.st_mode) && info.st_size != 0);
}

void remove(const Spot& spot) { unlinkat(spot.fd(), spot.name.c_str(), spot.is_folder ? AT_REMOVEDIR : 0); }

}  // namespace

struct Guards::Placed {
  Spot spot;
  FileDescriptor lock;
};

Guards::Guards() = default;

std::string Guards::place(const std::vector<Guard>& guards) {
  const NoUmask exact_modes;
  std::string way;
  std::shared_ptr<const FileDescriptor> folder;
  for (const Guard& guard : guards) {
    const auto slash = guard.path.rfind('/');
    if (!folder || guard.path.compare(0, slash, way) != 0) {
      way = guard.path.substr(0, slash);
      folder = open_way(way);
    }
    if (!folder || !place({folder, guard.path.substr(slash + 1), guard.folder})) return guard.path;
  }
  return {};
}

bool Guards::place(Spot spot) {
  for (;;) {
    FileDescriptor lock;
    const bool made = make(spot, lock);
    if (!made && is_closed(spot)) return true;
    if (!made && errno != EEXIST) return false;
    if (lock.get() < 0)
      lock = FileDescriptor(
          openat(spot.fd(), spot.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info{};
    if (lock.get() < 0 && errno == ENOENT) continue;
    if (lock.get() < 0 || fstat(lock.get(), &info) != 0) return false;
    if (!is_placeholder(info)) {
      if (!made) return true;  // another process has created the real file meanwhile
      remove(spot);            // on a file system that cannot store the mark
      errno = ENOTSUP;
      return false;
    }
    // A sandbox with other protected paths, or another version of the library, makes the other kind.
    spot.is_folder = S_ISDIR(info.st_mode);
    // Other sandboxes share it; the last one removes it, and may just have done so.
    if (flock(lock.get(), LOCK_SH) != 0) return false;
    if (!same(spot, lock.get())) continue;
    placed_.push_back({std::move(spot), std::move(lock)});
    return true;
  }
}

Guards::~Guards() {
  for (const Placed& one : placed_) {
    const int fd = one.lock.get();
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && same(one.spot, fd) && !has_contents(fd)) remove(one.spot);
  }
}

}  // namespace praxis::supervisor
